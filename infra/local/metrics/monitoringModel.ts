import { StartError } from '../startError.ts';
import type { Resource } from '../assembly/template.ts';
import { type AlarmModel, alarmOf } from './alarmModel.ts';
import { type RowModel, rowsOf } from './dashboardModel.ts';
import { NotUnderstood } from './scanner.ts';

/** What the templates say is to be watched. */
export interface MonitoringModel {
  readonly rows: readonly RowModel[];
  readonly alarms: readonly AlarmModel[];
}

/**
 * Reads dashboards and alarms, all expressions in them too. What is not known here stops the start, naming the widget or the alarm: a picture
 * must not lack anything in silence. `serviceName` is what the functions call the service, if that is something else than in the templates.
 */
export function monitoringOf(
  dashboards: readonly Resource[],
  alarms: readonly Resource[],
  serviceName?: string,
): MonitoringModel {
  return {
    rows: dashboards.flatMap((dashboard) =>
      understood(`The dashboard ${dashboard.path}`, () => rowsOf(dashboard, serviceName)),
    ),
    alarms: alarms.map((alarm) => understood(`The alarm ${alarm.path}`, () => alarmOf(alarm, serviceName))),
  };
}

function understood<T>(owner: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof NotUnderstood)
      throw new StartError(
        `${owner} has something that the local run does not know: ${error.message}\nTeach it to infra/local/metrics.`,
      );
    throw error;
  }
}
