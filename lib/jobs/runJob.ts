import type { Uses } from '../app/capability.ts';
import type { MessageCall } from '../app/worker.ts';
import * as logMessages from '../observability/logMessages.ts';
import { MAX_DELAY_SECONDS } from '../shared/sqsLimits.ts';
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

/**
 * Runs a step of a job, for a second or two. A step must be idempotent, because it can run twice, in parallel, or from older
 * progress.
 */
export type Step = (job: StoredJob, clock: () => number, call: StepCall) => Promise<StepResult>;
export type StepCall = Pick<MessageCall<JobMessage, Uses>, 'log' | 'measures'>;

export interface RunJobDeps<Q extends JobQueue = 'jobs'> {
  readonly jobs: Pick<JobStore, 'get' | 'change' | 'end'>;
  /** The step of each kind of job whose messages are in the queue. */
  readonly steps: Readonly<Record<JobKindOn<Q>, Step>>;
  /** The queue for the message of the next run. */
  readonly queue: QueueSender;
}

/** The length of a lease, in milliseconds. The timeout of the function is shorter, so no worker runs a job after its lease. */
const LEASE = 90_000;
/** A run starts no further step when less than this time remains before its deadline, in milliseconds. */
const STOP_BEFORE_DEADLINE = 20_000;
/**
 * How long one message runs steps of a job, in milliseconds. Then a new message is sent, so that jobs of other tenants run first.
 */
const MAX_RUN_MILLISECONDS = 10_000;
/**
 * The time that the next message may take, in milliseconds. After this time, the sweep, which runs every minute, sends another
 * message.
 */
const MARGIN = 5 * 60_000;
/**
 * A waiting job sends the message of its next run only until the job has this age, in milliseconds. Later, the sweep sends it, so
 * that every chain of messages ends. Jobs that wait only to limit their rate (`isPaced`) are exempt.
 */
const MAX_CHAIN_MILLISECONDS = 60 * 60_000;
/** The longest pause between runs of a job that always fails, in milliseconds. */
const MAX_PAUSE_MILLISECONDS = 6 * 60 * 60_000;

/**
 * Runs steps of a job for up to 10 seconds. If the job is not done then, or if its next step starts later, sends a message for the
 * next run.
 * - Optimistic lock: each step writes progress and lease only if the job has the revision that was read. Only one worker continues.
 * - After an interrupted run, the sweep finds the job when its lease has expired. The next run continues after the last finished
 *   step.
 * - A job that always fails is retried with growing pauses of up to six hours, and is never deleted.
 *
 * Rethrows errors of a step.
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
    const result = await step(leased, clock, { log, measures });
    if (result === 'done') return jobs.end(leased);
    const { progress, notBefore, isPaced } = result;
    const now = clock();
    if (notBefore !== undefined && notBefore > now) {
      if ((await jobs.change(leased, { ...noLease, progress, notBefore, dueAt: notBefore })) === 'lost') break;
      // The message starts the job on time. The sweep would find the job up to a minute later.
      const delaySeconds = Math.ceil((notBefore - now) / 1000);
      const isChained = isPaced || notBefore <= leased.createdAt + MAX_CHAIN_MILLISECONDS;
      const hasMessage = delaySeconds <= MAX_DELAY_SECONDS && isChained;
      return hasMessage ? queue.send([jobMessage(message, delaySeconds)]) : undefined;
    }
    if (now > Math.min(deadline - STOP_BEFORE_DEADLINE, startedAt + MAX_RUN_MILLISECONDS)) {
      if ((await jobs.change(leased, { ...noLease, progress, dueAt: now + MARGIN })) === 'lost') break;
      return queue.send([jobMessage(message)]);
    }
    leased = await jobs.change(leased, { progress, ...newLease(now, 1) });
  }
  log.warn(logMessages.jobLeaseHeld, { jobId: message.jobId });
}

/** The lease fields of a job that no worker runs. */
const noLease = { leaseUntil: undefined, notBefore: undefined, tries: undefined };

/**
 * Returns the fields of a job with a new lease. If no run finishes a step, the job is due again when the lease ends. Each failed
 * try doubles that time, up to six hours.
 */
function newLease(now: number, tries: number) {
  const dueAt = now + Math.min(LEASE * 2 ** (tries - 1), MAX_PAUSE_MILLISECONDS);
  return { leaseUntil: now + LEASE, notBefore: undefined, tries, dueAt };
}
