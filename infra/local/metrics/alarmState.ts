import { type AlarmModel, comparisons } from '../assembly/monitoring/alarmModel.ts';
import { bind, bindQuery, type Bound } from './evaluate.ts';
import type { MetricStore } from './metricStore.ts';
import { BUCKET_MILLISECONDS, bucketAt, type Window } from './series.ts';

export interface AlarmState {
  /** The active groups of the alarm's query. An alarm without a query has one group, ''. */
  readonly contributors: readonly string[];
  /** The highest value of all groups in the current period. */
  readonly value: number | undefined;
}

/**
 * The last period ends now or, with `ignore`, at the last measurement. Missing data is breaching only in periods that
 * began after the store was created: otherwise, alarms on missing data would be active after each start.
 */
export function alarmState(alarm: AlarmModel, store: MetricStore, now: number): AlarmState {
  const contributors =
    alarm.source.kind === 'query' ? bindQuery(alarm.source, store) : new Map([['', bind(alarm.source, store)]]);
  // A query that finds no metric has missing data.
  if (contributors.size === 0) contributors.set('', { valueIn: () => undefined, latest: -1 });
  const isIgnored = alarm.missingData === 'ignore';
  const windows = windowsOf(alarm, bucketAt(now));
  const isBreaching = ({ valueIn, latest }: Bound) =>
    (isIgnored ? windowsOf(alarm, latest) : windows).every((window) => {
      const value = valueIn(window);
      if (value === undefined) return alarm.missingData === 'breaching' && window.from >= bucketAt(store.since);
      return comparisons[alarm.comparison](value, alarm.threshold);
    });
  const [current] = windows;
  const values = [...contributors.values()]
    .map(({ valueIn }) => current && valueIn(current))
    .filter((value) => value !== undefined);
  return {
    contributors: [...contributors].filter(([, bound]) => isBreaching(bound)).map(([name]) => name),
    value: values.length > 0 ? Math.max(...values) : undefined,
  };
}

/** Newest first. The newest ends with the bucket `last`. */
function windowsOf({ periods, periodSeconds }: AlarmModel, last: number): Window[] {
  const length = (periodSeconds * 1000) / BUCKET_MILLISECONDS;
  return Array.from({ length: periods }, (_each, index) => {
    const to = last - index * length;
    return { from: to - length + 1, to };
  });
}
