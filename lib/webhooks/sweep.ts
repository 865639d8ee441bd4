import { building, type Capability } from '../app/capability.ts';
import { type DeliveryStore, type Revision, sweepDeliveries } from './deliveries.ts';
import { countAiling, type EndpointRuntime } from './endpointHealth.ts';
import { type EventStore, eventShards, findPendingEvents } from '../events/outbox.ts';
import {
  jobMessage,
  type JobQueue,
  type JobSweeper,
  jobShards,
  queueOfJob,
  type StoredJob,
  sweepJobs,
} from '../jobs/jobStore.ts';
import { isClaimed, type Pending, swept } from './rules/delivery.ts';
import type { Timing } from './rules/schedule.ts';
import { inParallel } from '../shared/inParallel.ts';
import { sendTo } from '../workers/queues.ts';
import type { QueueSender } from '../workers/sender.ts';
import type { WorkerCall } from '../app/worker.ts';
import { type Backlog, liveBacklog } from './attempt/backlog.ts';
import { fanOut, type FanOutDeps, fansOut } from '../events/fanOut.ts';
import { messageAbout } from './deliveryMessage.ts';
import { deliveryTiming } from './deliveryTiming.ts';
import * as logMessages from '../observability/logMessages.ts';

export interface SweepDeps {
  readonly deliveries: Pick<DeliveryStore, 'due' | 'replace'>;
  readonly events: Pick<EventStore, 'pending'>;
  readonly jobs: Pick<JobSweeper, 'due' | 'putOff'>;
  readonly runtime: Pick<EndpointRuntime, 'ailing'>;
  readonly fanOut: FanOutDeps;
  /** The queues of further attempts, and of jobs. */
  readonly slow: QueueSender;
  readonly jobQueues: Readonly<Record<JobQueue, QueueSender>>;
  /** How many first attempts wait in their queue. */
  readonly backlog: Backlog;
  readonly timing: Timing;
  /** After how long an event that was not fanned out is taken up, milliseconds. */
  readonly reconcileAfterMs: number;
}

export type SweepCall = Pick<WorkerCall<Record<never, never>>, 'clock' | 'deadline' | 'log' | 'measures'>;

/** A part of a sweep. */
export type Sweep = (call: SweepCall) => Promise<void>;

const PAGE = 100;
/** Writes of a shard at a time: all shards together keep about as many connections busy as the SDK has. */
const PARALLEL = 4;
/** No page is begun so shortly before the end; what is left is found in the next minute, the longest overdue first. */
const SPARE = 5_000;
/** What waits in the queue of first attempts when its consumers keep up: about what they take at once. */
const NORMAL_BACKLOG = 1_000;
/** Later than this a job that was begun must have ended, or it is begun again. */
const JOB_MILLISECONDS = 5 * 60_000;

/**
 * Sees to everything that waits for its time, or whose message was lost: deliveries, events, jobs, and `others`. Each part goes on when
 * another one fails; then the first failure is thrown.
 */
export async function sweep(deps: SweepDeps, call: SweepCall, others: readonly Sweep[] = []): Promise<void> {
  const parts: readonly Sweep[] = [
    (each) => sweepDeliveriesDue(deps, each),
    (each) => reconcile(deps, each),
    (each) => sweepJobsDue(deps, each),
    (each) => gauge(deps, each),
    ...others,
  ];
  const failures = (await Promise.allSettled(parts.map((part) => part(call)))).flatMap((result) =>
    result.status === 'rejected' ? [result.reason as unknown] : [],
  );
  for (const error of failures) call.log.error(logMessages.sweepFailed, { error });
  if (failures.length > 0) throw failures[0];
}

/** Reads page after page of every shard and works on it, all shards at the same time, as long as there is time. */
export async function ofShards<T>(
  shards: number,
  { clock, deadline }: SweepCall,
  read: (
    shard: number,
    options: { limit: number; after: string | undefined },
  ) => Promise<{ values: readonly T[]; next: string | undefined }>,
  work: (values: readonly T[]) => Promise<void>,
): Promise<void> {
  await inParallel(
    Array.from({ length: shards }, (_each, shard) => shard),
    shards,
    async (shard) => {
      let after: string | undefined;
      do {
        const { values, next } = await read(shard, { limit: PAGE, after });
        await work(values);
        after = next;
      } while (after !== undefined && clock() < deadline - SPARE);
    },
  );
}

/**
 * Sends the messages of deliveries that are due (deliveries 2.6). Each is put off first, by what was read of it: of two sweepers one sends,
 * and a message that is lost between is sent at its next time. While many first attempts wait in their queue they are put off only:
 * their messages are there, and copies would make the queue longer still.
 */
async function sweepDeliveriesDue(deps: SweepDeps, call: SweepCall): Promise<void> {
  const { deliveries, slow, timing } = deps;
  const startedAt = call.clock();
  const behind = await isBehind(deps, call);
  let [due, overdue, oldest] = [0, 0, 0];
  await ofShards(
    eventShards,
    call,
    async (shard, options) => {
      const { deliveries: values, next } = await deliveries.due(shard, startedAt, options);
      return { values, next };
    },
    async (values) => {
      const late = values.map(({ nextAt }) => startedAt - nextAt).filter((by) => by >= timing.marginMs);
      due += values.length;
      overdue += late.length;
      oldest = Math.max(oldest, ...late);
      const now = call.clock();
      const ours: (Pending & Revision)[] = [];
      await inParallel(values, PARALLEL, async (delivery) => {
        const stored = await deliveries.replace(delivery, swept(delivery, now, timing));
        if (stored !== 'lost' && !isClaimed(delivery, now) && !(behind && waitsForTheFirst(delivery)))
          ours.push(stored);
      });
      await slow.send(ours.flatMap((delivery) => messageAbout(delivery, now)));
    },
  );
  call.measures.record('DeliveriesDue', due);
  call.measures.record('DeliveriesOverdue', overdue);
  call.measures.record('OldestOverdueDeliveryAge', Math.round(oldest / 1000));
}

/** Whether first attempts wait longer than usual. When that is not known, the margin that doubles keeps copies few. */
async function isBehind({ backlog }: SweepDeps, { log }: SweepCall): Promise<boolean> {
  try {
    return (await backlog()) > NORMAL_BACKLOG;
  } catch (error) {
    log.warn(logMessages.webhookBacklogUnknown, { error });
    return false;
  }
}

function waitsForTheFirst({ attempts, otherwise }: Pending): boolean {
  return attempts === 0 && otherwise === undefined;
}

/** Fans out the events that the stream has not brought, or with which something went wrong (deliveries 2.2). */
async function reconcile(deps: SweepDeps, call: SweepCall): Promise<void> {
  const before = call.clock() - deps.reconcileAfterMs;
  let failed = 0;
  await ofShards(
    eventShards,
    call,
    async (shard, options) => {
      const { events: values, next } = await deps.events.pending(shard, before, options);
      return { values, next };
    },
    async (values) => {
      const { size } = await fanOut(deps.fanOut, values, call);
      failed += size;
    },
  );
  if (failed > 0) throw new Error(`${failed} events were not fanned out`);
}

/** Sends the messages of jobs that are due. */
async function sweepJobsDue({ jobs, jobQueues }: SweepDeps, call: SweepCall): Promise<void> {
  await ofShards(
    jobShards,
    call,
    async (shard, options) => {
      const { jobs: values, next } = await jobs.due(shard, call.clock(), options);
      return { values, next };
    },
    async (values) => {
      const ours: StoredJob[] = [];
      await inParallel(values, PARALLEL, async (job) => {
        if (await jobs.putOff(job, call.clock() + JOB_MILLISECONDS)) ours.push(job);
      });
      const queues = Object.entries(jobQueues) as [JobQueue, QueueSender][];
      await Promise.all(
        queues.map(([name, queue]) =>
          queue.send(ours.filter(({ kind }) => queueOfJob[kind] === name).map((job) => jobMessage(job))),
        ),
      );
    },
  );
}

async function gauge({ runtime }: SweepDeps, { clock, measures }: SweepCall): Promise<void> {
  const { open, warned } = await runtime.ailing(clock());
  measures.record('CircuitBreakersOpen', open);
  measures.record('EndpointsNearDisabling', warned);
}

/** Sweep. */
export const sweeps: Capability<SweepDeps> = /* @__PURE__ */ building(
  [
    sweepDeliveries,
    findPendingEvents,
    sweepJobs,
    countAiling,
    fansOut,
    sendTo.deliverSlow,
    sendTo.jobs,
    sendTo.embed,
    liveBacklog,
    deliveryTiming,
  ],
  {
    grants: [],
    env: ['RECONCILE_AFTER_SECONDS'],
    open: (env) => ({
      deliveries: sweepDeliveries.open(env),
      events: findPendingEvents.open(env),
      jobs: sweepJobs.open(env),
      runtime: countAiling.open(env),
      fanOut: fansOut.open(env),
      slow: sendTo.deliverSlow.open(env),
      jobQueues: { jobs: sendTo.jobs.open(env), embed: sendTo.embed.open(env) },
      backlog: liveBacklog.open(env),
      timing: deliveryTiming.open(env),
      reconcileAfterMs: Number(env.RECONCILE_AFTER_SECONDS) * 1000,
    }),
  },
);
