import { hash } from 'node:crypto';
import * as z from 'zod';
import { combine } from '../app/capability.ts';
import { type JobStore, notifyJobs, startJobs, type StoredJob } from '../jobs/jobStore.ts';
import type { Log } from '../observability/log.ts';
import { invalid } from '../shared/errors.ts';
import { inParallel } from '../shared/inParallel.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import type { Timing } from '../workers/rules/schedule.ts';
import type { QueueSender } from '../workers/sender.ts';
import * as sendTo from '../workers/sendTo.ts';
import { countFailedDeliveries, type DeliveryStore, recoverDeliveries } from './deliveries.ts';
import { deliveryTiming, nextAttemptMessages } from './deliveryMessage.ts';
import type { EndpointKey } from './targets.ts';

const MOST = 10_000;
const PAGE = 100;
const PARALLEL = 8;
const TIME_TO_START = 60_000;
/** The last of 10,000 messages is delayed by 200 s. SQS delays by up to 900 s. */
const PER_SECOND = 50;

const DAY = 24 * 60 * 60 * 1000;
const MAX_DAYS = 14;

const Recovery = z.object({ endpointId: z.string(), since: z.number(), until: z.number(), messages: z.number() });
const Progress = z.object({
  startedAt: z.number(),
  recovered: z.number(),
  after: z.string().optional(),
});

/** Throws INVALID_ARGUMENT if `since` (epoch ms) is more than 14 days ago. */
export function requireRecoverable(since: number, now: number): void {
  if (since >= now - MAX_DAYS * DAY) return;
  throw invalid({ path: ['since'], code: 'too_early', message: `since must be at most ${MAX_DAYS} days ago` });
}

export interface StartRecoveryPorts {
  readonly deliveries: Pick<DeliveryStore, 'countFailed'>;
  readonly jobs: Pick<JobStore, 'start' | 'get'>;
  readonly queue: QueueSender;
}

export interface RecoveryRequest extends EndpointKey {
  readonly since: number;
}

/**
 * Returns the number of messages. A running job for the same endpoint and `since` is not started again. Throws
 * INVALID_ARGUMENT for more than `most`.
 */
export async function startRecovery(
  { deliveries, jobs, queue }: StartRecoveryPorts,
  { tenant, endpointId, since }: RecoveryRequest,
  now: number,
  log: Log,
  most = MOST,
): Promise<number> {
  const digest = hash('sha256', JSON.stringify([endpointId, since]), 'base64url');
  const jobId = `job_recover_${digest}`;
  return retryOnConflict(async () => {
    const running = await jobs.get({ tenant, jobId });
    if (running) return Recovery.parse(JSON.parse(running.data)).messages;
    const messages = await deliveries.countFailed({ tenant, endpointId, since, until: now }, most);
    if (messages > most)
      throw invalid({
        path: ['since'],
        code: 'too_many_messages',
        message: `since: more than ${most} messages failed since then; take a later time`,
      });
    if (messages === 0) return 0;
    const data: z.output<typeof Recovery> = { endpointId, since, until: now, messages };
    const job = { jobId, kind: 'recoverDeliveries', data, dueAt: now + TIME_TO_START } as const;
    if ((await jobs.start(tenant, job, now)) === 'exists') return 'conflict';
    await notifyJobs(queue, [{ tenant, jobId }], log);
    return messages;
  });
}

export interface RecoveryPorts {
  readonly deliveries: Pick<DeliveryStore, 'listFailed' | 'recover'>;
  readonly retryQueue: QueueSender;
  readonly timing: Timing;
}

/**
 * Delays the messages so that about `PER_SECOND` are attempted in a second. A step can run twice, because it skips
 * pending deliveries. The sweep replaces lost messages.
 */
export async function recoverStep(
  { deliveries, retryQueue, timing }: RecoveryPorts,
  { tenant, data, progress }: Pick<StoredJob, 'tenant' | 'data' | 'progress'>,
  clock: () => number,
): Promise<object | 'done'> {
  const { endpointId, since, until } = Recovery.parse(JSON.parse(data));
  const { startedAt, recovered, after } =
    progress === undefined
      ? { startedAt: clock(), recovered: 0, after: undefined }
      : Progress.parse(JSON.parse(progress));
  const page = await deliveries.listFailed({ tenant, endpointId, since, until }, { limit: PAGE, after });
  const outcomes = await inParallel(page.values, PARALLEL, async (delivery, index) => {
    const attemptAt = startedAt + Math.floor((recovered + index) / PER_SECOND) * 1000;
    return deliveries.recover(delivery, Math.max(clock(), attemptAt), timing);
  });
  const due = outcomes.filter((outcome) => outcome !== undefined);
  const now = clock();
  await retryQueue.send(due.flatMap((delivery) => nextAttemptMessages(delivery, now)));
  if (page.next === undefined) return 'done';
  return { startedAt, recovered: recovered + due.length, after: page.next } satisfies z.output<typeof Progress>;
}

export const startRecoveries = /* @__PURE__ */ combine({
  deliveries: countFailedDeliveries,
  jobs: startJobs,
  queue: sendTo.jobs,
});

export const runRecoveries = /* @__PURE__ */ combine({
  deliveries: recoverDeliveries,
  retryQueue: sendTo.deliverSlow,
  timing: deliveryTiming,
});
