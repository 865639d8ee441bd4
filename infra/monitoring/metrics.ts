import { Duration } from 'aws-cdk-lib';
import type { CfnApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { CfnTable } from 'aws-cdk-lib/aws-dynamodb';
import type { Function } from 'aws-cdk-lib/aws-lambda';
import type { CfnQueue } from 'aws-cdk-lib/aws-sqs';
import type { MetricName } from '../../lib/observability/deliveryMetrics.ts';
import { faultsMetric } from '../../lib/observability/faults.ts';

const period = Duration.minutes(5);

/**
 * The answers with 500 or above that a family's functions gave, endpoint by endpoint, the worst one first. The functions catch every
 * failure and answer it, so that Lambda's own `Errors` stays at zero; they write this metric instead, and only when there is something to
 * count: a query, because it finds whatever endpoint has written it, and costs nothing while none has.
 */
export function faultsOf(family: string, serviceName: string, label?: string): MathExpression {
  return faults(faultsMetric.dimensions, { service: serviceName, family }, 'endpoint', label);
}

/** What workers failed to do, worker by worker, the worst one first. They count it themselves, because their functions succeed all the same. */
export function workerFaults(serviceName: string, label?: string): MathExpression {
  return faults(faultsMetric.workerDimensions, { service: serviceName }, 'worker', label);
}

function faults(
  dimensions: readonly string[],
  where: Readonly<Record<string, string>>,
  group: string,
  label?: string,
): MathExpression {
  const conditions = Object.entries(where)
    .map(([name, value]) => `${name} = '${value}'`)
    .join(' AND ');
  return new MathExpression({
    expression: `SELECT SUM(${faultsMetric.name}) FROM SCHEMA("${faultsMetric.namespace}", ${dimensions.join(', ')}) WHERE ${conditions} GROUP BY ${group} ORDER BY SUM() DESC`,
    period,
    ...(label !== undefined && { label }),
  });
}

/** How many metrics an alarm's expression may be made of. */
const METRICS_PER_ALARM = 10;

/** The most runs that one worker failed, or never came to count anything in; Lambda counts them. More than one expression where there are more than ten workers. */
export function workerCrashes(
  workers: readonly { readonly name: string; readonly target: Function }[],
): MathExpression[] {
  return Array.from({ length: Math.ceil(workers.length / METRICS_PER_ALARM) }, (_each, index) =>
    workers.slice(index * METRICS_PER_ALARM, (index + 1) * METRICS_PER_ALARM),
  ).map(
    (some) =>
      new MathExpression({
        expression: `MAX([${some.map(({ name }) => `FILL(${name}, 0)`).join(', ')}])`,
        usingMetrics: Object.fromEntries(
          some.map(({ name, target }) => [name, functionMetric(target, 'Errors', 'Sum')]),
        ),
        period,
      }),
  );
}

/** Reads and writes that the table refused. Those of indexes hold its writes up as well, and show there. */
export function tableThrottles(table: CfnTable): MathExpression {
  return new MathExpression({
    expression: 'FILL(reads, 0) + FILL(writes, 0)',
    usingMetrics: {
      reads: tableMetric(table, 'ReadThrottleEvents', 'reads'),
      writes: tableMetric(table, 'WriteThrottleEvents', 'writes'),
    },
    period,
  });
}

/**
 * What went wrong in a worker: failed messages, which it counts itself because its function succeeds all the same, or runs that failed
 * or never came to count anything, which Lambda counts. A failed run is in both, hence not their sum.
 */
export function workerFailures(worker: string, target: Function, serviceName: string, label?: string): MathExpression {
  const dimensionsMap = { service: serviceName, worker } satisfies Record<
    (typeof faultsMetric.workerDimensions)[number],
    string
  >;
  // The ids of metrics are one space for a whole graph.
  const [faults, errors] = [`${worker}Faults`, `${worker}Errors`];
  return new MathExpression({
    expression: `MAX([FILL(${faults}, 0), FILL(${errors}, 0)])`,
    usingMetrics: {
      [faults]: new Metric({
        namespace: faultsMetric.namespace,
        metricName: faultsMetric.name,
        dimensionsMap,
        statistic: 'Sum',
        period,
      }),
      [errors]: functionMetric(target, 'Errors', 'Sum'),
    },
    period,
    ...(label && { label }),
  });
}

/** One of the service's own metrics of deliveries and mail. */
export function deliveryMetric(name: MetricName, serviceName: string, statistic: string, label?: string): Metric {
  return new Metric({
    namespace: faultsMetric.namespace,
    metricName: name,
    dimensionsMap: { service: serviceName },
    statistic,
    period,
    ...(label && { label }),
  });
}

/** A metric of a queue: `ApproximateNumberOfMessagesVisible`, `ApproximateAgeOfOldestMessage`. They have one value per minute: the highest counts. */
export function queueMetric(queue: CfnQueue, metricName: string, label?: string): Metric {
  return new Metric({
    namespace: 'AWS/SQS',
    metricName,
    dimensionsMap: { QueueName: queue.attrQueueName },
    statistic: 'Maximum',
    period,
    ...(label && { label }),
  });
}

/** A metric of the whole API: `Count`, `4xx`, `5xx`, `Latency`. */
export function apiMetric(api: CfnApi, metricName: string, statistic: string, label?: string): Metric {
  return new Metric({
    namespace: 'AWS/ApiGateway',
    metricName,
    dimensionsMap: { ApiId: api.ref },
    statistic,
    period,
    ...(label && { label }),
  });
}

/** A metric of one function: `Invocations`, `Duration`, `Errors`, `Throttles`, `IteratorAge`. */
export function functionMetric(target: Function, metricName: string, statistic: string, label?: string): Metric {
  return new Metric({
    namespace: 'AWS/Lambda',
    metricName,
    dimensionsMap: { FunctionName: target.functionName },
    statistic,
    period,
    ...(label && { label }),
  });
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
