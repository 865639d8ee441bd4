import { openQuery, workerQueries } from '../constructs/savedQueries.ts';
import type { AlarmDeclaration, MonitoringProps } from './alarms.ts';
import { deliveryMetric, functionMetric, runsWithout } from './metrics.ts';

const FAILED_PUBLISHES = 5;
const FAILED_AUTHORIZATIONS = 5;
const LATE_SECONDS = 5;
/** In a quiet hour, a single slow push is already the 99th percentile, so one late period means nothing. */
const LATE_PERIODS = 3;
/**
 * Four periods of five minutes are longer than the 15 minutes for which a token of the push service is valid. Users who
 * connect all this time get new tokens, and for each token the service writes an item that starts the publisher.
 */
const STOPPED_PERIODS = 4;

export function liveAlarms({ workers, settings }: MonitoringProps, stackName: string): AlarmDeclaration[] {
  const authorizer = workers.find(({ worker: { on } }) => 'authorizes' in on);
  const publisher = workers.find(({ worker: { on } }) => 'changes' in on);
  if (settings.live === 'off' || !authorizer || !publisher) return [];
  const { serviceName } = settings;
  return [
    {
      id: 'LivePublishesFail',
      metric: deliveryMetric('LivePublishesFailed', serviceName, 'Sum'),
      threshold: FAILED_PUBLISHES,
      text: {
        broken: 'The push service does not accept the changes of documents.',
        impacts: ['connected users see changes of others late, when they read the document again'],
        threshold: `at least ${FAILED_PUBLISHES} publishes in 5 minutes failed after all tries.`,
        firstStep: openQuery(stackName, workerQueries.faults),
        runbook: 'failing-live-publishes',
        severity: 'high',
      },
    },
    {
      id: 'LiveAuthorizerFails',
      metric: functionMetric(authorizer.construct.function, 'Errors', 'Sum'),
      threshold: FAILED_AUTHORIZATIONS,
      notices: { follows: ['TableCause'] },
      text: {
        broken: 'The authorizer of the push service fails.',
        impacts: [authorizer.worker.impact],
        threshold: `at least ${FAILED_AUTHORIZATIONS} failed runs in 5 minutes.`,
        firstStep: openQuery(stackName, workerQueries.faults, 'live'),
        runbook: 'failing-live-authorizer',
        severity: 'high',
      },
    },
    // If the publisher does not run, it writes no metrics for the alarms LivePublishesFail and LivePushesLate.
    {
      id: 'LivePublisherStopped',
      metric: runsWithout(authorizer.construct.function, publisher.construct.function),
      threshold: 1,
      periods: STOPPED_PERIODS,
      text: {
        broken: `Worker ${publisher.worker.name} does not run, although users connect.`,
        impacts: [publisher.worker.impact],
        threshold: `for ${STOPPED_PERIODS * 5} minutes, users connected or subscribed, and the worker had no run.`,
        firstStep: 'look at graph "Runs" of the dashboard. Since when has the worker not run?',
        runbook: 'stopped-live-publisher',
        severity: 'high',
      },
    },
    {
      id: 'LivePushesLate',
      metric: deliveryMetric('LivePushLatency', serviceName, 'p99'),
      threshold: LATE_SECONDS * 1000,
      periods: LATE_PERIODS,
      notices: { follows: ['TableCause', 'QueuesCause'] },
      text: {
        broken: 'Changes of documents are pushed late.',
        impacts: ['connected users see changes of others late'],
        threshold: `for ${LATE_PERIODS * 5} minutes, 1 push in 100 was made at least ${LATE_SECONDS} s after its change.`,
        firstStep: 'look at graph "Stream lag, ms" of the dashboard: is worker publishLive behind?',
        runbook: 'late-live-pushes',
        severity: 'low',
      },
    },
  ];
}
