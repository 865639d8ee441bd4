import { queues as declarations, type QueueDeclaration } from '../lib/queues.ts';
import { alarmText, runbooks, WORKER_FAULTS_QUERY } from './alarmText.ts';
import { deliveryMetric, functionMetric, queueMetric, workerFailures } from './metrics.ts';
import type { AlarmDeclaration, MonitoringProps } from './monitoring.ts';
import { pascal } from './names.ts';
import { queueNames } from './queues.ts';

/** How many failures of a worker within five minutes wake someone. */
const FAILURES = 5;
/** Periods of five minutes without a tick after which a timer counts as stopped. */
const PERIODS_WITHOUT_TICK = 3;
const BEHIND_MINUTES = 5;
const OVERDUE_MINUTES = 10;
const FAN_OUT_SECONDS = 30;
const FIRST_ATTEMPT_SECONDS = 5;
/** One slow delivery in a quiet hour is its own 99th percentile: it has to last. */
const PERIODS_OF_LATENESS = 3;

/** Something lies in a dead-letter queue; the oldest message of a queue that must be quick waits. */
export function queueAlarms({ queues, streamDeadLetters }: MonitoringProps): AlarmDeclaration[] {
  return [
    ...queueNames.flatMap((name): AlarmDeclaration[] => {
      const { purpose, impact, lateAfterSeconds }: QueueDeclaration = declarations[name];
      const deadLetters: AlarmDeclaration = {
        id: `${pascal(name)}DeadLettersFilled`,
        metric: queueMetric(queues[name].deadLetters, 'ApproximateNumberOfMessagesVisible'),
        threshold: 1,
        description: alarmText({
          happens: `Messages were tried in vain and lie in the dead-letter queue of ${name} (${purpose}).`, runbook: runbooks.deadLetters, query: WORKER_FAULTS_QUERY, impacts: [impact],
        }),
      };
      if (lateAfterSeconds === undefined) return [deadLetters];
      const late: AlarmDeclaration = {
        id: `${pascal(name)}Late`,
        metric: queueMetric(queues[name].queue, 'ApproximateAgeOfOldestMessage'),
        threshold: lateAfterSeconds,
        description: alarmText({
          happens: `A message has been in the queue ${name} (${purpose}) for ${lateAfterSeconds / 60} minutes.`, runbook: runbooks.lateDeliveries, query: WORKER_FAULTS_QUERY, impacts: [impact],
        }),
      };
      return [deadLetters, late];
    }),
    {
      id: 'StreamDeadLettersFilled',
      metric: queueMetric(streamDeadLetters, 'ApproximateNumberOfMessagesVisible'),
      threshold: 1,
      description: alarmText({
        happens: 'Lambda gave up records of the table\'s stream.', runbook: runbooks.deadLetters, query: WORKER_FAULTS_QUERY, impacts: ['what follows from new items, such as deliveries of events, comes late'],
      }),
    },
  ];
}

/** A worker fails; one that follows the stream is behind; one that runs every minute has stopped, which nothing else would tell. */
export function workerAlarms({ workers, settings: { serviceName } }: MonitoringProps): AlarmDeclaration[] {
  return workers.flatMap(({ worker: { name, on, impact }, construct }): AlarmDeclaration[] => {
    const alarm = (suffix: string, happens: string, rest: Omit<AlarmDeclaration, 'id' | 'description'>): AlarmDeclaration => (
      { id: pascal(name) + suffix, description: alarmText({ happens, runbook: runbooks.workers, query: WORKER_FAULTS_QUERY, impacts: [impact] }), ...rest }
    );
    return [
      alarm('Fails', `The worker ${name} failed at least ${FAILURES} times in 5 minutes.`, { metric: workerFailures(name, construct.function, serviceName), threshold: FAILURES }),
      ...('inserts' in on ? [
        alarm('Behind', `The worker ${name} is ${BEHIND_MINUTES} minutes behind the table's stream.`, {
          metric: functionMetric(construct.function, 'IteratorAge', 'Maximum'), threshold: BEHIND_MINUTES * 60_000,
        }),
      ] : []),
      ...('every' in on ? [
        alarm('Stopped', `The worker ${name}, which runs every minute, has not run for ${PERIODS_WITHOUT_TICK * 5} minutes.`, {
          metric: functionMetric(construct.function, 'Invocations', 'Sum'), threshold: 1, periods: PERIODS_WITHOUT_TICK, whenMissing: true,
        }),
      ] : []),
    ];
  });
}

/** Deliveries are late, whichever part is to blame. */
export function deliveryAlarms({ settings: { serviceName } }: MonitoringProps): AlarmDeclaration[] {
  const describe = (happens: string, impact: string) => alarmText({ happens, runbook: runbooks.lateDeliveries, impacts: [impact] });
  return [
    {
      id: 'DeliveriesOverdue',
      metric: deliveryMetric('OldestOverdue', serviceName, 'Maximum'),
      threshold: OVERDUE_MINUTES * 60,
      description: describe(`A delivery has been overdue for ${OVERDUE_MINUTES} minutes: its messages get lost, or workers cannot keep up.`, 'customers get webhooks late, or not until this is repaired'),
    },
    {
      id: 'FanOutLate',
      metric: deliveryMetric('FanOutLag', serviceName, 'p99'),
      threshold: FAN_OUT_SECONDS * 1000,
      description: describe(`Events take ${FAN_OUT_SECONDS} s and more until their deliveries are queued.`, 'customers get webhooks and notification mails late'),
    },
    {
      id: 'FirstAttemptLate',
      metric: deliveryMetric('CommitToFirstAttempt', serviceName, 'p99'),
      threshold: FIRST_ATTEMPT_SECONDS * 1000,
      periods: PERIODS_OF_LATENESS,
      description: describe(`For ${PERIODS_OF_LATENESS * 5} minutes, one first attempt in a hundred has come ${FIRST_ATTEMPT_SECONDS} s or more after its event.`, 'customers get webhooks late'),
    },
  ];
}
