import { describe, expect, test } from '@jest/globals';
import type { MetricId } from '../../../infra/local/assembly/monitoring/expression.ts';
import { monitoringOf } from '../../../infra/local/assembly/monitoring/monitoringModel.ts';
import type { Resource } from '../../../infra/local/assembly/template.ts';
import { alarmState } from '../../../infra/local/metrics/alarmState.ts';
import { MetricStore } from '../../../infra/local/metrics/metricStore.ts';
import { StartError } from '../../../infra/local/startError.ts';
import { metricIdsOf } from '../../infra/metricIds.ts';

const START = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;

const resource = (type: string, path: string, properties: Record<string, unknown>): Resource => ({
  path,
  type,
  ref: path,
  arn: path,
  properties,
});
const alarmResource = (properties: Record<string, unknown>) =>
  resource('AWS::CloudWatch::Alarm', 'Workers/LateA1B2C3D4', {
    Namespace: 'Own',
    MetricName: 'Lag',
    Dimensions: [{ Name: 'service', Value: 'svc' }],
    Statistic: 'Sum',
    Period: 60,
    EvaluationPeriods: 1,
    Threshold: 5,
    ComparisonOperator: 'GreaterThanOrEqualToThreshold',
    TreatMissingData: 'notBreaching',
    ...properties,
  });
const dashboardResource = (...widgets: object[]) =>
  resource('AWS::CloudWatch::Dashboard', 'Dashboard', { DashboardBody: JSON.stringify({ widgets }) });
const text = (markdown: string) => ({ type: 'text', width: 24, height: 1, properties: { markdown } });
const graph = (metrics: unknown[], more: object = {}) => ({
  type: 'metric',
  width: 6,
  height: 6,
  properties: { title: 'Graph', view: 'timeSeries', region: 'us-east-1', metrics, yAxis: {}, ...more },
});

const lag: MetricId = { namespace: 'Own', name: 'Lag', dimensions: { service: 'svc' } };
/** Returns the properties of an alarm on an expression. */
const math = (...Metrics: object[]) => ({
  Namespace: undefined,
  MetricName: undefined,
  Dimensions: undefined,
  Statistic: undefined,
  Period: undefined,
  Metrics,
});
const part = (Id: string, MetricName: string, Period = 60) => ({
  Id,
  ReturnData: false,
  MetricStat: {
    Metric: { Namespace: 'Own', MetricName, Dimensions: [{ Name: 'service', Value: 'svc' }] },
    Period,
    Stat: 'Sum',
  },
});
const withoutUndefined = (properties: object) =>
  Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined));
const alarmOf = (properties: Record<string, unknown>, serviceName?: string) => {
  const resource = alarmResource(properties);
  return monitoringOf([], [{ ...resource, properties: withoutUndefined(resource.properties) }], serviceName).alarms[0]!;
};
const query =
  'SELECT SUM(Faults) FROM SCHEMA("Own", service, worker) WHERE service = \'svc\' GROUP BY worker ORDER BY SUM() DESC';

/** Returns the state of an alarm after these values. Their minutes count from the start of the store. */
function stateAfter(
  properties: Record<string, unknown>,
  now: number,
  ...values: readonly (readonly [minute: number, value: number, metric?: MetricId])[]
) {
  const clock = { now: START };
  const store = new MetricStore(() => clock.now);
  for (const [minute, value, metric = lag] of values) {
    clock.now = START + minute * MINUTE;
    store.add(metric, value);
  }
  return alarmState(alarmOf(properties), store, START + now * MINUTE);
}

describe('alarmOf and alarmState', () => {
  test('use the logical id without its hash, and the description of the template', () => {
    expect(
      alarmOf({ AlarmDescription: 'It is late', EvaluationPeriods: 3, ExtendedStatistic: 'p99', Statistic: undefined }),
    ).toEqual({
      name: 'Late',
      description: 'It is late',
      notifies: false,
      source: { kind: 'metric', metric: lag, statistic: { percentile: 99 } },
      periodSeconds: 60,
      periods: 3,
      comparison: 'GreaterThanOrEqualToThreshold',
      threshold: 5,
      missingData: 'notBreaching',
    });
  });

  test.each([
    ['GreaterThanOrEqualToThreshold', [false, true, true]],
    ['GreaterThanThreshold', [false, false, true]],
    ['LessThanOrEqualToThreshold', [true, true, false]],
    ['LessThanThreshold', [true, false, false]],
  ])('compare by %s', (ComparisonOperator, expected) => {
    expect(
      [4, 5, 6].map((value) => stateAfter({ ComparisonOperator }, 1, [0.5, value]).contributors.length > 0),
    ).toEqual(expected);
  });

  test('count missing data as breaching only after the first full periods', () => {
    const stopped = {
      EvaluationPeriods: 3,
      ComparisonOperator: 'LessThanThreshold',
      Threshold: 1,
      TreatMissingData: 'breaching',
    };
    const rings = (now: number, ...values: [number, number][]) =>
      stateAfter(stopped, now, ...values).contributors.length > 0;
    expect([0, 1, 2.9, 3, 60].map((now) => rings(now))).toEqual([false, false, false, true, true]);
    expect([1, 3, 4, 4.5].map((now) => rings(now, [1.2, 1]))).toEqual([false, false, false, true]);
  });

  test('keep the state after the last data if they ignore missing data', () => {
    const rings = (now: number, ...values: [number, number][]) =>
      stateAfter({ TreatMissingData: 'ignore' }, now, ...values).contributors.length > 0;
    expect([0.6, 30].map((now) => rings(now))).toEqual([false, false]);
    expect([0.6, 30].map((now) => rings(now, [0.5, 5]))).toEqual([true, true]);
    expect(rings(30, [0.5, 5], [29.5, 4])).toBe(false);
  });

  test('name the contributors of a query, and show the highest value', () => {
    const faults = (worker: string): MetricId => ({
      namespace: 'Own',
      name: 'Faults',
      dimensions: { service: 'svc', worker },
    });
    const onQuery = math({ Id: 'q', Expression: query, Period: 60, ReturnData: true });
    expect(
      stateAfter(onQuery, 1, [0.5, 5, faults('sweep')], [0.6, 4, faults('mail')], [0.7, 9, faults('jobs')]),
    ).toEqual({ contributors: ['sweep', 'jobs'], value: 9 });
    expect(stateAfter(onQuery, 1)).toEqual({ contributors: [], value: undefined });
  });

  test.each([
    ['M of N', { DatapointsToAlarm: 1, EvaluationPeriods: 2 }, 'DatapointsToAlarm other than EvaluationPeriods'],
    ['a band', { ComparisonOperator: 'GreaterThanUpperThreshold' }, 'the comparison GreaterThanUpperThreshold'],
    ['a name of a property of every object', { ComparisonOperator: 'toString' }, 'the comparison toString'],
    ['no setting for missing data', { TreatMissingData: undefined }, 'the treatment of missing data "undefined"'],
    ['an average', { Statistic: 'Average' }, 'the statistic "Average"'],
    ['a percentile of 100', { Statistic: undefined, ExtendedStatistic: 'p100' }, 'the statistic "p100"'],
    ['a property with an effect', { ThresholdMetricId: 'x' }, '"ThresholdMetricId" of an alarm'],
    [
      'two expressions',
      math({ Id: 'x', Expression: '1' }, { Id: 'y', Expression: '2' }),
      'does not return exactly one expression',
    ],
    [
      'an unknown function',
      math({ Id: 'x', Expression: 'RATE(a)' }, part('a', 'Lag')),
      '"RATE" is not a known function, in: RATE(a)',
    ],
    ['an unknown id', math({ Id: 'x', Expression: 'b' }, part('a', 'Lag')), '"b" is unknown'],
    [
      'two periods',
      math({ Id: 'x', Expression: 'a + b' }, part('a', 'Lag'), part('b', 'Wait', 300)),
      'an expression without exactly one period',
    ],
    ['no period', math({ Id: 'x', Expression: query }), 'an expression without exactly one period'],
    [
      'a metric of another account',
      math({ Id: 'x', Expression: 'a' }, { ...part('a', 'Lag'), AccountId: '1' }),
      '"AccountId" of a metric of an alarm',
    ],
  ])('refuse an alarm with %s, and name it', (_what, properties, problem) => {
    expect(() => alarmOf(properties)).toThrow(StartError);
    expect(() => alarmOf(properties)).toThrow(
      /^The alarm Workers\/LateA1B2C3D4 has a definition that the local run does not support: /,
    );
    expect(() => alarmOf(properties)).toThrow(problem);
  });
});

describe('rowsOf', () => {
  const seriesOf = (...metrics: unknown[]) =>
    monitoringOf([dashboardResource(graph(metrics))], []).rows[0]!.graphs[0]!.series;

  test('starts a row at each text widget, with the graphs after it', () => {
    const { rows } = monitoringOf(
      [dashboardResource(graph([]), text('**One**'), graph([]), graph([], { title: 'Other' }), text('**Two**'))],
      [],
    );
    expect(rows).toEqual([
      { title: '', graphs: [{ title: 'Graph', width: 6, series: [] }] },
      {
        title: '**One**',
        graphs: [
          { title: 'Graph', width: 6, series: [] },
          { title: 'Other', width: 6, series: [] },
        ],
      },
      { title: '**Two**', graphs: [] },
    ]);
  });

  test('shows metrics and expressions, without invisible parts of expressions', () => {
    expect(
      seriesOf(
        [{ label: 'per request', expression: 'a / 2' }],
        ['Own', 'Lag', 'service', 'svc', { id: 'a', visible: false, stat: 'Sum' }],
        ['Own', 'Lag', 'service', 'svc', { stat: 'p50' }],
      ),
    ).toEqual([
      {
        label: 'per request',
        source: {
          kind: 'operation',
          operator: '/',
          left: { kind: 'metric', metric: lag, statistic: 'Sum' },
          right: { kind: 'number', value: 2 },
        },
      },
      { label: 'Lag', source: { kind: 'metric', metric: lag, statistic: { percentile: 50 } } },
    ]);
  });

  test('labels a line without a label by its metric, group or expression', () => {
    expect(
      seriesOf(
        ['Own', 'Lag', { stat: 'Sum', label: '${LABEL} of all' }],
        ['Own', 'Lag', { stat: 'Sum' }],
        [{ expression: query }],
        [{ expression: query, label: 'of ${LABEL}' }],
        [{ expression: '1 + 1' }],
      ).map(({ label }) => label),
    ).toEqual(['Lag of all', 'Lag', '${LABEL}', 'of ${LABEL}', '1 + 1']);
  });

  test.each([
    [
      'a number instead of a graph',
      graph([], { view: 'singleValue' }),
      'the widget "Graph": metric shown as singleValue',
    ],
    [
      'a list of alarms',
      { type: 'alarm', width: 6, properties: { title: 'Alarms' } },
      'the widget "Alarms": alarm shown as undefined',
    ],
    ['an annotation', graph([], { annotations: {} }), '"annotations" of the widget "Graph"'],
    [
      'a computed label',
      graph([['Own', 'Lag', { stat: 'Sum', label: '${MAX}' }]]),
      'the widget "Graph": the label "${MAX}"',
    ],
    ['an abbreviation', graph([['.', 'Lag', { stat: 'Sum' }]]), 'the widget "Graph": [".","Lag",{"stat":"Sum"}]'],
    [
      'half a dimension',
      graph([['Own', 'Lag', 'service', { stat: 'Sum' }]]),
      'the widget "Graph": ["Own","Lag","service",{"stat":"Sum"}]',
    ],
    ['no statistic', graph([['Own', 'Lag']]), 'the widget "Graph": the statistic "undefined"'],
    [
      'an unknown function',
      graph([[{ expression: 'ANOMALY(a)' }]]),
      'the widget "Graph": "ANOMALY" is not a known function, in: ANOMALY(a)',
    ],
    [
      'another account',
      graph([['Own', 'Lag', { stat: 'Sum', accountId: '1' }]]),
      '"accountId" of ["Own","Lag",{"stat":"Sum","accountId":"1"}]',
    ],
    [
      'an unknown query',
      graph([[{ expression: 'SELECT MAX(x) FROM y' }]]),
      'the widget "Graph": "MAX" is in the place of SUM',
    ],
  ])('refuses a dashboard with %s, and names the widget', (_what, widget, problem) => {
    const read = () => monitoringOf([dashboardResource(widget)], []);
    expect(read).toThrow(StartError);
    expect(read).toThrow(`The dashboard Dashboard has a definition that the local run does not support: `);
    expect(read).toThrow(problem);
  });
});

test('the local run finds metrics of the service under its own service name', () => {
  const { rows } = monitoringOf(
    [
      dashboardResource(
        graph([
          ['Own', 'Lag', 'service', 'svc', { stat: 'Sum' }],
          ['AWS/SQS', 'Depth', 'QueueName', 'svc', { stat: 'Maximum' }],
          [{ expression: query }],
        ]),
      ),
    ],
    [],
    'mine',
  );
  const ids = metricIdsOf({
    rows,
    alarms: [alarmOf({}, 'mine'), alarmOf(math({ Id: 'x', Expression: 'FILL(a, 0)' }, part('a', 'Wait')), 'mine')],
  });
  expect(ids).toEqual([
    { namespace: 'Own', name: 'Lag', dimensions: { service: 'mine' } },
    { namespace: 'AWS/SQS', name: 'Depth', dimensions: { QueueName: 'svc' } },
    { namespace: 'Own', name: 'Faults', dimensions: { service: 'mine' } },
    { namespace: 'Own', name: 'Wait', dimensions: { service: 'mine' } },
  ]);
});
