import type { Uses } from '../app/capability.ts';
import type { MessageCall } from '../app/worker.ts';
import * as logMessages from '../observability/logMessages.ts';
import { planAttempt } from '../workers/rules/schedule.ts';
import type { QueueSender } from '../workers/sender.ts';
import {
  type JobKind,
  type JobKindOn,
  type JobMessage,
  jobMessage,
  type JobQueue,
  type JobStore,
  type StepResult,
  type StoredJob,
} from './jobStore.ts';

/** A step must be idempotent, because it can run twice, in parallel, or from older progress. */
export type Step = (job: StoredJob, clock: () => number, call: StepCall) => Promise<StepResult>;
export type StepCall = Pick<MessageCall<JobMessage, Uses>, 'log' | 'measures'>;

export interface RunJobDeps<Q extends JobQueue = 'jobs'> {
  readonly jobs: Pick<JobStore, 'get' | 'change' | 'end'>;
  readonly steps: Readonly<Record<JobKindOn<Q>, Step>>;
  readonly queue: QueueSender;
}

/** Milliseconds. The timeout of the function is shorter, so no worker runs a job after its lease. */
const LEASE = 90_000;
const STOP_BEFORE_DEADLINE = 20_000;
/** After this time a new message is sent, so that jobs of other tenants run first. */
const MAX_RUN_MILLISECONDS = 10_000;
/** The sweep sends another message after this time if the first one is lost. */
const MARGIN = 5 * 60_000;
/**
 * A job whose wait ends later than this after its creation gets no message from the worker: the sweep continues it.
 * Jobs that only limit their rate (`isPaced`) are exempt.
 */
const MAX_CHAIN_MILLISECONDS = 60 * 60_000;
const MAX_PAUSE_MILLISECONDS = 6 * 60 * 60_000;

/**
 * Runs steps for about 10 seconds, then sends a message for the next run. Rethrows errors of a step. Each step writes
 * progress and lease under the revision that was read, so only one worker continues. The sweep continues an interrupted
 * job. A job that always fails is retried with growing pauses and never deleted.
 */
export async function runJob<Q extends JobQueue = 'jobs'>(
  { jobs, steps, queue }: RunJobDeps<Q>,
  {
    message,
    clock,
    deadline,
    log,
    measures,
  }: Pick<MessageCall<JobMessage, Uses>, 'message' | 'clock' | 'deadline' | 'log' | 'measures'>,
): Promise<void> {
  const startedAt = clock();
  const job = await jobs.get(message);
  if (!job || Math.max(job.leaseUntil ?? 0, job.notBefore ?? 0) > clock()) return;
  const step = (steps as Readonly<Partial<Record<JobKind, Step>>>)[job.kind];
  if (!step) throw new Error(`The worker of another queue runs jobs of the kind ${job.kind}`);
  let leased = await jobs.change(job, newLease(clock(), (job.tries ?? 0) + 1));
  while (leased !== 'lost') {
    const ran: StoredJob = leased;
    const findWoken = async () => {
      const stored = await jobs.get(message);
      return stored?.isWoken && stored.leaseUntil === ran.leaseUntil ? stored : undefined;
    };
    /** After a lost write: continues with the next step if the job was only woken during the last one. */
    const stepAgain = async (progress?: object) => {
      const woken = await findWoken();
      return woken ? jobs.change(woken, { ...(progress && { progress }), ...newLease(clock(), 1) }) : 'lost';
    };
    const result = await step(ran, clock, { log, measures });
    if (result === 'done') {
      if ((await jobs.end(ran)) === 'done') return;
      leased = await stepAgain();
      if (leased === 'lost') return;
      continue;
    }
    const { progress, notBefore, isPaced } = result;
    const now = clock();
    if (notBefore !== undefined && notBefore > now) {
      const { dueAt, delaySeconds } = planAttempt(notBefore, now, 0);
      if ((await jobs.change(ran, { ...noLease, progress, notBefore, dueAt })) === 'lost') {
        leased = await stepAgain(progress);
        continue;
      }
      // Without this message, the sweep would find the job up to a minute later.
      const isChained = isPaced || notBefore <= ran.createdAt + MAX_CHAIN_MILLISECONDS;
      return delaySeconds !== undefined && isChained ? queue.send([jobMessage(message, delaySeconds)]) : undefined;
    }
    if (now > Math.min(deadline - STOP_BEFORE_DEADLINE, startedAt + MAX_RUN_MILLISECONDS)) {
      const released = { ...noLease, progress, dueAt: now + MARGIN };
      if ((await jobs.change(ran, released)) === 'lost') {
        const woken = await findWoken();
        if (!woken || (await jobs.change(woken, released)) === 'lost') break;
      }
      return queue.send([jobMessage(message)]);
    }
    leased = await jobs.change(ran, { progress, ...newLease(now, 1) });
    if (leased === 'lost') leased = await stepAgain(progress);
  }
  log.warn(logMessages.jobLeaseHeld, { jobId: message.jobId });
}

const noLease = { leaseUntil: undefined, notBefore: undefined, tries: undefined };

function newLease(now: number, tries: number) {
  const dueAt = now + Math.min(LEASE * 2 ** (tries - 1), MAX_PAUSE_MILLISECONDS);
  return { leaseUntil: now + LEASE, notBefore: undefined, tries, dueAt };
}
