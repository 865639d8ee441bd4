import { type AlarmModel, comparisons } from './alarmModel.ts';
import { bind, bindQuery, type Bound } from './evaluate.ts';
import type { MetricStore } from './metricStore.ts';
import { bucketAt, BUCKET_MILLISECONDS, type Window } from './series.ts';

export interface AlarmState {
  /** Who rings: an alarm on a query names groups, any other '' if it rings; empty if it does not. */
  readonly contributors: readonly string[];
  /** In the period that ends now; of several contributors the highest. */
  readonly value: number | undefined;
}

/**
 * The state of an alarm now. Its periods end now and lie before each other. A period without data that began before the store measured says
 * nothing, even if missing data rings: a system that has just started is not one that has stopped.
 */
export function alarmState(alarm: AlarmModel, store: MetricStore, now: number): AlarmState {
  const contributors =
    alarm.source.kind === 'query' ? bindQuery(alarm.source, store) : new Map([['', bind(alarm.source, store)]]);
  // So that missing data can ring where a query finds nothing at all.
  if (contributors.size === 0) contributors.set('', { valueIn: () => undefined, latest: -1 });
  const windows = windowsOf(alarm, now);
  const rings = ({ valueIn }: Bound) =>
    windows.every((window) => {
      const value = valueIn(window);
      if (value === undefined) return alarm.whenMissing && window.from >= bucketAt(store.since);
      return comparisons[alarm.comparison](value, alarm.threshold);
    });
  const values = [...contributors.values()]
    .map(({ valueIn }) => valueIn(windows[0]!))
    .filter((value) => value !== undefined);
  return {
    contributors: [...contributors].filter(([, bound]) => rings(bound)).map(([name]) => name),
    value: values.length > 0 ? Math.max(...values) : undefined,
  };
}

/** The last one first. */
function windowsOf({ periods, periodSeconds }: AlarmModel, now: number): Window[] {
  const length = (periodSeconds * 1000) / BUCKET_MILLISECONDS;
  return Array.from({ length: periods }, (_each, index) => {
    const to = bucketAt(now) - index * length;
    return { from: to - length + 1, to };
  });
}
