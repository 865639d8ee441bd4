import type { CfnApi } from 'aws-cdk-lib/aws-apigatewayv2';
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { CfnGlobalTable } from 'aws-cdk-lib/aws-dynamodb';
import type { Function } from 'aws-cdk-lib/aws-lambda';
import type { CfnQueue } from 'aws-cdk-lib/aws-sqs';
import { Duration } from 'aws-cdk-lib/core';
import type { MetricName } from '../../lib/observability/deliveryMetrics.ts';
import type { Dependency } from '../../lib/observability/dependencies.ts';
import { dependencyMetric, faultsMetric } from '../../lib/observability/faults.ts';
import { MIN_FAULT_SHARE } from '../../lib/observability/faultShare.ts';
import { type LimitedClass, rateLimitedMetric } from '../../lib/observability/rateLimited.ts';
import { slicesOf } from '../../lib/shared/collections.ts';
import { refusedCall } from '../cost/calls.ts';
import { MILLION } from '../cost/prices.ts';

const period = Duration.minutes(5);

function metric(
  namespace: string,
  metricName: string,
  dimensionsMap: Record<string, string>,
  statistic: string,
  label?: string,
): Metric {
  return new Metric({ namespace, metricName, dimensionsMap, statistic, period, ...(label && { label }) });
}

function expression(text: string, usingMetrics: Record<string, Metric>, label?: string): MathExpression {
  return new MathExpression({ expression: text, usingMetrics, period, ...(label && { label }) });
}

/**
 * `name` counts all faults, `frequentName` only faults in function instances in which at least 1 % of the calls fail.
 */
export type FaultMetricName = typeof faultsMetric.name | typeof faultsMetric.frequentName;

/**
 * Returns faults by endpoint, highest first. Lambda's metric `Errors` does not count failures that functions catch and
 * answer. CloudWatch bills the query only for endpoints that have written the metric.
 */
export function familyFaults(
  name: FaultMetricName,
  family: string,
  serviceName: string,
  label?: string,
): MathExpression {
  return faultsBy(name, 'endpoint', faultsMetric.dimensions, { service: serviceName, family }, label);
}

/** Returns failures by worker, highest first, without runs that crash. */
export function workerFaults(name: FaultMetricName, serviceName: string): MathExpression {
  return faultsBy(name, 'worker', faultsMetric.workerDimensions, { service: serviceName });
}

function faultsBy(
  name: FaultMetricName,
  group: string,
  dimensions: readonly string[],
  values: Readonly<Record<string, string>>,
  label?: string,
): MathExpression {
  const conditions = Object.entries(values).map(([name, value]) => `${name} = '${value}'`);
  return expression(
    `SELECT SUM(${name}) FROM SCHEMA("${faultsMetric.namespace}", ${dimensions.join(', ')}) WHERE ${conditions.join(' AND ')} GROUP BY ${group} ORDER BY SUM() DESC`,
    {},
    label,
  );
}

/**
 * Returns stopped invocations by function, highest first, of all functions of the account: a query cannot select by a
 * part of a name.
 */
export function stoppedLoops(): MathExpression {
  return expression(
    'SELECT SUM(RecursiveInvocationsDropped) FROM SCHEMA("AWS/Lambda", FunctionName) GROUP BY FunctionName ORDER BY SUM() DESC',
    {},
  );
}

const METRICS_PER_ALARM = 10;

function whereFrequent(failures: string, all: string): string {
  return `${failures} * (${failures} >= ${MIN_FAULT_SHARE} * ${all})`;
}

/**
 * Returns an expression for every ten workers. Its value is the highest number of errors that Lambda counts for one of
 * them.
 */
export function workerCrashes(
  workers: readonly { readonly name: string; readonly target: Function }[],
): MathExpression[] {
  return slicesOf(workers, METRICS_PER_ALARM).map((group) =>
    expression(
      `MAX([${group.map(({ name }) => `FILL(${name}, 0)`).join(', ')}])`,
      Object.fromEntries(group.map(({ name, target }) => [name, functionMetric(target, 'Errors', 'Sum')])),
    ),
  );
}

/** Returns 1 while the first function runs and the second does not, otherwise 0 or less. */
export function runsWithout(first: Function, second: Function): MathExpression {
  return expression('(FILL(first, 0) >= 1) - (FILL(second, 0) >= 1)', {
    first: functionMetric(first, 'Invocations', 'Sum'),
    second: functionMetric(second, 'Invocations', 'Sum'),
  });
}

/** Returns the answers of 5xx, but 0 if they are less than 1 % of all answers. */
export function apiFaults(api: CfnApi): MathExpression {
  return expression(whereFrequent('FILL(faults, 0)', 'FILL(answers, 0)'), {
    faults: apiMetric(api, '5xx', 'Sum'),
    answers: apiMetric(api, 'Count', 'Sum'),
  });
}

/**
 * Returns the highest possible cost of the calls with a 4xx answer in an hour. The gateway's own 429 count too, but
 * cost nothing.
 */
export function refusedDollars(api: CfnApi): MathExpression {
  const hour = Duration.hours(1);
  const refused = apiMetric(api, '4xx', 'Sum').with({ period: hour });
  const dollarsPerMillion = refusedCall.total.toFixed(4);
  return new MathExpression({
    expression: `FILL(refused, 0) * ${dollarsPerMillion} / ${MILLION}`,
    usingMetrics: { refused },
    period: hour,
  });
}

/** Returns failed attempts, but 0 if they are less than 1 % of failed attempts and sent mails together. */
export function mailFailures(serviceName: string): MathExpression {
  return frequentFailures(serviceName, 'MailAttemptsFailed', 'MailsSent');
}

/** As `mailFailures`, of messages in Slack. */
export function chatFailures(serviceName: string): MathExpression {
  return frequentFailures(serviceName, 'ChatAttemptsFailed', 'ChatMessagesSent');
}

function frequentFailures(serviceName: string, failed: MetricName, sent: MetricName): MathExpression {
  return expression(whereFrequent('FILL(failed, 0)', '(FILL(failed, 0) + FILL(sent, 0))'), {
    failed: deliveryMetric(failed, serviceName, 'Sum'),
    sent: deliveryMetric(sent, serviceName, 'Sum'),
  });
}

export function tableThrottles(table: CfnGlobalTable): MathExpression {
  return expression('FILL(reads, 0) + FILL(writes, 0)', {
    reads: tableMetric(table, 'ReadThrottleEvents', 'reads'),
    writes: tableMetric(table, 'WriteThrottleEvents', 'writes'),
  });
}

/** Returns throttled writes by index. CloudWatch bills the query only for indexes that throttled. */
export function indexThrottles(table: CfnGlobalTable): MathExpression {
  return expression(
    `SELECT SUM(WriteThrottleEvents) FROM SCHEMA("AWS/DynamoDB", TableName, GlobalSecondaryIndexName) WHERE TableName = '${table.ref}' GROUP BY GlobalSecondaryIndexName ORDER BY SUM() DESC`,
    {},
  );
}

/** Functions of other services in the account count too. */
export function accountConcurrency(): Metric {
  return metric('AWS/Lambda', 'ConcurrentExecutions', {}, 'Maximum');
}

export function mailReputation(name: 'BounceRate' | 'ComplaintRate'): Metric {
  return metric('AWS/SES', `Reputation.${name}`, {}, 'Maximum');
}

/**
 * The worker counts its failures, and Lambda counts crashes. Both count a run that throws, so the value is the larger
 * number.
 */
export function workerFailures(worker: string, target: Function, serviceName: string, label?: string): MathExpression {
  const dimensions = { service: serviceName, worker } satisfies Record<
    (typeof faultsMetric.workerDimensions)[number],
    string
  >;
  const [faults, errors] = [`${worker}Faults`, `${worker}Errors`];
  return expression(
    `MAX([FILL(${faults}, 0), FILL(${errors}, 0)])`,
    {
      [faults]: metric(faultsMetric.namespace, faultsMetric.name, dimensions, 'Sum'),
      [errors]: functionMetric(target, 'Errors', 'Sum'),
    },
    label,
  );
}

export function rateLimitedCallsOf(limitedClass: LimitedClass, serviceName: string): Metric {
  const dimensions = { service: serviceName, limitedClass } satisfies Record<
    (typeof rateLimitedMetric.dimensions)[number],
    string
  >;
  return metric(rateLimitedMetric.namespace, rateLimitedMetric.name, dimensions, 'Sum', limitedClass);
}

/**
 * Returns the number of requests and runs of workers in which the dependency failed, counted only in instances where it
 * fails in at least 1 % of them.
 */
export function dependencyFaults(dependency: Dependency, serviceName: string): Metric {
  const dimensions = { service: serviceName, [dependencyMetric.dimension]: dependency };
  return metric(faultsMetric.namespace, dependencyMetric.name, dimensions, 'Sum');
}

export function deliveryMetric(name: MetricName, serviceName: string, statistic: string, label?: string): Metric {
  return metric(faultsMetric.namespace, name, { service: serviceName }, statistic, label);
}

export function queueMetric(queue: CfnQueue, metricName: string, label?: string): Metric {
  return metric('AWS/SQS', metricName, { QueueName: queue.attrQueueName }, 'Maximum', label);
}

export function apiMetric(api: CfnApi, metricName: string, statistic: string, label?: string): Metric {
  return metric('AWS/ApiGateway', metricName, { ApiId: api.ref }, statistic, label);
}

export function functionMetric(target: Function, metricName: string, statistic: string, label?: string): Metric {
  return metric('AWS/Lambda', metricName, { FunctionName: target.functionName }, statistic, label);
}

export function tableMetric(table: CfnGlobalTable, metricName: string, label: string, index?: string): Metric {
  const dimensions = { TableName: table.ref, ...(index && { GlobalSecondaryIndexName: index }) };
  return metric('AWS/DynamoDB', metricName, dimensions, 'Sum', label);
}

/**
 * Lambda writes this sum over all functions of the account, so it needs no query: CloudWatch accepts only one per
 * graph.
 */
export function allFunctions(metricName: 'Duration' | 'Invocations' | 'Throttles', label?: string): Metric {
  return metric('AWS/Lambda', metricName, {}, 'Sum', label);
}
