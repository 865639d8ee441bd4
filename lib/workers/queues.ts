import type { Capability, QueueName } from '../app/capability.ts';
import { openSender, type QueueSender } from './sender.ts';

/** What there is to know of a queue; its consumer is the worker that declares it. */
export interface QueueDeclaration {
  readonly purpose: string;
  /** What is broken for whom while its messages wait or are given up: the text of its alarms. */
  readonly impact: string;
  /** Messages that one run of the consumer's function gets. */
  readonly batchSize: number;
  /** Runs of the consumer's function at a time. */
  readonly maxConcurrency: number;
  /** The age of the oldest message at which someone is told; none for a queue whose messages may wait. */
  readonly lateAfterSeconds?: number;
}

/**
 * The queues. All are standard queues: at least once, in no order. What they carry is a hint about something that the table knows,
 * which a sweeper finds there when its message is lost.
 */
export const queues = {
  deliver: {
    purpose: 'First attempts to deliver webhooks',
    impact: 'customers get webhooks late',
    batchSize: 10,
    // 1,000 attempts at a time: receivers that hang must leave room, or quiet ones wait behind them.
    maxConcurrency: 100,
    lateAfterSeconds: 600,
  },
  deliverSlow: {
    purpose: 'Retries and replays of webhooks, apart from first attempts so that these never wait for them',
    impact: 'webhooks that failed before are repeated late',
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
    purpose: 'Long work, a step per message',
    impact: 'replays and cleanups do not get on',
    batchSize: 1,
    maxConcurrency: 5,
  },
  embed: {
    purpose: 'Judgments to make vectors of, apart from other jobs so that a model which is slow holds none of them up',
    impact: 'judgments are not found by their meaning',
    batchSize: 1,
    // Each asks the model eight times at once.
    maxConcurrency: 4,
  },
} as const satisfies Readonly<Record<QueueName, QueueDeclaration>>;

/** How often a message is tried before it goes to the dead-letter queue. */
export const MAX_RECEIVE_COUNT = 5;

/** Where a function finds the address of a queue. */
export const queueVariable = {
  deliver: 'DELIVER_QUEUE_URL',
  deliverSlow: 'DELIVER_SLOW_QUEUE_URL',
  mail: 'MAIL_QUEUE_URL',
  jobs: 'JOBS_QUEUE_URL',
  embed: 'EMBED_QUEUE_URL',
} as const satisfies Readonly<Record<QueueName, string>>;

/** Send messages, by queue. */
export const sendTo = {
  deliver: /* @__PURE__ */ sending('deliver'),
  deliverSlow: /* @__PURE__ */ sending('deliverSlow'),
  mail: /* @__PURE__ */ sending('mail'),
  jobs: /* @__PURE__ */ sending('jobs'),
  embed: /* @__PURE__ */ sending('embed'),
} as const satisfies Readonly<Record<QueueName, Capability<QueueSender>>>;

function sending(name: QueueName): Capability<QueueSender> {
  const variable = queueVariable[name];
  return {
    grants: [{ resource: `queue/${name}`, actions: ['SendMessage'] }],
    env: [variable],
    open: (env) => openSender(env[variable]),
  };
}
