import { Dashboard, GraphWidget, type IMetric, MathExpression, TextWidget } from 'aws-cdk-lib/aws-cloudwatch';
import { Duration, type Stack } from 'aws-cdk-lib/core';
import { indexNames } from '../../lib/app/capability.ts';
import { pathInFamily } from '../../lib/app/endpoint.ts';
import { deliveryMetrics, type MetricName } from '../../lib/observability/deliveryMetrics.ts';
import { faultsMetric } from '../../lib/observability/faults.ts';
import { limitedClasses } from '../../lib/observability/rateLimited.ts';
import { API_MEMORY_MB } from '../constructs/memory.ts';
import { queueNames } from '../constructs/queues.ts';
import { MILLION, prices } from '../cost/prices.ts';
import { type MonitoringProps, runbookLink } from './alarms.ts';
import {
  accountConcurrency,
  allFunctions,
  apiMetric,
  deliveryMetric,
  familyFaults,
  functionMetric,
  mailReputation,
  queueMetric,
  rateLimitedCallsOf,
  tableMetric,
  workerFailures,
} from './metrics.ts';

const metricNames = Object.keys(deliveryMetrics) as MetricName[];

const statistics = { sum: ['Sum'], spread: ['p50', 'p99'], gauge: ['Maximum'] } as const;

export function createDashboard(stack: Stack, props: MonitoringProps): void {
  const link = (section: string) => runbookLink(section, props.settings.runbookBaseUrl);
  const dashboard = new Dashboard(stack, 'Dashboard', { defaultInterval: Duration.hours(3) });
  const row = (markdown: string, ...graphs: GraphWidget[]) => {
    dashboard.addWidgets(new TextWidget({ width: 24, height: 1, markdown }));
    dashboard.addWidgets(...graphs);
  };
  row(
    `**Health** Runbook: \`${link('faults')}\``,
    ...health(props),
    ...(props.settings.heartbeat === 'on' ? metricGraphs('Health', props) : []),
  );
  for (const family of props.families) row(`**/${family.family}**`, ...familyGraphs(family, props));
  row(
    '**Rate-limited calls** Limits: `functions/README.md#limits-of-calls`. By API key: saved query `refused calls by API key in <Family>`',
    ...rateLimitedCalls(props),
  );
  row(
    `**Deliveries** Runbook: \`${link('overdue-deliveries')}\``,
    successRate(props),
    ...metricGraphs('Deliveries', props),
  );
  row(
    `**Queues and workers** Runbooks: \`${link('dead-letters')}\`, \`${link('failing-workers')}\``,
    ...queueGraphs(props),
    ...workerGraphs(props),
  );
  row(`**E-mail** Runbook: \`${link('mail-reputation')}\``, ...metricGraphs('E-mail', props), reputationGraph());
  if (props.settings.live === 'on')
    row(`**Live** Runbook: \`${link('failing-live-publishes')}\``, ...metricGraphs('Live', props));
  row(`**Table** Runbook: \`${link('throttled-table')}\``, ...tableGraphs(props));
  row(
    '**Cost** in dollars per million requests, at list prices, including deliveries. See `npm run cost`',
    ...costGraphs(props),
  );
}

function graph(width: number, title: string, left: IMetric[]): GraphWidget {
  return new GraphWidget({ width, height: 6, title, left, leftYAxis: { min: 0, showUnits: false } });
}

function health({ api, settings: { serviceName }, ...props }: MonitoringProps): GraphWidget[] {
  return [
    graph(4, 'Requests', [apiMetric(api, 'Count', 'Sum', 'requests')]),
    graph(4, '4xx, 5xx', [apiMetric(api, '4xx', 'Sum', '4xx'), apiMetric(api, '5xx', 'Sum', '5xx')]),
    graph(4, 'Latency, ms', [apiMetric(api, 'Latency', 'p50', 'p50'), apiMetric(api, 'Latency', 'p99', 'p99')]),
    graph(4, 'Deliveries due and overdue', [
      ...ownMetric('DeliveriesDue', serviceName),
      ...ownMetric('DeliveriesOverdue', serviceName),
    ]),
    graph(4, 'Oldest overdue delivery, s', ownMetric('OldestOverdueDeliveryAge', serviceName)),
    graph(4, 'Dead letters', deadLetters(props)),
  ];
}

function familyGraphs(
  { family, functions }: MonitoringProps['families'][number],
  { settings: { serviceName } }: MonitoringProps,
): GraphWidget[] {
  const metricOfEach = (metricName: string, statistic: string) =>
    functions.map(({ endpoint, construct }) =>
      functionMetric(construct.function, metricName, statistic, pathInFamily(endpoint.path)),
    );
  return [
    graph(6, 'Invocations', metricOfEach('Invocations', 'Sum')),
    graph(6, 'Faults (status 500 and above)', [familyFaults(faultsMetric.name, family, serviceName, '${LABEL}')]),
    graph(6, 'Crashes and timeouts', metricOfEach('Errors', 'Sum')),
    graph(6, 'Duration p99, ms', metricOfEach('Duration', 'p99')),
  ];
}

/** From metrics, because Logs Insights would search all log lines at each refresh, and bill them by the gigabyte. */
function rateLimitedCalls({ settings: { serviceName } }: MonitoringProps): GraphWidget[] {
  return [
    graph(
      24,
      'Rate-limited calls by class',
      limitedClasses.map((limitedClass) => rateLimitedCallsOf(limitedClass, serviceName)),
    ),
  ];
}

function ownMetric(name: MetricName, serviceName: string): IMetric[] {
  const { kind, label } = deliveryMetrics[name];
  return statistics[kind].map((statistic) =>
    deliveryMetric(name, serviceName, statistic, kind === 'spread' ? `${label} ${statistic}` : label),
  );
}

/** Shares from 0 to 1, of all mails of the account. */
function reputationGraph(): GraphWidget {
  return graph(6, 'Bounces and complaints, share', [mailReputation('BounceRate'), mailReputation('ComplaintRate')]);
}

function metricGraphs(
  row: 'Deliveries' | 'E-mail' | 'Health' | 'Live',
  { settings: { serviceName } }: MonitoringProps,
): GraphWidget[] {
  const graphs = Map.groupBy(
    metricNames.filter((name) => deliveryMetrics[name].row === row),
    (name) => deliveryMetrics[name].graph,
  );
  return [...graphs].map(([title, names]) =>
    graph(
      6,
      title,
      names.flatMap((name) => ownMetric(name, serviceName)),
    ),
  );
}

function successRate({ settings: { serviceName } }: MonitoringProps): GraphWidget {
  const attempts = {
    delivered: 'WebhookAttemptsDelivered',
    failed: 'WebhookAttemptsFailed',
    timedOut: 'WebhookAttemptsTimedOut',
    refused: 'WebhookAttemptsRefused',
  } as const;
  const usingMetrics = Object.fromEntries(
    Object.entries(attempts).map(([id, name]) => [id, deliveryMetric(name, serviceName, 'Sum')]),
  );
  const sum = Object.keys(attempts)
    .map((id) => `FILL(${id}, 0)`)
    .join(' + ');
  return graph(6, 'Attempt success rate, %', [
    new MathExpression({
      expression: `100 * FILL(delivered, 0) / (${sum})`,
      usingMetrics,
      label: 'delivered',
      period: Duration.minutes(5),
    }),
  ]);
}

function deadLetters({ queues, streamDeadLetters }: Pick<MonitoringProps, 'queues' | 'streamDeadLetters'>): IMetric[] {
  const depth = 'ApproximateNumberOfMessagesVisible';
  return [
    ...queueNames.map((name) => queueMetric(queues[name].deadLetters, depth, name)),
    queueMetric(streamDeadLetters, depth, 'stream'),
  ];
}

function queueGraphs({ queues }: MonitoringProps): GraphWidget[] {
  const each = (metricName: string) => queueNames.map((name) => queueMetric(queues[name].queue, metricName, name));
  return [
    graph(8, 'Messages waiting', each('ApproximateNumberOfMessagesVisible')),
    graph(8, 'Messages in flight', each('ApproximateNumberOfMessagesNotVisible')),
    graph(8, 'Age of the oldest message, s', each('ApproximateAgeOfOldestMessage')),
  ];
}

function workerGraphs({ workers, settings: { serviceName } }: MonitoringProps): GraphWidget[] {
  if (workers.length === 0) return [];
  const each = (metricName: string, statistic: string, selected = workers) =>
    selected.map(({ worker, construct }) => functionMetric(construct.function, metricName, statistic, worker.name));
  const streamReaders = workers.filter(({ worker: { on } }) => 'inserts' in on || 'changes' in on);
  return [
    graph(6, 'Runs', each('Invocations', 'Sum')),
    graph(
      6,
      'Failures',
      workers.map(({ worker: { name }, construct }) => workerFailures(name, construct.function, serviceName, name)),
    ),
    graph(6, 'Duration p99, ms', each('Duration', 'p99')),
    graph(6, 'Concurrent executions', [accountConcurrency()]),
    graph(6, 'Throttled runs', [...each('Throttles', 'Sum'), allFunctions('Throttles', 'all functions')]),
    ...(streamReaders.length > 0 ? [graph(6, 'Stream lag, ms', each('IteratorAge', 'Maximum', streamReaders))] : []),
  ];
}

function tableGraphs({ table }: MonitoringProps): GraphWidget[] {
  const consumed = (kind: 'Read' | 'Write') => [
    tableMetric(table, `Consumed${kind}CapacityUnits`, 'table'),
    ...indexNames.map((index) => tableMetric(table, `Consumed${kind}CapacityUnits`, index, index)),
  ];
  return [
    graph(8, 'Read units consumed', consumed('Read')),
    graph(8, 'Write units consumed', consumed('Write')),
    graph(8, 'Throttled reads and writes', [
      tableMetric(table, 'ReadThrottleEvents', 'reads'),
      tableMetric(table, 'WriteThrottleEvents', 'writes'),
      ...indexNames.map((index) => tableMetric(table, 'WriteThrottleEvents', `writes to ${index}`, index)),
    ]),
  ];
}

/**
 * Dollars for a million requests with their deliveries. They include all functions of the account, because a metric
 * query cannot select by a part of a name, and assume the default memory of an API function for each.
 */
function costGraphs({ api, table }: MonitoringProps): GraphWidget[] {
  const units = (kind: 'Read' | 'Write') =>
    [undefined, ...indexNames].map(
      (index, n) =>
        [`${kind.toLowerCase()}${n}`, tableMetric(table, `Consumed${kind}CapacityUnits`, kind, index)] as const,
    );
  const [read, written] = [units('Read'), units('Write')];
  const sum = (metrics: typeof read) => metrics.map(([id]) => `FILL(${id}, 0)`).join(' + ');
  const tableCost = `(${prices.tableRead} * (${sum(read)}) + ${prices.tableWritten} * (${sum(written)})) / requests`;
  const millisecond = Number(((prices.lambdaGigabyteSecond * MILLION * (API_MEMORY_MB / 1024)) / 1000).toPrecision(6));
  const lambdaCost = `(${millisecond} * duration + ${prices.lambdaRuns} * runs) / requests`;
  const usingMetrics = {
    requests: apiMetric(api, 'Count', 'Sum'),
    duration: allFunctions('Duration'),
    runs: allFunctions('Invocations'),
    ...Object.fromEntries([...read, ...written]),
  };
  const cost = (label: string, expression: string) =>
    new MathExpression({ expression, usingMetrics, label, period: Duration.minutes(5) });
  return [
    graph(12, 'Dollars per million requests', [
      cost('table', tableCost),
      cost('functions', lambdaCost),
      cost('all', `${prices.httpRequests} + ${tableCost} + ${lambdaCost}`),
    ]),
    graph(12, 'Requests', [apiMetric(api, 'Count', 'Sum', 'requests')]),
  ];
}
