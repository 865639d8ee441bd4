import type { Function } from 'aws-cdk-lib/aws-lambda';
import { queues as declarations, type QueueDeclaration } from '../../lib/workers/queues.ts';
import type { Worker } from '../../lib/app/worker.ts';
import { type AlarmText, runbooks } from './alarmText.ts';
import { deliveryMetric, functionMetric, queueMetric, workerCrashes, workerFaults } from './metrics.ts';
import type { AlarmDeclaration, MonitoringProps } from './alarms.ts';
import { pascal } from '../constructs/names.ts';
import { queueNames } from '../constructs/queues.ts';
import { queryName, workerQueries } from './savedQueries.ts';

/** How many failures of a worker within five minutes wake someone. */
const FAILURES = 5;
/** Periods of five minutes without a tick after which a timer counts as stopped. */
const PERIODS_WITHOUT_TICK = 3;
const BEHIND_MINUTES = 5;
const OVERDUE_MINUTES = 10;
const FAN_OUT_SECONDS = 30;
const FIRST_ATTEMPT_SECONDS = 5;
/** How many attempts to send a mail within five minutes: one customer's provider that is away for a moment is nobody's night. */
const MAIL_ATTEMPTS = 10;
/** One slow delivery in a quiet hour is its own 99th percentile: it has to last. */
const PERIODS_OF_LATENESS = 3;

/** Something lies in a dead-letter queue; the oldest message of a queue that must be quick waits. */
export function queueAlarms({ queues, streamDeadLetters }: MonitoringProps, stackName: string): AlarmDeclaration[] {
  const query = queryName(stackName, workerQueries.faults);
  return [
    ...queueNames.flatMap((name): AlarmDeclaration[] => {
      const { purpose, impact, lateAfterSeconds }: QueueDeclaration = declarations[name];
      const deadLetters: AlarmDeclaration = {
        id: `${pascal(name)}DeadLettersFilled`,
        metric: queueMetric(queues[name].deadLetters, 'ApproximateNumberOfMessagesVisible'),
        threshold: 1,
        text: {
          happens: `Messages were tried in vain and lie in the dead-letter queue of ${name} (${purpose}).`,
          severity: 'low',
          runbook: runbooks.deadLetters,
          query,
          impacts: [impact],
        },
      };
      if (lateAfterSeconds === undefined) return [deadLetters];
      const late: AlarmDeclaration = {
        id: `${pascal(name)}Late`,
        metric: queueMetric(queues[name].queue, 'ApproximateAgeOfOldestMessage'),
        threshold: lateAfterSeconds,
        text: {
          happens: `A message has been in the queue ${name} (${purpose}) for ${lateAfterSeconds / 60} minutes.`,
          severity: 'high',
          runbook: runbooks.lateMessages,
          query,
          impacts: [impact],
        },
      };
      return [deadLetters, late];
    }),
    {
      id: 'StreamDeadLettersFilled',
      metric: queueMetric(streamDeadLetters, 'ApproximateNumberOfMessagesVisible'),
      threshold: 1,
      text: {
        happens: "Lambda gave up records of the table's stream.",
        severity: 'low',
        runbook: runbooks.streamDeadLetters,
        query,
        impacts: ['what follows from new items, such as deliveries of events, comes late'],
      },
    },
  ];
}

/** Workers fail, or cannot even tell that they do; one that follows the stream is behind; one that runs every minute has stopped, which nothing else would tell. */
export function workerAlarms(
  { workers, settings: { serviceName } }: MonitoringProps,
  stackName: string,
): AlarmDeclaration[] {
  if (workers.length === 0) return [];
  const query = queryName(stackName, workerQueries.faults);
  const impacts = workers.map(({ worker: { name, impact } }) => `${name}: ${impact}`);
  const crashes = workerCrashes(
    workers.map(({ worker: { name }, construct }) => ({ name, target: construct.function })),
  );
  return [
    {
      id: 'WorkersFail',
      metric: workerFaults(serviceName),
      threshold: FAILURES,
      text: {
        happens: `A worker failed at least ${FAILURES} times in 5 minutes. The alarm's contributors name it.`,
        severity: 'high',
        runbook: runbooks.failingWorkers,
        query,
        impacts,
      },
    },
    ...crashes.map((metric, index): AlarmDeclaration => ({
      id: `WorkersCrash${index === 0 ? '' : index + 1}`,
      metric,
      threshold: FAILURES,
      text: {
        happens: `At least ${FAILURES} runs of a worker broke off in 5 minutes: it cannot start, runs out of time or memory. The graph "Failures" of the dashboard shows which.`,
        severity: 'high',
        runbook: runbooks.crashingWorkers,
        query,
        impacts,
      },
    })),
    ...workers.flatMap(({ worker, construct }) => sourceAlarms(worker, construct.function, query)),
  ];
}

function sourceAlarms({ name, on, impact }: Worker, target: Function, query: string): AlarmDeclaration[] {
  const describe = (text: Omit<AlarmText, 'query' | 'impacts'>): AlarmText => ({ ...text, query, impacts: [impact] });
  if ('inserts' in on) {
    return [
      {
        id: `${pascal(name)}Behind`,
        metric: functionMetric(target, 'IteratorAge', 'Maximum'),
        threshold: BEHIND_MINUTES * 60_000,
        text: describe({
          happens: `The worker ${name} is ${BEHIND_MINUTES} minutes behind the table's stream.`,
          severity: 'high',
          runbook: runbooks.workersBehind,
        }),
      },
    ];
  }
  if (!('every' in on)) return [];
  return [
    {
      id: `${pascal(name)}Stopped`,
      metric: functionMetric(target, 'Invocations', 'Sum'),
      threshold: 1,
      periods: PERIODS_WITHOUT_TICK,
      whenMissing: true,
      text: describe({
        happens: `The worker ${name}, which runs every minute, has not run for ${PERIODS_WITHOUT_TICK * 5} minutes.`,
        severity: 'high',
        runbook: runbooks.stoppedWorkers,
      }),
    },
  ];
}

/** Deliveries are late, whichever part is to blame. */
export function deliveryAlarms({ settings: { serviceName } }: MonitoringProps, stackName: string): AlarmDeclaration[] {
  const query = queryName(stackName, workerQueries.faults);
  return [
    {
      id: 'DeliveriesOverdue',
      metric: deliveryMetric('OldestOverdue', serviceName, 'Maximum'),
      threshold: OVERDUE_MINUTES * 60,
      text: {
        happens: `A delivery has been overdue for ${OVERDUE_MINUTES} minutes: its messages get lost, or workers cannot keep up.`,
        severity: 'high',
        runbook: runbooks.overdueDeliveries,
        query,
        impacts: ['customers get webhooks late, or not until this is repaired'],
      },
    },
    {
      id: 'FanOutLate',
      metric: deliveryMetric('FanOutLag', serviceName, 'p99'),
      threshold: FAN_OUT_SECONDS * 1000,
      text: {
        happens: `Events take ${FAN_OUT_SECONDS} s and more until their deliveries are queued.`,
        severity: 'high',
        runbook: runbooks.lateFanOut,
        query,
        impacts: ['customers get webhooks and notification mails late'],
      },
    },
    {
      id: 'FirstAttemptLate',
      metric: deliveryMetric('CommitToFirstAttempt', serviceName, 'p99'),
      threshold: FIRST_ATTEMPT_SECONDS * 1000,
      periods: PERIODS_OF_LATENESS,
      text: {
        happens: `For ${PERIODS_OF_LATENESS * 5} minutes, one first attempt in a hundred has come ${FIRST_ATTEMPT_SECONDS} s or more after its event.`,
        severity: 'low',
        runbook: runbooks.lateFirstAttempts,
        query,
        impacts: ['customers get webhooks late'],
      },
    },
    {
      id: 'MailFails',
      metric: deliveryMetric('MailAttemptsFailed', serviceName, 'Sum'),
      threshold: MAIL_ATTEMPTS,
      text: {
        happens: `At least ${MAIL_ATTEMPTS} attempts to send a mail failed in 5 minutes and are repeated: Amazon SES or a customer's SendGrid is away, or refuses the operator's address or account.`,
        severity: 'high',
        runbook: runbooks.failingMail,
        query: queryName(stackName, workerQueries.mails),
        impacts: ['users and owners get mails late, and not at all when it outlasts their schedule'],
      },
    },
  ];
}
