import { Duration, type Stack } from 'aws-cdk-lib';
import {
  Dashboard,
  GraphWidget,
  type IMetric,
  LogQueryVisualizationType,
  LogQueryWidget,
  MathExpression,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import { indexNames } from '../../lib/app/capability.ts';
import { pathInFamily } from '../../lib/app/endpoint.ts';
import { deliveryMetrics, type MetricName } from '../../lib/observability/deliveryMetrics.ts';
import { isRateLimited } from '../../lib/http/capabilities.ts';
import { runbookLink, runbooks } from './alarmText.ts';
import { MILLION, prices } from '../commands/cost/prices.ts';
import {
  apiMetric,
  deliveryMetric,
  faultsOf,
  functionMetric,
  queueMetric,
  tableMetric,
  workerFailures,
} from './metrics.ts';
import type { MonitoringProps } from './alarms.ts';
import { MEMORY_MB as DEFAULT_MEMORY_MB } from '../constructs/lambdaFunction.ts';
import { queueNames } from '../constructs/queues.ts';
import { familyQueries, QUERIED_LOG_GROUPS, queryText } from './savedQueries.ts';

const metricNames = Object.keys(deliveryMetrics) as MetricName[];

/** How each kind of metric is shown. */
const statistics = { sum: ['Sum'], spread: ['p50', 'p99'], gauge: ['Maximum'] } as const;

/** Is it healthy; a row for each API family; deliveries, queues and workers, e-mail; the table; what requests cost. */
export function createDashboard(stack: Stack, props: MonitoringProps): void {
  const link = (runbook: string) => runbookLink(runbook, props.settings.runbookBaseUrl);
  const dashboard = new Dashboard(stack, 'Dashboard', { defaultInterval: Duration.hours(3) });
  const row = (markdown: string, ...graphs: (GraphWidget | LogQueryWidget)[]) => {
    dashboard.addWidgets(new TextWidget({ width: 24, height: 1, markdown }));
    dashboard.addWidgets(...graphs);
  };
  row(`**Is it healthy?** Runbook: \`${link(runbooks.faults)}\``, ...health(props));
  for (const family of props.families) row(`**/${family.family}**`, ...familyGraphs(family, props));
  row('**Refused calls by API key** Limits: `functions/README.md#limits`', ...refusedCalls(props));
  row(
    `**Deliveries** Runbook: \`${link(runbooks.overdueDeliveries)}\``,
    successRate(props),
    ...metricGraphs('Deliveries', props),
  );
  row(
    `**Queues and workers** Runbooks: \`${link(runbooks.deadLetters)}\`, \`${link(runbooks.failingWorkers)}\``,
    ...queueGraphs(props),
    ...workerGraphs(props),
  );
  row('**E-mail**', ...metricGraphs('E-mail', props));
  row(`**Table** Runbook: \`${link(runbooks.throttledTable)}\``, ...tableGraphs(props));
  row(
    '**Cost** in dollars per million requests at list prices, deliveries and everything else included; see `npm run cost`',
    ...costGraphs(stack, props),
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
    graph(
      4,
      'Deliveries due and overdue',
      [shown('DeliveriesDue', serviceName), shown('DeliveriesOverdue', serviceName)].flat(),
    ),
    graph(4, 'Oldest overdue delivery, s', shown('OldestOverdue', serviceName)),
    graph(4, 'Dead letters', deadLetters(props)),
  ];
}

function familyGraphs(
  { family, functions }: MonitoringProps['families'][number],
  { settings: { serviceName } }: MonitoringProps,
): GraphWidget[] {
  const each = (metricName: string, statistic: string) =>
    functions.map((made) => functionMetric(made.function, metricName, statistic, pathInFamily(made.endpoint.path)));
  return [
    graph(6, 'Invocations', each('Invocations', 'Sum')),
    graph(6, 'Faults: answers of 500 and above', [faultsOf(family, serviceName, '${LABEL}')]),
    graph(6, 'Crashes and time-outs', each('Errors', 'Sum')),
    graph(6, 'Duration p99, ms', each('Duration', 'p99')),
  ];
}

/** The saved query about refused calls, over the functions whose calls are limited. */
function refusedCalls({ families }: MonitoringProps): LogQueryWidget[] {
  const logGroups = families.flatMap(({ functions }) =>
    functions.filter(({ endpoint }) => isRateLimited(endpoint)).map(({ logGroup }) => logGroup.logGroupName),
  );
  const parts = Math.ceil(logGroups.length / QUERIED_LOG_GROUPS);
  return Array.from(
    { length: parts },
    (_, part) =>
      new LogQueryWidget({
        width: Math.max(6, Math.floor(24 / parts)),
        height: 6,
        title: `Refused calls by API key, part ${part + 1} of ${parts}`,
        view: LogQueryVisualizationType.TABLE,
        queryString: queryText(familyQueries.refused),
        logGroupNames: logGroups.slice(part * QUERIED_LOG_GROUPS, (part + 1) * QUERIED_LOG_GROUPS),
      }),
  );
}

/** A metric as its declaration says; a spread by two percentiles. */
function shown(name: MetricName, serviceName: string): IMetric[] {
  const { kind, label } = deliveryMetrics[name];
  return statistics[kind].map((statistic) =>
    deliveryMetric(name, serviceName, statistic, kind === 'spread' ? `${label} ${statistic}` : label),
  );
}

function metricGraphs(row: 'Deliveries' | 'E-mail', { settings: { serviceName } }: MonitoringProps): GraphWidget[] {
  const graphs = Map.groupBy(
    metricNames.filter((name) => deliveryMetrics[name].row === row),
    (name) => deliveryMetrics[name].graph,
  );
  return [...graphs].map(([title, names]) =>
    graph(
      6,
      title,
      names.flatMap((name) => shown(name, serviceName)),
    ),
  );
}

function successRate({ settings: { serviceName } }: MonitoringProps): GraphWidget {
  const attempts = {
    delivered: 'AttemptsDelivered',
    failed: 'AttemptsFailed',
    timedOut: 'AttemptsTimedOut',
    refused: 'AttemptsRefused',
  } as const;
  const usingMetrics = Object.fromEntries(
    Object.entries(attempts).map(([id, name]) => [id, deliveryMetric(name, serviceName, 'Sum')]),
  );
  const sum = Object.keys(attempts)
    .map((id) => `FILL(${id}, 0)`)
    .join(' + ');
  return graph(6, 'Attempts that succeed, %', [
    new MathExpression({
      expression: `100 * FILL(delivered, 0) / (${sum})`,
      usingMetrics,
      label: 'succeed',
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
    graph(8, 'Messages being handled', each('ApproximateNumberOfMessagesNotVisible')),
    graph(8, 'Age of the oldest message, s', each('ApproximateAgeOfOldestMessage')),
  ];
}

function workerGraphs({ workers, settings: { serviceName } }: MonitoringProps): GraphWidget[] {
  if (workers.length === 0) return [];
  const each = (metricName: string, statistic: string, of = workers) =>
    of.map(({ worker, construct }) => functionMetric(construct.function, metricName, statistic, worker.name));
  const followers = workers.filter(({ worker: { on } }) => 'inserts' in on);
  return [
    graph(6, 'Runs', each('Invocations', 'Sum')),
    graph(
      6,
      'Failures',
      workers.map(({ worker: { name }, construct }) => workerFailures(name, construct.function, serviceName, name)),
    ),
    graph(6, 'Duration p99, ms', each('Duration', 'p99')),
    ...(followers.length > 0 ? [graph(6, 'Behind the stream, ms', each('IteratorAge', 'Maximum', followers))] : []),
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
    graph(8, 'Throttled', [
      tableMetric(table, 'ReadThrottleEvents', 'reads'),
      tableMetric(table, 'WriteThrottleEvents', 'writes'),
      ...indexNames.map((index) => tableMetric(table, 'WriteThrottleEvents', `writes to ${index}`, index)),
    ]),
  ];
}

/**
 * What a million requests cost as things are, whatever causes it: little traffic beside many deliveries makes requests look dear. The time of
 * all functions is found by the name that CloudFormation gives them, and counted with the memory that they have unless they say otherwise.
 */
function costGraphs({ stackName }: Stack, { api, table }: MonitoringProps): GraphWidget[] {
  const units = (kind: 'Read' | 'Write') =>
    [undefined, ...indexNames].map(
      (index, n) =>
        [`${kind.toLowerCase()}${n}`, tableMetric(table, `Consumed${kind}CapacityUnits`, kind, index)] as const,
    );
  const [read, written] = [units('Read'), units('Write')];
  const sum = (of: typeof read) => of.map(([id]) => `FILL(${id}, 0)`).join(' + ');
  const tableCost = `(${prices.tableRead} * (${sum(read)}) + ${prices.tableWritten} * (${sum(written)})) / requests`;
  const ofFunctions = (metricName: string) =>
    `SUM(SEARCH('{AWS/Lambda,FunctionName} MetricName="${metricName}" FunctionName=${stackName}', 'Sum', 300))`;
  const millisecond = Number(
    ((prices.lambdaGigabyteSecond * MILLION * (DEFAULT_MEMORY_MB / 1024)) / 1000).toPrecision(6),
  );
  const lambdaCost = `(${millisecond} * ${ofFunctions('Duration')} + ${prices.lambdaRuns} * ${ofFunctions('Invocations')}) / requests`;
  const usingMetrics = { requests: apiMetric(api, 'Count', 'Sum'), ...Object.fromEntries([...read, ...written]) };
  const shownAs = (label: string, expression: string) =>
    new MathExpression({ expression, usingMetrics, label, period: Duration.minutes(5) });
  return [
    graph(12, 'Dollars per million requests', [
      shownAs('table', tableCost),
      shownAs('functions', lambdaCost),
      shownAs('all', `${prices.httpRequests} + ${tableCost} + ${lambdaCost}`),
    ]),
    graph(12, 'Requests', [apiMetric(api, 'Count', 'Sum', 'requests')]),
  ];
}
