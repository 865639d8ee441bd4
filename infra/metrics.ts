import { Duration } from 'aws-cdk-lib';
import type { CfnApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { CfnTable } from 'aws-cdk-lib/aws-dynamodb';
import type { Function } from 'aws-cdk-lib/aws-lambda';
import { faultsMetric } from '../lib/observability/faults.ts';

const period = Duration.minutes(5);

/**
 * The answers with 500 or above that a family's functions gave. The functions catch every failure and answer it, so that
 * Lambda's own `Errors` stays at zero; they write this metric instead, and only when there is something to count.
 */
export function faultsOf(family: string, serviceName: string, label?: string): Metric {
  const dimensionsMap = { service: serviceName, family } satisfies Record<(typeof faultsMetric.dimensions)[number], string>;
  return new Metric({ namespace: faultsMetric.namespace, metricName: faultsMetric.name, dimensionsMap, statistic: 'Sum', period, ...(label && { label }) });
}

/** A metric of the whole API: `Count`, `4xx`, `5xx`, `Latency`. */
export function apiMetric(api: CfnApi, metricName: string, statistic: string, label?: string): Metric {
  return new Metric({ namespace: 'AWS/ApiGateway', metricName, dimensionsMap: { ApiId: api.ref }, statistic, period, ...(label && { label }) });
}

/** A metric of one function: `Invocations`, `Duration`, `Errors`, `Throttles`. */
export function functionMetric(target: Function, metricName: string, statistic: string, label: string): Metric {
  return new Metric({ namespace: 'AWS/Lambda', metricName, dimensionsMap: { FunctionName: target.functionName }, statistic, period, label });
}

/** A metric of the table, or of one of its indexes. */
export function tableMetric(table: CfnTable, metricName: string, label: string, index?: string): Metric {
  return new Metric({
    namespace: 'AWS/DynamoDB',
    metricName,
    dimensionsMap: { TableName: table.ref, ...(index && { GlobalSecondaryIndexName: index }) },
    statistic: 'Sum',
    period,
    label,
  });
}
