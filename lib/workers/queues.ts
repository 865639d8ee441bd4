import type { QueueName } from '../app/capability.ts';

/** A queue. The worker that declares it is its consumer. */
export interface QueueDeclaration {
  readonly purpose: string;
  /** The text of its alarms: what is broken, and for whom, while messages wait or go to the dead-letter queue. */
  readonly impact: string;
  /** The most messages of one invocation of the consumer. */
  readonly batchSize: number;
  /** The most invocations of the consumer at the same time. */
  readonly maxConcurrency: number;
  /** The age of the oldest message that raises an alarm. None for a queue whose messages may wait. */
  readonly lateAfterSeconds?: number;
}

/**
 * All queues. They are standard queues: at-least-once, without order. A message only repeats what the table knows, so that the sweeper can
 * replace a lost one.
 */
export const queues = {
  deliver: {
    purpose: 'First attempts to deliver webhooks',
    impact: 'customers get webhooks late',
    batchSize: 10,
    // 1,000 attempts at the same time. Fair queues need room: hanging receivers must not use all of it.
    maxConcurrency: 100,
    lateAfterSeconds: 600,
  },
  deliverSlow: {
    purpose: 'Retries and replays of webhooks, separate so that first attempts never wait for them',
    impact: 'retries of failed webhooks are late',
    batchSize: 10,
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
    impact: 'replays and purge jobs are stalled',
    batchSize: 1,
    maxConcurrency: 5,
  },
  embed: {
    purpose: 'Judgments without vectors, separate so that a slow model does not delay other jobs',
    impact: 'judgments are not found by meaning',
    batchSize: 1,
    // Each invocation calls the model eight times in parallel.
    maxConcurrency: 4,
  },
} as const satisfies Readonly<Record<QueueName, QueueDeclaration>>;

/** How often a message is delivered before it goes to the dead-letter queue. */
export const MAX_RECEIVE_COUNT = 5;

/** The environment variable with the address of each queue. */
export const queueVariable = {
  deliver: 'DELIVER_QUEUE_URL',
  deliverSlow: 'DELIVER_SLOW_QUEUE_URL',
  mail: 'MAIL_QUEUE_URL',
  jobs: 'JOBS_QUEUE_URL',
  embed: 'EMBED_QUEUE_URL',
} as const satisfies Readonly<Record<QueueName, string>>;
