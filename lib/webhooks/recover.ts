import { createHash } from 'node:crypto';
import * as z from 'zod';
import { building, type Capability } from '../app/capability.ts';
import { type DeliveryStore, type DueDelivery, repeatDeliveries } from './deliveries.ts';
import { countFailedDeliveries, type FailedDeliveries, findFailedDeliveries } from './failedDeliveries.ts';
import { beginJobs, jobMessage, type JobStore, type StoredJob } from '../jobs/jobStore.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import type { Timing } from './rules/schedule.ts';
import type { Log } from '../app/endpoint.ts';
import { invalid } from '../shared/errors.ts';
import { inParallel } from '../shared/inParallel.ts';
import { sendTo } from '../workers/queues.ts';
import type { QueueSender } from '../workers/sender.ts';
import { notifyQueue } from './notifyQueue.ts';
import { messageAbout } from './deliveryMessage.ts';
import { deliveryTiming } from './deliveryTiming.ts';

/** How many messages one recovery takes. */
const MOST = 10_000;
const PAGE = 100;
const PARALLEL = 8;
/** How long whoever begins a recovery has to send its message, before the sweeper does. */
const TIME_TO_BEGIN = 60_000;
/** How many recovered messages per second are sent to an endpoint, which has just come back. All of them are in 200 s, so that SQS can delay each. */
const PER_SECOND = 50;

const Recovery = z.object({ endpointId: z.string(), since: z.number(), until: z.number(), messages: z.number() });
const Progress = z.object({
  /** When it began, epoch ms. */
  startedAt: z.number(),
  recovered: z.number(),
  after: z.string().optional(),
});

export interface BeginRecoveryDeps {
  readonly failed: Pick<FailedDeliveries, 'count'>;
  readonly jobs: Pick<JobStore, 'begin' | 'get'>;
  /** The queue of jobs. */
  readonly queue: QueueSender;
}

export interface RecoveryRequest {
  readonly tenant: string;
  readonly endpointId: string;
  /** Epoch ms. */
  readonly since: number;
}

/**
 * Begins the recovery of the messages to an endpoint since a time that have failed up to now, and gives how many they are. The same one
 * once more, while it is under way, is that one. INVALID_ARGUMENT when there are more than `most`.
 */
export async function beginRecovery(
  deps: BeginRecoveryDeps,
  { tenant, endpointId, since }: RecoveryRequest,
  now: number,
  log: Log,
  most = MOST,
): Promise<number> {
  const jobId = `job_recover_${createHash('sha256')
    .update(JSON.stringify([endpointId, since]))
    .digest('base64url')}`;
  return retryOnConflict(async () => {
    const running = await deps.jobs.get({ tenant, jobId });
    if (running) return Recovery.parse(JSON.parse(running.data)).messages;
    const messages = await deps.failed.count({ tenant, endpointId, since, until: now }, most);
    if (messages > most) throw tooMany(most);
    if (messages === 0) return 0;
    const data: z.output<typeof Recovery> = { endpointId, since, until: now, messages };
    if (
      (await deps.jobs.begin(tenant, { jobId, kind: 'recoverDeliveries', data, dueAt: now + TIME_TO_BEGIN }, now)) ===
      'exists'
    )
      return 'conflict';
    await notifyQueue(deps.queue, [jobMessage({ tenant, jobId })], log);
    return messages;
  });
}

function tooMany(most: number): Error {
  return invalid({
    path: ['since'],
    code: 'too_many_messages',
    message: `since: more than ${most} messages failed since then; take a later time`,
  });
}

export interface RecoverDeps {
  readonly failed: Pick<FailedDeliveries, 'list'>;
  readonly deliveries: Pick<DeliveryStore, 'recover'>;
  /** The queue of further attempts. */
  readonly slow: QueueSender;
  readonly timing: Timing;
}

/**
 * A step of a recovery: begins the schedules of a page of deliveries anew, each with its message. Gives how far it got then, or `done`. It can be
 * done again: what is pending is left alone, and looked after by the sweeper. Attempts are spread over time, as many as 10,000 must not meet an
 * endpoint at once.
 */
export async function recoverStep(
  deps: RecoverDeps,
  { tenant, data, progress }: Pick<StoredJob, 'tenant' | 'data' | 'progress'>,
  clock: () => number,
): Promise<object | 'done'> {
  const { endpointId, since, until } = Recovery.parse(JSON.parse(data));
  const so = progress === undefined ? { startedAt: clock(), recovered: 0 } : Progress.parse(JSON.parse(progress));
  const { deliveries, next } = await deps.failed.list(
    { tenant, endpointId, since, until },
    { limit: PAGE, after: so.after },
  );
  const due: DueDelivery[] = [];
  await inParallel([...deliveries.entries()], PARALLEL, async ([index, delivery]) => {
    const turn = so.startedAt + Math.floor((so.recovered + index) / PER_SECOND) * 1000;
    const recovered = await deps.deliveries.recover(delivery, Math.max(clock(), turn), deps.timing);
    if (recovered) due.push(recovered);
  });
  const now = clock();
  await deps.slow.send(due.flatMap((delivery) => messageAbout(delivery, now)));
  if (next === undefined) return 'done';
  const reached: z.output<typeof Progress> = {
    startedAt: so.startedAt,
    recovered: so.recovered + due.length,
    after: next,
  };
  return reached;
}

/** Begin recoveries. */
export const beginsRecoveries: Capability<BeginRecoveryDeps> = /* @__PURE__ */ building(
  [countFailedDeliveries, beginJobs, sendTo.jobs],
  {
    grants: [],
    env: [],
    open: (env) => ({
      failed: countFailedDeliveries.open(env),
      jobs: beginJobs.open(env),
      queue: sendTo.jobs.open(env),
    }),
  },
);

/** Recover deliveries. */
export const recovers: Capability<RecoverDeps> = /* @__PURE__ */ building(
  [findFailedDeliveries, repeatDeliveries, sendTo.deliverSlow, deliveryTiming],
  {
    grants: [],
    env: [],
    open: (env) => ({
      failed: findFailedDeliveries.open(env),
      deliveries: repeatDeliveries.open(env),
      slow: sendTo.deliverSlow.open(env),
      timing: deliveryTiming.open(env),
    }),
  },
);
