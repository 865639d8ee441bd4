import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { MetricId, Statistic } from '../../../infra/local/assembly/monitoring/expression.ts';
import { MetricStore } from '../../../infra/local/metrics/metricStore.ts';
import { BUCKET_MILLISECONDS, bucketAt, BUCKETS } from '../../../infra/local/metrics/series.ts';
import { testProperty } from '../../support/testProperty.ts';

const START = Date.UTC(2026, 0, 1);
const metric: MetricId = { namespace: 'Here', name: 'Things', dimensions: { of: 'mine' } };

/** Returns a store, and the clock that it uses. Tests set the clock in epoch milliseconds. */
function storeAt() {
  const clock = { now: START };
  return { clock, store: new MetricStore(() => clock.now) };
}

/** Returns a statistic of a metric over the hour before `now`. */
function over(store: MetricStore, id: MetricId, statistic: Statistic, now: number): number | undefined {
  return store.find(id)?.statistic(statistic, { from: bucketAt(now) - BUCKETS + 1, to: bucketAt(now) });
}

/** Computes a statistic directly. Rounds percentiles to three digits, as the store does. */
function expectedStatistic(statistic: Statistic, values: readonly number[]): number | undefined {
  if (values.length === 0) return undefined;
  if (statistic === 'Sum') return values.reduce((sum, value) => sum + value, 0);
  if (statistic === 'Maximum') return Math.max(...values);
  const sorted = values
    .map((value) => (Number.isInteger(value) && Math.abs(value) < 1_000 ? value : Number(value.toPrecision(3))))
    .sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((statistic.percentile / 100) * sorted.length) - 1)];
}

describe('statistics', () => {
  const statistics: readonly Statistic[] = [
    'Sum',
    'Maximum',
    { percentile: 50 },
    { percentile: 99 },
    { percentile: 99.9 },
    { percentile: 0 },
  ];
  // Sums of multiples of a quarter are exact in any order.
  const value = fc.oneof(
    fc.constant(1),
    fc.integer({ min: -3, max: 3 }),
    fc.integer({ min: -1_000_000, max: 1_000_000 }).map((each) => each / 4),
  );
  // Most pauses end in the same bucket or one nearby. Some last an hour, end at the same position of the ring, or are
  // negative.
  const pause = fc.oneof(
    { weight: 12, arbitrary: fc.nat({ max: 1_500 }) },
    { weight: 4, arbitrary: fc.nat({ max: 60_000 }) },
    { weight: 1, arbitrary: fc.constant(BUCKETS * BUCKET_MILLISECONDS) },
    { weight: 1, arbitrary: fc.nat({ max: 5_000_000 }) },
    { weight: 1, arbitrary: fc.integer({ min: -15_000, max: 0 }) },
  );
  const step = fc.record({ pause, value, ago: fc.nat({ max: 8 }), length: fc.integer({ min: 1, max: 60 }) });

  testProperty(
    'over any window equal those of its values, whatever was read before',
    [fc.array(step, { minLength: 1, maxLength: 40, size: 'max' })],
    (steps) => {
      const { clock, store } = storeAt();
      const added: { bucket: number; value: number }[] = [];
      const [read, expected]: [unknown[], unknown[]] = [[], []];
      let latest = 0;
      for (const each of steps) {
        clock.now += each.pause;
        store.add(metric, each.value);
        added.push({ bucket: bucketAt(clock.now), value: each.value });
        latest = Math.max(latest, bucketAt(clock.now));
        const to = latest - each.ago;
        // These windows are tested: an aligned one, one that moves, and all buckets of the ring.
        const aligned = Math.floor(to / 12) * 12 - 1;
        for (const window of [
          { from: aligned - 11, to: aligned },
          { from: to - each.length + 1, to },
          { from: latest - BUCKETS + 1, to: latest },
        ]) {
          const inside = added
            .filter(({ bucket }) => bucket >= window.from && bucket <= window.to)
            .map((measurement) => measurement.value);
          const series = store.find(metric)!;
          for (const statistic of statistics) {
            read.push(series.statistic(statistic, window));
            expected.push(expectedStatistic(statistic, inside));
          }
        }
      }
      expect(read).toEqual(expected);
    },
  );

  test('ignore NaN and infinity', () => {
    const { clock, store } = storeAt();
    for (const each of [NaN, Infinity, 3]) store.add(metric, each);
    expect(over(store, metric, 'Sum', clock.now)).toBe(3);
  });
});

describe('a metric of MetricStore', () => {
  test('is found whatever the order of its dimensions is', () => {
    const { clock, store } = storeAt();
    store.add({ ...metric, dimensions: { x: '1', y: '2' } }, 7);
    expect(over(store, { ...metric, dimensions: { y: '2', x: '1' } }, 'Sum', clock.now)).toBe(7);
  });

  test('is dropped at the limit of metrics if its last value is the oldest', () => {
    const { clock, store } = storeAt();
    const endless = (each: number): MetricId => ({ ...metric, dimensions: { of: String(each) } });
    for (let each = 0; each < 2_500; each++) {
      clock.now += BUCKET_MILLISECONDS;
      store.add(metric, 1);
      store.add(endless(each), 1);
    }
    expect(store.named('Here', 'Things')).toHaveLength(2_000);
    expect(store.find(metric)).toBeDefined();
    expect([0, 500, 501, 2_499].map((each) => store.find(endless(each)) !== undefined)).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });
});

describe('MetricStore.addLine', () => {
  const sum = (store: MetricStore, name: string, dimensions: MetricId['dimensions']) =>
    over(store, { namespace: 'Own', name, dimensions }, 'Sum', START);
  const line = (more: object, directive: object = {}) => ({
    _aws: {
      Timestamp: START,
      CloudWatchMetrics: [
        { Namespace: 'Own', Dimensions: [['service']], Metrics: [{ Name: 'Lag', Unit: 'Milliseconds' }], ...directive },
      ],
    },
    service: 'svc',
    ...more,
  });

  test('reads single values and lists, for each set of dimensions', () => {
    const { store } = storeAt();
    store.addLine(line({ Lag: 5 }));
    store.addLine(line({ Lag: [1, 2], endpoint: 7 }, { Dimensions: [['service'], ['service', 'endpoint'], []] }));
    expect([
      sum(store, 'Lag', { service: 'svc' }),
      sum(store, 'Lag', { service: 'svc', endpoint: '7' }),
      sum(store, 'Lag', {}),
    ]).toEqual([8, 3, 3]);
  });

  test('ignores lines without a dimension, a value or metrics', () => {
    const { store } = storeAt();
    const lines = [
      line({}),
      line({ Lag: 'long' }),
      line({ Lag: 1 }, { Dimensions: [['endpoint']] }),
      line({ Lag: 1 }, { Metrics: undefined }),
      { _aws: null },
      { _aws: { CloudWatchMetrics: [null, 'x'] } },
      { message: 'Lag', Lag: 1 },
    ];
    for (const each of lines) store.addLine(each);
    expect(store.named('Own', 'Lag')).toEqual([]);
  });
});
