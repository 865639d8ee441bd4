import type { QueueName } from '../app/capability.ts';

/** A queue. Its consumer is the worker that names it as its event source. */
export interface QueueDeclaration {
  readonly purpose: string;
  /** What is broken, and for whom, if messages wait too long or become dead letters. The texts of alarms contain it. */
  readonly impact: string;
  /** The most messages in one invocation of the consumer. */
  readonly batchSize: number;
  /** The most parallel invocations of the consumer. */
  readonly maxConcurrency: number;
  /** An alarm starts at this age of the oldest message. Absent for a queue whose messages may wait. */
  readonly lateAfterSeconds?: number;
}

/**
 * Messages of jobs may wait: for up to 15 minutes on purpose, and behind many other jobs. Older messages mean that their worker
 * does not run.
 */
const STALLED_SECONDS = 2 * 60 * 60;

/**
 * All queues. They are standard queues, with at-least-once delivery and without order. A message only repeats what is in the table,
 * so the sweep, which runs every minute, can replace a lost message.
 */
export const queues = {
  deliver: {
    purpose: 'First attempts to deliver webhooks',
    impact: 'customers get webhooks late',
    batchSize: 10,
    // Together with `batchSize`, this allows 1,000 messages at the same time. Fair queues work only if receivers that hang do not
    // use all of this capacity.
    maxConcurrency: 100,
    lateAfterSeconds: 600,
  },
  deliverSlow: {
    purpose:
      'Retries, resends and recoveries of webhooks, in a separate queue so that first attempts never wait for them',
    impact: 'retries of failed webhooks are late',
    batchSize: 10,
    // Messages wait here for up to 15 minutes on purpose. The alarm on overdue deliveries watches the time of the attempts instead.
    maxConcurrency: 20,
  },
  mail: {
    purpose: 'Mails to send',
    impact: 'users get notification mails late',
    batchSize: 10,
    maxConcurrency: 10,
    lateAfterSeconds: 900,
  },
  jobs: {
    purpose: 'Long jobs, one step per message',
    impact: 'recoveries of webhooks and purge jobs are stalled',
    batchSize: 1,
    maxConcurrency: 5,
    lateAfterSeconds: STALLED_SECONDS,
  },
  embed: {
    purpose: 'Judgments without vectors, in a separate queue so that a slow model does not delay other jobs',
    impact: 'judgments are not found by meaning',
    batchSize: 1,
    // The limit is low, because each invocation calls the model eight times in parallel.
    maxConcurrency: 4,
    lateAfterSeconds: STALLED_SECONDS,
  },
  sweep: {
    purpose: 'Shards of the table with due deliveries, mails and jobs',
    impact: 'retries after pauses of more than 15 minutes are not made, and lost queue messages are not replaced',
    batchSize: 10,
    maxConcurrency: 20,
    // The worker drops messages older than a minute. Older messages in the queue mean that the worker does not run.
    lateAfterSeconds: 600,
  },
} as const satisfies Readonly<Record<QueueName, QueueDeclaration>>;

/** A message becomes a dead letter after SQS has delivered it this many times. */
export const MAX_RECEIVE_COUNT = 5;

/** The environment variables with the addresses of the queues. */
export const queueVariable = {
  deliver: 'DELIVER_QUEUE_URL',
  deliverSlow: 'DELIVER_SLOW_QUEUE_URL',
  mail: 'MAIL_QUEUE_URL',
  jobs: 'JOBS_QUEUE_URL',
  embed: 'EMBED_QUEUE_URL',
  sweep: 'SWEEP_QUEUE_URL',
} as const satisfies Readonly<Record<QueueName, string>>;
