import type { QueueName } from '../app/capability.ts';

export interface QueueDeclaration {
  readonly purpose: string;
  /** Who is affected and how, if messages wait too long or become dead letters. Alarms quote it. */
  readonly impact: string;
  readonly batchSize: number;
  readonly maxConcurrency: number;
  /** The age of the oldest message at which an alarm starts. Absent if messages may wait. */
  readonly lateAfterSeconds?: number;
}

/**
 * Messages of jobs wait for up to 15 minutes on purpose, and behind other jobs. Messages of this age mean that their
 * worker does not run.
 */
const STALLED_SECONDS = 2 * 60 * 60;

/**
 * Standard queues deliver at least once and without order. A message only repeats what is in the table, so the sweep
 * can replace a lost one.
 */
export const queues = {
  deliver: {
    purpose: 'First attempts to deliver webhooks',
    impact: 'customers get webhooks late',
    batchSize: 10,
    // With `batchSize`, 1,000 messages run at the same time. Fair queues work only if hanging receivers do not use all
    // of this capacity.
    maxConcurrency: 100,
    lateAfterSeconds: 600,
  },
  deliverSlow: {
    purpose:
      'Retries, resends and recoveries of webhooks, in a separate queue so that first attempts never wait for them',
    impact: 'retries of failed webhooks are late',
    batchSize: 10,
    // No `lateAfterSeconds`: messages wait here for up to 15 minutes, and an alarm on overdue deliveries watches the
    // attempts.
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
    // Each invocation makes up to eight calls of the model at the same time.
    maxConcurrency: 4,
    lateAfterSeconds: STALLED_SECONDS,
  },
  sweep: {
    purpose: 'Shards of the table with due deliveries, mails and jobs',
    impact: 'retries after pauses of more than 15 minutes are not made, and lost queue messages are not replaced',
    batchSize: 10,
    maxConcurrency: 20,
    // The worker drops messages older than a minute, so older ones mean that it does not run.
    lateAfterSeconds: 600,
  },
} as const satisfies Readonly<Record<QueueName, QueueDeclaration>>;

export const MAX_RECEIVE_COUNT = 5;

export const queueVariable = {
  deliver: 'DELIVER_QUEUE_URL',
  deliverSlow: 'DELIVER_SLOW_QUEUE_URL',
  mail: 'MAIL_QUEUE_URL',
  jobs: 'JOBS_QUEUE_URL',
  embed: 'EMBED_QUEUE_URL',
  sweep: 'SWEEP_QUEUE_URL',
} as const satisfies Readonly<Record<QueueName, string>>;
