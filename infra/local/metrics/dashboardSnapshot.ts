import { alarmState } from './alarmState.ts';
import type { AlarmModel } from './alarmModel.ts';
import { type GraphModel, LABEL, type SeriesModel } from './dashboardModel.ts';
import { bind, bindQuery, type Bound } from './evaluate.ts';
import type { MetricStore } from './metricStore.ts';
import type { MonitoringModel } from './monitoringModel.ts';
import { bucketAt, type Window } from './series.ts';

/** What the dashboard shows at a moment. */
export interface Picture {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly periodSeconds: number;
  /** The ends of the periods, oldest first, in milliseconds since 1970. The last period is not over yet: its sums still grow. */
  readonly times: readonly number[];
  readonly rows: readonly RowPicture[];
  /** Those that ring first. */
  readonly alarms: readonly AlarmPicture[];
}

export interface RowPicture {
  /** Markdown. */
  readonly title: string;
  readonly graphs: readonly GraphPicture[];
}

export interface GraphPicture {
  readonly title: string;
  /** Of 24. */
  readonly width: number;
  /** Only what was measured in the time that is shown; a value for each period. */
  readonly series: readonly { readonly label: string; readonly values: readonly (number | null)[] }[];
}

export interface AlarmPicture {
  readonly name: string;
  readonly ringing: boolean;
  /** Which endpoints or workers make it ring, if it tells them apart. */
  readonly contributors: readonly string[];
  /** In the alarm's period that ends now; null if nothing was measured. */
  readonly value: number | null;
  readonly threshold: number;
  readonly description: string;
}

/** Up to how many minutes are shown in short periods. */
const SHORT_MINUTES = 15;
const SHORT_SECONDS = 10;
const LONG_SECONDS = 60;

/** What the store holds of the last `minutes`, 60 at most, and how the alarms are `now`. */
export function pictureOf(
  { rows, alarms }: MonitoringModel,
  store: MetricStore,
  { now, minutes }: { readonly now: number; readonly minutes: number },
): Picture {
  const periodSeconds = minutes <= SHORT_MINUTES ? SHORT_SECONDS : LONG_SECONDS;
  const times = endsOfPeriods(now, periodSeconds, (minutes * 60) / periodSeconds);
  const shown = times.map((end): Window => ({ from: bucketAt(end - periodSeconds * 1000), to: bucketAt(end) - 1 }));
  const pictures = alarms.map((alarm) => alarmPicture(alarm, store, now));
  return {
    at: now,
    periodSeconds,
    times,
    rows: rows.map(({ title, graphs }) => ({
      title,
      graphs: graphs.map((graph) => graphPicture(graph, store, shown)),
    })),
    alarms: [...pictures.filter(({ ringing }) => ringing), ...pictures.filter(({ ringing }) => !ringing)],
  };
}

/** Periods begin where CloudWatch's do, so that what is shown of the past stays as it is. */
function endsOfPeriods(now: number, periodSeconds: number, count: number): number[] {
  const last = Math.floor(now / (periodSeconds * 1000)) + 1;
  return Array.from({ length: count }, (_each, index) => (last - count + 1 + index) * periodSeconds * 1000);
}

function graphPicture(
  { title, width, series }: GraphModel,
  store: MetricStore,
  shown: readonly Window[],
): GraphPicture {
  return { title, width, series: series.flatMap((each) => linesOf(each, store, shown)) };
}

function linesOf({ source, label }: SeriesModel, store: MetricStore, shown: readonly Window[]): GraphPicture['series'] {
  const wasMeasured = ({ latest }: Bound) => latest >= shown[0]!.from;
  if (source.kind !== 'query') {
    const bound = bind(source, store);
    const counts = source.kind === 'metric' && source.statistic === 'Sum';
    return wasMeasured(bound) ? [{ label, values: valuesOf(bound, store, shown, counts) }] : [];
  }
  const groups = [...bindQuery(source, store)]
    .filter(([, bound]) => wasMeasured(bound))
    .map(([group, bound]) => {
      const values = valuesOf(bound, store, shown, true);
      return {
        label: label.replaceAll(LABEL, group),
        values,
        sum: values.reduce<number>((sum, value) => sum + (value ?? 0), 0),
      };
    });
  // As the queries order them.
  return groups.sort((a, b) => b.sum - a.sum).map(({ label: own, values }) => ({ label: own, values }));
}

/** Of what is counted, no data means none, so that lines are lines; before the store measured, nobody knows. */
function valuesOf(
  { valueIn }: Bound,
  store: MetricStore,
  shown: readonly Window[],
  counts: boolean,
): (number | null)[] {
  const began = bucketAt(store.since);
  return shown.map((window) => (window.to < began ? null : (valueIn(window) ?? (counts ? 0 : null))));
}

function alarmPicture(alarm: AlarmModel, store: MetricStore, now: number): AlarmPicture {
  const { contributors, value } = alarmState(alarm, store, now);
  const { name, threshold, description } = alarm;
  return {
    name,
    ringing: contributors.length > 0,
    contributors: contributors.filter((each) => each !== ''),
    value: value ?? null,
    threshold,
    description,
  };
}
