import { describe, expect, test } from '@jest/globals';
import type { AlarmModel } from '../../../infra/local/assembly/monitoring/alarmModel.ts';
import {
  type Expression,
  type MetricId,
  readExpression,
  type Statistic,
} from '../../../infra/local/assembly/monitoring/expression.ts';
import { type Query, readQuery } from '../../../infra/local/assembly/monitoring/query.ts';
import { dashboardSnapshot } from '../../../infra/local/metrics/dashboardSnapshot.ts';
import { MetricStore } from '../../../infra/local/metrics/metricStore.ts';

const START = Date.UTC(2026, 0, 1);
const SECOND = 1_000;

const metricOf = (name: string, dimensions: MetricId['dimensions'] = {}): MetricId => ({
  namespace: 'Own',
  name,
  dimensions,
});
const single = (name: string, statistic: Statistic = 'Sum'): Expression => ({
  kind: 'metric',
  metric: metricOf(name),
  statistic,
});
const math = (text: string) =>
  readExpression(text, (id) => ({ kind: 'metric', metric: metricOf(id), statistic: 'Sum' }));
const faults = readQuery(
  'SELECT SUM(Faults) FROM SCHEMA("Own", worker, service) WHERE service = \'svc\' GROUP BY worker ORDER BY SUM() DESC',
);
const faultsOf = (worker: string) => metricOf('Faults', { service: 'svc', worker });

/** Returns the lines of a graph. The times of the measurements and `seconds` count from the start of the store. */
function linesAt(
  seconds: number,
  source: Expression | Query,
  measured: readonly (readonly [at: number, metric: MetricId, value: number])[],
  minutes = 15,
  label = 'label',
) {
  const clock = { now: START };
  const store = new MetricStore(() => clock.now);
  for (const [at, metric, value] of measured) {
    clock.now = START + at * SECOND;
    store.add(metric, value);
  }
  const { rows, ...rest } = dashboardSnapshot(
    {
      rows: [{ title: 'row', graphs: [{ title: 'graph', width: 6, series: [{ source, label }] }] }],
      alarms: [],
      composites: [],
    },
    store,
    { now: START + seconds * SECOND, minutes },
  );
  expect(rows).toEqual([{ title: 'row', graphs: [{ title: 'graph', width: 6, series: expect.anything() }] }]);
  return { series: rows[0]!.graphs[0]!.series, ...rest };
}

/** Expects a single line. Returns its last `count` values. */
function endOf(count: number, { series }: Pick<ReturnType<typeof linesAt>, 'series'>) {
  expect(series).toHaveLength(1);
  return series[0]!.values.slice(-count);
}

describe('the periods of the dashboard', () => {
  test('last ten seconds or a minute, are aligned to the clock, and include the current one', () => {
    const short = linesAt(7, single('a'), [[1, metricOf('a'), 1]]);
    expect([short.at, short.periodSeconds, short.times.length, short.series[0]!.values.length]).toEqual([
      START + 7 * SECOND,
      10,
      90,
      90,
    ]);
    expect([short.times[0], short.times.at(-1)]).toEqual([START + 10 * SECOND - 89 * 10 * SECOND, START + 10 * SECOND]);
    const long = linesAt(60, single('a'), [[1, metricOf('a'), 1]], 60);
    expect([long.periodSeconds, long.times.length, long.series[0]!.values.length]).toEqual([60, 60, 60]);
    expect([long.times[0], long.times.at(-1)]).toEqual([START + 120 * SECOND - 59 * 60 * SECOND, START + 120 * SECOND]);
  });

  test('keep their values once they are over, while the running one changes', () => {
    const measured = [
      [3, metricOf('a'), 1],
      [9.9, metricOf('a'), 1],
      [10, metricOf('a'), 1],
      [21, metricOf('a'), 1],
    ] as const;
    expect(endOf(3, linesAt(21, single('a'), measured))).toEqual([2, 1, 1]);
    expect(endOf(3, linesAt(29, single('a'), measured))).toEqual([2, 1, 1]);
    expect(endOf(4, linesAt(30, single('a'), measured))).toEqual([2, 1, 1, 0]);
  });
});

test('the dashboard covers a whole hour', () => {
  const [first, last] = [0, 3_599];
  const { series } = linesAt(
    last,
    single('a'),
    [
      [first, metricOf('a'), 4],
      [last, metricOf('a'), 2],
    ],
    60,
  );
  expect([series[0]!.values[0], series[0]!.values.at(-1)]).toEqual([4, 2]);
});

describe('a line of a graph', () => {
  test('is zero without data for counters, and has a gap for other metrics', () => {
    const measured = [
      [1, metricOf('a'), 5],
      [25, metricOf('a'), 7],
    ] as const;
    expect(endOf(3, linesAt(29, single('a'), measured))).toEqual([5, 0, 7]);
    expect(endOf(3, linesAt(29, single('a', 'Maximum'), measured))).toEqual([5, null, 7]);
    expect(endOf(3, linesAt(29, single('a', { percentile: 99 }), measured))).toEqual([5, null, 7]);
    expect(endOf(3, linesAt(29, math('a * 2'), measured))).toEqual([10, null, 14]);
    expect(endOf(3, linesAt(29, math('FILL(a, 1) * 2'), measured))).toEqual([10, 2, 14]);
  });

  test('has no value before the start of the store, even if FILL fills missing data', () => {
    for (const source of [single('a'), math('FILL(a, 0)')])
      expect(endOf(4, linesAt(19, source, [[11, metricOf('a'), 5]]))).toEqual([null, null, 0, 5]);
  });

  test('is omitted if nothing was measured in the time range', () => {
    const measured = [[1, metricOf('a'), 5]] as const;
    for (const source of [single('b'), math('FILL(b, 0)'), math('1 + 1'), faults])
      expect(linesAt(29, source, measured).series).toEqual([]);
    for (const source of [single('a'), math('FILL(a, 0)')]) {
      expect(linesAt(899, source, measured).series).toHaveLength(1);
      expect(linesAt(900, source, measured).series).toEqual([]);
    }
  });

  test('exists for each group of a query, highest first', () => {
    const measured = [
      [1, faultsOf('few'), 1],
      [11, faultsOf('many'), 1],
      [21, faultsOf('many'), 3],
    ] as const;
    const { series } = linesAt(29, faults, measured, 15, 'worker ${LABEL}');
    expect(series.map(({ label, values }) => [label, ...values.slice(-3)])).toEqual([
      ['worker many', 0, 1, 3],
      ['worker few', 1, 0, 0],
    ]);
  });
});

test('active alarms come first, with their contributors and the known impacts of these', () => {
  const alarm = (name: string, source: AlarmModel['source'], threshold: number): AlarmModel => ({
    name,
    description: `${name} described`,
    source,
    threshold,
    periodSeconds: 300,
    periods: 1,
    comparison: 'GreaterThanOrEqualToThreshold',
    missingData: 'notBreaching',
    notifies: true,
  });
  const store = new MetricStore(() => START);
  store.add(faultsOf('sweep'), 6);
  store.add(faultsOf('constructor'), 5);
  store.add(metricOf('a'), 2);
  const { alarms } = dashboardSnapshot(
    {
      rows: [],
      alarms: [
        alarm('Silent', single('a'), 3),
        alarm('Empty', single('b'), 1),
        { ...alarm('Faults', faults, 5), impacts: { sweep: 'retries are late', heartbeat: 'an outage is found late' } },
        alarm('Single', single('a'), 2),
      ],
      composites: [],
    },
    store,
    { now: START, minutes: 15 },
  );
  const sent = { notifies: true, suppressedBy: null };
  expect(alarms).toEqual(
    [
      {
        name: 'Faults',
        active: true,
        contributors: ['sweep', 'constructor'],
        impacts: ['sweep: retries are late'],
        value: 6,
        threshold: 5,
        description: 'Faults described',
      },
      { name: 'Single', active: true, contributors: [], value: 2, threshold: 2, description: 'Single described' },
      { name: 'Silent', active: false, contributors: [], value: 2, threshold: 3, description: 'Silent described' },
      { name: 'Empty', active: false, contributors: [], value: null, threshold: 1, description: 'Empty described' },
    ].map((each) => ({ impacts: [], ...each, ...sent })),
  );
});
