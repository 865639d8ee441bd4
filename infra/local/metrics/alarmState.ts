import { type AlarmModel, comparisons } from './alarmModel.ts';
import { bind, bindQuery, type Bound } from './evaluate.ts';
import type { MetricStore } from './metricStore.ts';
import { bucketAt, BUCKET_MILLISECONDS, type Window } from './series.ts';

export interface AlarmState {
  /** Groups of a query that make the alarm active, or '' for another metric. Empty if the alarm is OK. */
  readonly contributors: readonly string[];
  /** The value in the current period; the highest of several contributors. */
  readonly value: number | undefined;
}

/**
 * Returns the state of an alarm. Its periods are consecutive, and the last one ends now. Missing data counts only in
 * periods after the start of the store: a system that has just started is not one that has stopped.
 */
export function alarmState(alarm: AlarmModel, store: MetricStore, now: number): AlarmState {
  const contributors =
    alarm.source.kind === 'query' ? bindQuery(alarm.source, store) : new Map([['', bind(alarm.source, store)]]);
  // Missing data counts even if a query finds no metric.
  if (contributors.size === 0) contributors.set('', { valueIn: () => undefined, latest: -1 });
  const windows = windowsOf(alarm, now);
  const rings = ({ valueIn }: Bound) =>
    windows.every((window) => {
      const value = valueIn(window);
      if (value === undefined) return alarm.whenMissing && window.from >= bucketAt(store.since);
      return comparisons[alarm.comparison](value, alarm.threshold);
    });
  const [current] = windows;
  const values = [...contributors.values()]
    .map(({ valueIn }) => current && valueIn(current))
    .filter((value) => value !== undefined);
  return {
    contributors: [...contributors].filter(([, bound]) => rings(bound)).map(([name]) => name),
    value: values.length > 0 ? Math.max(...values) : undefined,
  };
}

/** Newest first. */
function windowsOf({ periods, periodSeconds }: AlarmModel, now: number): Window[] {
  const length = (periodSeconds * 1000) / BUCKET_MILLISECONDS;
  return Array.from({ length: periods }, (_each, index) => {
    const to = bucketAt(now) - index * length;
    return { from: to - length + 1, to };
  });
}
