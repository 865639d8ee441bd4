import type { Function } from 'aws-cdk-lib/aws-lambda';
import type { Worker } from '../../lib/app/worker.ts';
import { faultsMetric } from '../../lib/observability/faults.ts';
import { MAX_RECEIVE_COUNT, type QueueDeclaration, queues as declarations } from '../../lib/workers/queues.ts';
import { pascal } from '../constructs/names.ts';
import { queueNames } from '../constructs/queues.ts';
import { openQuery, workerQueries } from '../constructs/savedQueries.ts';
import type { AlarmDeclaration, CompositeName, MonitoringProps } from './alarms.ts';
import { usesModels } from './composites.ts';
import { workersByWeight } from './impacts.ts';
import {
  chatFailures,
  deliveryMetric,
  functionMetric,
  mailFailures,
  queueMetric,
  stoppedLoops,
  workerCrashes,
  workerFaults,
} from './metrics.ts';

/** Failures of one worker in five minutes. */
const FAILURES = 5;
/** A worker with a timer counts as stopped after this many periods of five minutes. */
const PERIODS_WITHOUT_RUN = 3;
const BEHIND_MINUTES = 5;
const OVERDUE_MINUTES = 10;
const FAN_OUT_SECONDS = 30;
const FIRST_ATTEMPT_SECONDS = 5;
/**
 * With the default schedule, a mail fails five times with a retry. In a long outage, five mails an hour make 2.1 failed
 * attempts in five minutes on average, so some periods have five. With a much higher threshold, five mails an hour
 * would be lost without an alarm.
 */
const MAIL_ATTEMPTS = 5;
/** With few events, a single slow delivery is already the 99th percentile, so one late period means nothing. */
const LATE_PERIODS = 3;

/** Returns alarms on dead letters, and on old messages of queues with `lateAfterSeconds`. */
export function queueAlarms(
  { queues, streamDeadLetters, settings }: MonitoringProps,
  stackName: string,
): AlarmDeclaration[] {
  const firstStep = openQuery(stackName, workerQueries.faults);
  // The messages of these two queues wait for one dependency only.
  const lateCauses: Partial<Record<(typeof queueNames)[number], CompositeName>> = {
    mail: 'MailCause',
    ...(usesModels(settings) && { embed: 'ModelCause' }),
  };
  return [
    ...queueNames.flatMap((name): AlarmDeclaration[] => {
      const { purpose, impact, lateAfterSeconds }: QueueDeclaration = declarations[name];
      const deadLetters: AlarmDeclaration = {
        id: `${pascal(name)}DeadLettersFilled`,
        metric: queueMetric(queues[name].deadLetters, 'ApproximateNumberOfMessagesVisible'),
        threshold: 1,
        notices: { through: 'DeadLettersFilled' },
        text: {
          broken: `Messages of queue ${name} (${purpose}) are in its dead-letter queue.`,
          impacts: [impact],
          threshold: `1 message. It failed ${MAX_RECEIVE_COUNT} times.`,
          firstStep,
          runbook: 'dead-letters',
          severity: 'low',
        },
      };
      if (lateAfterSeconds === undefined) return [deadLetters];
      const late: AlarmDeclaration = {
        id: `${pascal(name)}Late`,
        metric: queueMetric(queues[name].queue, 'ApproximateAgeOfOldestMessage'),
        threshold: lateAfterSeconds,
        notices: { through: lateCauses[name] ?? 'QueuesCause' },
        text: {
          broken: `Messages wait too long in queue ${name} (${purpose}).`,
          impacts: [impact],
          threshold: `the oldest message is ${lateAfterSeconds / 60} minutes old.`,
          firstStep: 'look at row "Queues and workers" of the dashboard. Are messages in flight? Does the worker fail?',
          runbook: 'late-messages',
          severity: 'high',
        },
      };
      return [deadLetters, late];
    }),
    {
      id: 'StreamDeadLettersFilled',
      metric: queueMetric(streamDeadLetters, 'ApproximateNumberOfMessagesVisible'),
      threshold: 1,
      notices: { through: 'DeadLettersFilled' },
      text: {
        broken: "Lambda skipped records of the table's stream after many failed tries.",
        impacts: ['customers get the webhooks, mails and notifications of these events late'],
        threshold: '1 batch of records.',
        firstStep,
        runbook: 'stream-dead-letters',
        severity: 'low',
      },
    },
  ];
}

export function workerAlarms(
  { workers, settings: { serviceName } }: MonitoringProps,
  stackName: string,
): AlarmDeclaration[] {
  if (workers.length === 0) return [];
  const byWeight = workersByWeight(workers.map(({ worker }) => worker));
  const impacts = byWeight.map(({ name, impact }) => `${name}: ${impact}`);
  // The authorizer has a stack of its own, with queries over its log group alone.
  const ofAuthorizer = byWeight.some(({ on }) => 'authorizes' in on)
    ? ` If it has no rows, ${openQuery(stackName, workerQueries.faults, 'live')}`
    : '';
  const crashes = workerCrashes(
    workers.map(({ worker: { name }, construct }) => ({ name, target: construct.function })),
  );
  return [
    {
      id: 'WorkersFail',
      metric: workerFaults(faultsMetric.frequentName, serviceName),
      threshold: FAILURES,
      notices: { through: 'QueuesCause' },
      impactOf: Object.fromEntries(byWeight.map(({ name, impact }) => [name, impact])),
      text: {
        broken: 'A worker fails. CloudWatch names it under "contributors in alarm".',
        impacts,
        threshold: `at least ${FAILURES} failures of one worker in 5 minutes, only from function instances in which at least 1 % of the work fails.`,
        firstStep: `${openQuery(stackName, workerQueries.faults)} It shows which worker fails.${ofAuthorizer}`,
        runbook: 'failing-workers',
        severity: 'high',
      },
    },
    ...crashes.map((metric, index): AlarmDeclaration => ({
      id: `WorkersCrash${index === 0 ? '' : index + 1}`,
      metric,
      threshold: FAILURES,
      notices: { through: 'QueuesCause' },
      text: {
        broken: 'Runs of a worker crash. It cannot start, times out, or runs out of memory.',
        impacts,
        threshold: `at least ${FAILURES} crashed runs of one worker in 5 minutes.`,
        firstStep: 'look at graph "Failures" of the dashboard for the name of the worker.',
        runbook: 'crashing-workers',
        severity: 'high',
      },
    })),
    // Lambda never stops a function whose loops the template allows. For such a function, the alarm becomes active only
    // if someone changed that setting outside of the stack.
    {
      id: 'RecursiveLoopsStopped',
      metric: stoppedLoops(),
      threshold: 1,
      text: {
        broken:
          'Lambda stopped a chain of messages, because it looked like an infinite recursive loop. CloudWatch names the function under "contributors in alarm".',
        impacts,
        threshold: '1 stopped invocation of a function of this account in 5 minutes.',
        firstStep: 'look at graph "Dead letters" of the dashboard. Which queue has the message?',
        runbook: 'recursive-loops',
        severity: 'high',
      },
    },
    ...workers.flatMap(({ worker, construct }) => sourceAlarms(worker, construct.function)),
  ];
}

function sourceAlarms({ name, on, impact }: Worker, target: Function): AlarmDeclaration[] {
  if ('inserts' in on || 'changes' in on) {
    return [
      {
        id: `${pascal(name)}Behind`,
        metric: functionMetric(target, 'IteratorAge', 'Maximum'),
        threshold: BEHIND_MINUTES * 60_000,
        notices: { through: 'QueuesCause' },
        text: {
          broken: `Worker ${name} is behind the table's stream.`,
          impacts: [impact],
          threshold: `the worker received a record that was ${BEHIND_MINUTES} minutes old.`,
          firstStep: 'look for another active alarm of a worker. If there is one, follow it first.',
          runbook: 'workers-behind-the-stream',
          severity: 'high',
        },
      },
    ];
  }
  if (!('every' in on)) return [];
  return [
    {
      id: `${pascal(name)}Stopped`,
      metric: functionMetric(target, 'Invocations', 'Sum'),
      threshold: 1,
      periods: PERIODS_WITHOUT_RUN,
      isActiveBelow: true,
      text: {
        broken: `Worker ${name} does not run. It should run every minute.`,
        impacts: [impact],
        threshold: `no run for ${PERIODS_WITHOUT_RUN * 5} minutes.`,
        firstStep: 'look at graph "Runs" of the dashboard. Since when has the worker not run?',
        runbook: 'stopped-workers',
        severity: 'high',
      },
    },
  ];
}

/** These alarms watch what customers experience, whatever the cause is. */
export function deliveryAlarms({ settings: { serviceName } }: MonitoringProps, stackName: string): AlarmDeclaration[] {
  return [
    {
      id: 'DeliveriesOverdue',
      metric: deliveryMetric('OldestOverdueDeliveryAge', serviceName, 'Maximum'),
      threshold: OVERDUE_MINUTES * 60,
      notices: { through: 'QueuesCause' },
      text: {
        broken: 'Webhook deliveries are overdue. Queue messages were lost, or workers are too slow.',
        impacts: ['customers get webhooks late, some only after the repair'],
        threshold: `a delivery is ${OVERDUE_MINUTES} minutes overdue.`,
        firstStep: 'run `npm run deliveries -- status`.',
        runbook: 'overdue-deliveries',
        severity: 'high',
      },
    },
    {
      id: 'FanOutLate',
      metric: deliveryMetric('FanOutLatency', serviceName, 'p99'),
      threshold: FAN_OUT_SECONDS * 1000,
      periods: LATE_PERIODS,
      notices: { through: 'QueuesCause' },
      text: {
        broken: 'The deliveries of new events are created late.',
        impacts: ['customers get webhooks, mails and notifications late'],
        threshold: `for ${LATE_PERIODS * 5} minutes, 1 event in 100 took at least ${FAN_OUT_SECONDS} s until its deliveries were queued.`,
        firstStep: 'look at graph "Stream lag, ms" of the dashboard.',
        runbook: 'late-fan-out',
        severity: 'high',
      },
    },
    {
      id: 'FirstAttemptLate',
      metric: deliveryMetric('FirstAttemptLatency', serviceName, 'p99'),
      threshold: FIRST_ATTEMPT_SECONDS * 1000,
      periods: LATE_PERIODS,
      notices: { follows: ['TableCause', 'QueuesCause'] },
      text: {
        broken: 'First attempts to deliver webhooks are late.',
        impacts: ['customers get webhooks late'],
        threshold: `for ${LATE_PERIODS * 5} minutes, 1 first attempt in 100 started at least ${FIRST_ATTEMPT_SECONDS} s after its event.`,
        firstStep: 'look at graph "Latency after commit, ms" of the dashboard. Is fan-out also late?',
        runbook: 'late-first-attempts',
        severity: 'low',
      },
    },
    {
      id: 'MailFails',
      metric: mailFailures(serviceName),
      threshold: MAIL_ATTEMPTS,
      notices: { through: 'MailCause' },
      text: {
        broken: 'Mails cannot be sent. Amazon SES or SendGrid is down, or refuses our sender or account.',
        impacts: ['users and owners get mails late, or never if the outage is longer than the retry schedule'],
        threshold: `at least ${MAIL_ATTEMPTS} failed attempts in 5 minutes that will be retried. They are also at least 1 % of all attempts.`,
        firstStep: openQuery(stackName, workerQueries.mails),
        runbook: 'failing-mail',
        severity: 'high',
      },
    },
    {
      id: 'ChatFails',
      metric: chatFailures(serviceName),
      threshold: MAIL_ATTEMPTS,
      notices: { follows: ['TableCause', 'QueuesCause'] },
      text: {
        broken: 'Messages to Slack cannot be sent. Slack is down, or not reached.',
        impacts: [
          'users and channels get messages in Slack late, or never if the outage is longer than the retry schedule',
        ],
        threshold: `at least ${MAIL_ATTEMPTS} failed attempts in 5 minutes that will be retried. They are also at least 1 % of all attempts.`,
        firstStep: openQuery(stackName, workerQueries.mails),
        runbook: 'failing-slack',
        severity: 'low',
      },
    },
  ];
}
