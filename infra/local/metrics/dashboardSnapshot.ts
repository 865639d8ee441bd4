import type { AlarmModel } from '../assembly/monitoring/alarmModel.ts';
import { alarmsOf, type CompositeModel } from '../assembly/monitoring/compositeModel.ts';
import { type GraphModel, LABEL, type SeriesModel } from '../assembly/monitoring/dashboardModel.ts';
import type { MonitoringModel } from '../assembly/monitoring/monitoringModel.ts';
import { AlarmStates, type Suppression } from './compositeState.ts';
import { bind, bindQuery, type Bound } from './evaluate.ts';
import type { MetricStore } from './metricStore.ts';
import { bucketAt, type Window } from './series.ts';

export interface DashboardSnapshot {
  /** Epoch ms. */
  readonly at: number;
  readonly periodSeconds: number;
  /** Ends of periods in epoch ms, oldest first. The last period has not ended yet. */
  readonly times: readonly number[];
  readonly rows: readonly RowSnapshot[];
  /** Active alarms first. */
  readonly alarms: readonly AlarmSnapshot[];
}

export interface RowSnapshot {
  readonly title: string;
  readonly graphs: readonly GraphSnapshot[];
}

export interface GraphSnapshot {
  readonly title: string;
  /** In columns, of which the dashboard has 24. */
  readonly width: number;
  /** One value for each period. Lines without measurements in these periods are left out. */
  readonly series: readonly { readonly label: string; readonly values: readonly (number | null)[] }[];
}

export interface AlarmSnapshot {
  readonly name: string;
  readonly active: boolean;
  /** The active groups, such as endpoints. For a composite alarm, the active alarms of its rule. */
  readonly contributors: readonly string[];
  /** Of the functions that fail, each with the function's name. */
  readonly impacts: readonly string[];
  readonly notifies: boolean;
  readonly suppressedBy: string | null;
  /** Null without data and for a composite alarm. */
  readonly value: number | null;
  readonly threshold: number | null;
  readonly description: string;
}

const SHORT_MINUTES = 15;
const SHORT_SECONDS = 10;
const LONG_SECONDS = 60;

/** `minutes` is at most 60. */
export function dashboardSnapshot(
  { rows, alarms, composites }: MonitoringModel,
  store: MetricStore,
  { now, minutes }: { readonly now: number; readonly minutes: number },
): DashboardSnapshot {
  const periodSeconds = minutes <= SHORT_MINUTES ? SHORT_SECONDS : LONG_SECONDS;
  const times = endsOfPeriods(now, periodSeconds, (minutes * 60) / periodSeconds);
  const windows = times.map((end): Window => ({ from: bucketAt(end - periodSeconds * 1000), to: bucketAt(end) - 1 }));
  const states = new AlarmStates({ alarms, composites }, store);
  const alarmSnapshots = [
    ...composites.map((composite) => compositeSnapshot(composite, states, now)),
    ...alarms.map((alarm) => alarmSnapshot(alarm, states, now)),
  ];
  return {
    at: now,
    periodSeconds,
    times,
    rows: rows.map(({ title, graphs }) => ({
      title,
      graphs: graphs.map((graph) => graphSnapshot(graph, store, windows)),
    })),
    alarms: [...alarmSnapshots.filter(({ active }) => active), ...alarmSnapshots.filter(({ active }) => !active)],
  };
}

/** As in CloudWatch, periods begin at multiples of their length, so values of the past stay the same. */
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
    const isCounter = source.kind === 'metric' && source.statistic === 'Sum';
    return hasMeasurements(bound) ? [{ label, values: valuesOf(bound, store, windows, isCounter) }] : [];
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
  // As in the dashboard's queries, the group with the highest sum is first.
  return groups.sort((a, b) => b.sum - a.sum).map(({ label: groupLabel, values }) => ({ label: groupLabel, values }));
}

/** Without data, a counter is 0, and another metric is null, as are windows before the store was created. */
function valuesOf(
  { valueIn }: Bound,
  store: MetricStore,
  windows: readonly Window[],
  isCounter: boolean,
): (number | null)[] {
  const began = bucketAt(store.since);
  return windows.map((window) => (window.to < began ? null : (valueIn(window) ?? (isCounter ? 0 : null))));
}

function compositeSnapshot(composite: CompositeModel, states: AlarmStates, now: number): AlarmSnapshot {
  const { name, description, rule, notifies } = composite;
  const active = states.isActive(name, now);
  const suppression = active ? states.suppressionOf(composite, now) : undefined;
  const activeAlarms = alarmsOf(rule).filter((alarm) => active && states.isActive(alarm, now));
  return {
    name,
    active,
    contributors: activeAlarms.map((alarm) => states.nameWithGroups(alarm, now)),
    impacts: activeAlarms.flatMap((alarm) => states.impactsOf(alarm, now)),
    notifies,
    suppressedBy: suppression ? suppressionText(suppression) : null,
    value: null,
    threshold: null,
    description,
  };
}

function suppressionText({ alarm, period }: Suppression): string {
  if (period === undefined) return alarm;
  return period === 'wait' ? `waits for ${alarm}` : `shortly after ${alarm}`;
}

function alarmSnapshot(alarm: AlarmModel, states: AlarmStates, now: number): AlarmSnapshot {
  const { contributors, value } = states.stateAt(alarm, now);
  const { name, threshold, description, notifies } = alarm;
  return {
    name,
    active: contributors.length > 0,
    contributors: contributors.filter((each) => each !== ''),
    impacts: states.impactsOf(name, now),
    notifies,
    suppressedBy: null,
    value: value ?? null,
    threshold,
    description,
  };
}
