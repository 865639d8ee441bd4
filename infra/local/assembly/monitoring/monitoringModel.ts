import { StartError } from '../../startError.ts';
import { UnsupportedDefinition } from '../scanner.ts';
import type { Resource } from '../template.ts';
import { type AlarmModel, alarmOf } from './alarmModel.ts';
import { alarmName, type CompositeModel, compositeOf } from './compositeModel.ts';
import { type RowModel, rowsOf } from './dashboardModel.ts';

export const COMPOSITE_ALARM = 'AWS::CloudWatch::CompositeAlarm';

export interface MonitoringModel {
  readonly rows: readonly RowModel[];
  readonly alarms: readonly AlarmModel[];
  readonly composites: readonly CompositeModel[];
}

/**
 * Throws a `StartError` that names an unsupported widget or alarm, because leaving it out would go unnoticed.
 * `serviceName` is given if the functions' metrics have another service name than the templates.
 */
export function monitoringOf(
  dashboards: readonly Resource[],
  allAlarms: readonly Resource[],
  serviceName?: string,
): MonitoringModel {
  const isComposite = ({ type }: Resource) => type === COMPOSITE_ALARM;
  const alarms = allAlarms.filter((alarm) => !isComposite(alarm));
  const composites = allAlarms.filter(isComposite);
  const names = new Map(
    allAlarms.flatMap((each) => [each.arn, each.ref].map((key) => [key, alarmName(each)] as const)),
  );
  return {
    rows: dashboards.flatMap((dashboard) =>
      withOwner(`The dashboard ${dashboard.path}`, () => rowsOf(dashboard, serviceName)),
    ),
    alarms: alarms.map((alarm) => withOwner(`The alarm ${alarm.path}`, () => alarmOf(alarm, serviceName))),
    composites: composites.map((composite) =>
      withOwner(`The composite alarm ${composite.path}`, () => compositeOf(composite, names)),
    ),
  };
}

function withOwner<T>(owner: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnsupportedDefinition)
      throw new StartError(
        `${owner} has a definition that the local run does not support: ${error.message}\nAdd it to infra/local/assembly/monitoring.`,
      );
    throw error;
  }
}
