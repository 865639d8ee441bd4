import { StartError } from '../startError.ts';
import type { Resource } from '../assembly/template.ts';
import { type AlarmModel, alarmOf } from './alarmModel.ts';
import { type RowModel, rowsOf } from './dashboardModel.ts';
import { UnsupportedDefinition } from './scanner.ts';

/** The dashboards and alarms of the templates. */
export interface MonitoringModel {
  readonly rows: readonly RowModel[];
  readonly alarms: readonly AlarmModel[];
}

/**
 * Reads dashboards and alarms, including all expressions. Throws a `StartError` with the name of an unsupported widget
 * or alarm, because otherwise the dashboard would be incomplete without notice. `serviceName` is the service's name in
 * the functions' metrics, if it differs from the templates.
 */
export function monitoringOf(
  dashboards: readonly Resource[],
  alarms: readonly Resource[],
  serviceName?: string,
): MonitoringModel {
  return {
    rows: dashboards.flatMap((dashboard) =>
      withOwner(`The dashboard ${dashboard.path}`, () => rowsOf(dashboard, serviceName)),
    ),
    alarms: alarms.map((alarm) => withOwner(`The alarm ${alarm.path}`, () => alarmOf(alarm, serviceName))),
  };
}

function withOwner<T>(owner: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnsupportedDefinition)
      throw new StartError(
        `${owner} has a definition that the local run does not support: ${error.message}\nAdd it to infra/local/metrics.`,
      );
    throw error;
  }
}
