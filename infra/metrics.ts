import { Duration } from 'aws-cdk-lib';
import type { CfnApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { CfnTable } from 'aws-cdk-lib/aws-dynamodb';
import type { Function } from 'aws-cdk-lib/aws-lambda';
import type { CfnQueue } from 'aws-cdk-lib/aws-sqs';
import type { MetricName } from '../lib/observability/deliveryMetrics.ts';
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

/**
 * What went wrong in a worker: failed messages, which it counts itself because its function succeeds all the same, or runs that failed
 * or never came to count anything, which Lambda counts. A failed run is in both, hence not their sum.
 */
export function workerFailures(worker: string, target: Function, serviceName: string, label?: string): MathExpression {
  const dimensionsMap = { service: serviceName, worker } satisfies Record<(typeof faultsMetric.workerDimensions)[number], string>;
  // The ids of metrics are one space for a whole graph.
  const [faults, errors] = [`${worker}Faults`, `${worker}Errors`];
  return new MathExpression({
    expression: `MAX([FILL(${faults}, 0), FILL(${errors}, 0)])`,
    usingMetrics: {
      [faults]: new Metric({ namespace: faultsMetric.namespace, metricName: faultsMetric.name, dimensionsMap, statistic: 'Sum', period }),
      [errors]: functionMetric(target, 'Errors', 'Sum'),
    },
    period,
    ...(label && { label }),
  });
}

/** One of the service's own metrics of deliveries and mail. */
export function deliveryMetric(name: MetricName, serviceName: string, statistic: string, label?: string): Metric {
  return new Metric({ namespace: faultsMetric.namespace, metricName: name, dimensionsMap: { service: serviceName }, statistic, period, ...(label && { label }) });
}

/** A metric of a queue: `ApproximateNumberOfMessagesVisible`, `ApproximateAgeOfOldestMessage`. They have one value per minute: the highest counts. */
export function queueMetric(queue: CfnQueue, metricName: string, label?: string): Metric {
  return new Metric({ namespace: 'AWS/SQS', metricName, dimensionsMap: { QueueName: queue.attrQueueName }, statistic: 'Maximum', period, ...(label && { label }) });
}

/** A metric of the whole API: `Count`, `4xx`, `5xx`, `Latency`. */
export function apiMetric(api: CfnApi, metricName: string, statistic: string, label?: string): Metric {
  return new Metric({ namespace: 'AWS/ApiGateway', metricName, dimensionsMap: { ApiId: api.ref }, statistic, period, ...(label && { label }) });
}

/** A metric of one function: `Invocations`, `Duration`, `Errors`, `Throttles`, `IteratorAge`. */
export function functionMetric(target: Function, metricName: string, statistic: string, label?: string): Metric {
  return new Metric({ namespace: 'AWS/Lambda', metricName, dimensionsMap: { FunctionName: target.functionName }, statistic, period, ...(label && { label }) });
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
