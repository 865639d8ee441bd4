import { openQuery, workerQueries } from '../constructs/savedQueries.ts';
import type { AlarmDeclaration, MonitoringProps } from './alarms.ts';
import { deliveryMetric } from './metrics.ts';

/** Within five minutes. A single failure can come from a deployment or a lost connection. */
const FAILED_HEARTBEATS = 3;

export function heartbeatAlarms({ settings }: MonitoringProps, stackName: string): AlarmDeclaration[] {
  if (settings.heartbeat === 'off') return [];
  return [
    {
      id: 'HeartbeatFails',
      metric: deliveryMetric('HeartbeatsFailed', settings.serviceName, 'Sum'),
      threshold: FAILED_HEARTBEATS,
      notices: { through: 'GatewayCause' },
      text: {
        broken: 'Heartbeats fail. A heartbeat is a write and a read through the public URL.',
        impacts: ['requests of all customers probably fail too'],
        threshold: `at least ${FAILED_HEARTBEATS} of the 5 heartbeats in 5 minutes failed.`,
        firstStep: `${openQuery(stackName, workerQueries.faults)} The error names the call and its status.`,
        runbook: 'failing-heartbeat',
        severity: 'high',
      },
    },
  ];
}
