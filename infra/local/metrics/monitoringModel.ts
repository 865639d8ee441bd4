import { StartError } from '../startError.ts';
import type { Resource } from '../template.ts';
import { type AlarmModel, alarmOf } from './alarmModel.ts';
import { type RowModel, rowsOf } from './dashboardModel.ts';
import { type Expression, partsOf } from './expression.ts';
import type { Query } from './query.ts';
import { NotUnderstood } from './scanner.ts';
import type { MetricId } from './series.ts';

/** What the templates say is to be watched. */
export interface MonitoringModel {
  readonly rows: readonly RowModel[];
  readonly alarms: readonly AlarmModel[];
}

/**
 * Reads dashboards and alarms, all expressions in them too. What is not known here stops the start, naming the widget or the alarm: a picture
 * must not lack anything in silence. `serviceName` is what the functions call the service, if that is something else than in the templates.
 */
export function monitoringOf(dashboards: readonly Resource[], alarms: readonly Resource[], serviceName?: string): MonitoringModel {
  return {
    rows: dashboards.flatMap((dashboard) => understood(`The dashboard ${dashboard.path}`, () => rowsOf(dashboard, serviceName))),
    alarms: alarms.map((alarm) => understood(`The alarm ${alarm.path}`, () => alarmOf(alarm, serviceName))),
  };
}

function understood<T>(owner: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof NotUnderstood) throw new StartError(`${owner} has something that the local run does not know: ${error.message}\nTeach it to infra/local/metrics.`);
    throw error;
  }
}

/**
 * Every metric that a graph or an alarm is about, once. Of what a query or a search finds, only the dimensions that it fixes are there.
 */
export function metricIdsOf({ rows, alarms }: MonitoringModel): MetricId[] {
  const sources: readonly (Expression | Query)[] = [...rows.flatMap(({ graphs }) => graphs.flatMap(({ series }) => series.map(({ source }) => source))), ...alarms.map(({ source }) => source)];
  const ids = sources.flatMap((source): MetricId[] => {
    if (source.kind === 'query') return [{ namespace: source.namespace, name: source.name, dimensions: source.where }];
    return partsOf(source).map((part) => (part.kind === 'metric' ? part.metric : { namespace: part.namespace, name: part.name, dimensions: {} }));
  });
  return [...new Map(ids.map((id) => [JSON.stringify(id), id])).values()];
}
