import { alarmState } from './alarmState.ts';
import type { AlarmModel } from './alarmModel.ts';
import { type GraphModel, LABEL, type SeriesModel } from './dashboardModel.ts';
import { bind, bindQuery, type Bound } from './evaluate.ts';
import type { MetricStore } from './metricStore.ts';
import type { MonitoringModel } from './monitoringModel.ts';
import { bucketAt, type Window } from './series.ts';

/** The state of the dashboard at one time. */
export interface DashboardSnapshot {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly periodSeconds: number;
  /** Ends of the periods in epoch milliseconds, oldest first. The last period is still running. */
  readonly times: readonly number[];
  readonly rows: readonly RowSnapshot[];
  /** Active alarms first. */
  readonly alarms: readonly AlarmSnapshot[];
}

export interface RowSnapshot {
  /** Markdown. */
  readonly title: string;
  readonly graphs: readonly GraphSnapshot[];
}

export interface GraphSnapshot {
  readonly title: string;
  /** Out of 24 columns. */
  readonly width: number;
  /** Only series with measurements in the time range. One value for each period. */
  readonly series: readonly { readonly label: string; readonly values: readonly (number | null)[] }[];
}

export interface AlarmSnapshot {
  readonly name: string;
  readonly active: boolean;
  /** The endpoints or workers that make the alarm active, if its metric distinguishes them. */
  readonly contributors: readonly string[];
  /** The value in the current period; null without data. */
  readonly value: number | null;
  readonly threshold: number;
  readonly description: string;
}

/** The longest range that is shown in short periods. */
const SHORT_MINUTES = 15;
const SHORT_SECONDS = 10;
const LONG_SECONDS = 60;

/** Returns the measurements of the last `minutes` (at most 60), and the states of the alarms. */
export function dashboardSnapshot(
  { rows, alarms }: MonitoringModel,
  store: MetricStore,
  { now, minutes }: { readonly now: number; readonly minutes: number },
): DashboardSnapshot {
  const periodSeconds = minutes <= SHORT_MINUTES ? SHORT_SECONDS : LONG_SECONDS;
  const times = endsOfPeriods(now, periodSeconds, (minutes * 60) / periodSeconds);
  const windows = times.map((end): Window => ({ from: bucketAt(end - periodSeconds * 1000), to: bucketAt(end) - 1 }));
  const pictures = alarms.map((alarm) => alarmSnapshot(alarm, store, now));
  return {
    at: now,
    periodSeconds,
    times,
    rows: rows.map(({ title, graphs }) => ({
      title,
      graphs: graphs.map((graph) => graphSnapshot(graph, store, windows)),
    })),
    alarms: [
      ...pictures.filter(({ active: ringing }) => ringing),
      ...pictures.filter(({ active: ringing }) => !ringing),
    ],
  };
}

/** Periods are aligned as in CloudWatch, so that past values do not change. */
function endsOfPeriods(now: number, periodSeconds: number, count: number): number[] {
  const last = Math.floor(now / (periodSeconds * 1000)) + 1;
  return Array.from({ length: count }, (_each, index) => (last - count + 1 + index) * periodSeconds * 1000);
}

function graphSnapshot(
  { title, width, series }: GraphModel,
  store: MetricStore,
  windows: readonly Window[],
): GraphSnapshot {
  return { title, width, series: series.flatMap((each) => linesOf(each, store, windows)) };
}

function linesOf(
  { source, label }: SeriesModel,
  store: MetricStore,
  windows: readonly Window[],
): GraphSnapshot['series'] {
  const [first] = windows;
  const hasMeasurements = ({ latest }: Bound) => first !== undefined && latest >= first.from;
  if (source.kind !== 'query') {
    const bound = bind(source, store);
    const counts = source.kind === 'metric' && source.statistic === 'Sum';
    return hasMeasurements(bound) ? [{ label, values: valuesOf(bound, store, windows, counts) }] : [];
  }
  const groups = [...bindQuery(source, store)]
    .filter(([, bound]) => hasMeasurements(bound))
    .map(([group, bound]) => {
      const values = valuesOf(bound, store, windows, true);
      return {
        label: label.replaceAll(LABEL, group),
        values,
        sum: values.reduce<number>((sum, value) => sum + (value ?? 0), 0),
      };
    });
  // The order of the queries.
  return groups.sort((a, b) => b.sum - a.sum).map(({ label: own, values }) => ({ label: own, values }));
}

/** Counters show zero without data. Before the start of the store there is no data at all. */
function valuesOf(
  { valueIn }: Bound,
  store: MetricStore,
  windows: readonly Window[],
  counts: boolean,
): (number | null)[] {
  const began = bucketAt(store.since);
  return windows.map((window) => (window.to < began ? null : (valueIn(window) ?? (counts ? 0 : null))));
}

function alarmSnapshot(alarm: AlarmModel, store: MetricStore, now: number): AlarmSnapshot {
  const { contributors, value } = alarmState(alarm, store, now);
  const { name, threshold, description } = alarm;
  return {
    name,
    active: contributors.length > 0,
    contributors: contributors.filter((each) => each !== ''),
    value: value ?? null,
    threshold,
    description,
  };
}
