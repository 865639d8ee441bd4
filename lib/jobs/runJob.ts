import {
  type JobKind,
  type JobKindOn,
  jobMessage,
  type JobMessage,
  type JobQueue,
  type JobStore,
  type StepResult,
  type StoredJob,
} from './jobStore.ts';
import type { QueueSender } from '../workers/sender.ts';
import { LONGEST_DELAY_SECONDS } from '../shared/sqsLimits.ts';
import type { Uses } from '../app/capability.ts';
import type { MessageCall } from '../app/worker.ts';
import * as logMessages from '../observability/logMessages.ts';

/** Runs a step of a job, for a second or two. It is idempotent: it may run twice, concurrently or from an older progress. */
export type Step = (job: StoredJob, clock: () => number, call: StepCall) => Promise<StepResult>;
export type StepCall = Pick<MessageCall<JobMessage, Uses>, 'log' | 'measures'>;

export interface RunJobDeps<Q extends JobQueue = 'jobs'> {
  readonly jobs: Pick<JobStore, 'get' | 'change' | 'end'>;
  /** The step of each kind of job on the queue. */
  readonly steps: Readonly<Record<JobKindOn<Q>, Step>>;
  /** The queue of the message. */
  readonly queue: QueueSender;
}

/** The lease, milliseconds. Longer than a function runs, so that no worker runs a job after its lease. */
const LEASE = 90_000;
/** No step starts in the last milliseconds before the deadline. */
const SPARE = 20_000;
/** How long one message runs a job, milliseconds. Then a new message lets jobs of other tenants run first. */
const TURN = 10_000;
/** How long the next message may take before the sweeper sends another, milliseconds. */
const MARGIN = 5 * 60_000;
/** How long after its start a job that waits sends the message of its next run itself, milliseconds. Then the sweeper does: every chain of messages ends. */
const LONGEST_WAIT = 60 * 60_000;
/** The longest pause between runs of a job that always fails, milliseconds. */
const LONGEST_PAUSE = 6 * 60 * 60_000;

/**
 * Runs steps of a job as long as there is time. Then, or if the next step starts later, it sends a message for the next run.
 * Each step is written with the lease at the revision that was read (optimistic lock): only one worker continues. If a run
 * is interrupted, the sweeper finds the job after its lease, and the next run starts at the last finished step. A job that
 * always fails is retried with growing pauses of up to six hours, and is never dropped. Rethrows errors of a step.
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
  const hold = (tries: number) => {
    const now = clock();
    return {
      leaseUntil: now + LEASE,
      notBefore: undefined,
      tries,
      dueAt: now + Math.min(LEASE * 2 ** (tries - 1), LONGEST_PAUSE),
    };
  };
  const startedAt = clock();
  const job = await jobs.get(message);
  if (!job || Math.max(job.leaseUntil ?? 0, job.notBefore ?? 0) > clock()) return;
  const step = (steps as Readonly<Partial<Record<JobKind, Step>>>)[job.kind];
  if (!step) throw new Error(`Jobs of the kind ${job.kind} are done by the worker of another queue`);
  let mine = await jobs.change(job, hold((job.tries ?? 0) + 1));
  while (mine !== 'lost') {
    const result = await step(mine, clock, { log, measures });
    if (result === 'done') return jobs.end(mine);
    const { progress, notBefore, isPaced } = result;
    const now = clock();
    if (notBefore !== undefined && notBefore > now) {
      if (
        (await jobs.change(mine, {
          progress,
          leaseUntil: undefined,
          notBefore,
          tries: undefined,
          dueAt: notBefore,
        })) === 'lost'
      )
        break;
      // Faster than the sweeper, which finds the job up to a minute later.
      const delaySeconds = Math.ceil((notBefore - now) / 1000);
      const isChained = isPaced || notBefore <= mine.createdAt + LONGEST_WAIT;
      const isNear = delaySeconds <= LONGEST_DELAY_SECONDS && isChained;
      return isNear ? queue.send([jobMessage(message, delaySeconds)]) : undefined;
    }
    if (now > Math.min(deadline - SPARE, startedAt + TURN)) {
      if (
        (await jobs.change(mine, {
          progress,
          leaseUntil: undefined,
          notBefore: undefined,
          tries: undefined,
          dueAt: now + MARGIN,
        })) === 'lost'
      )
        break;
      return queue.send([jobMessage(message)]);
    }
    mine = await jobs.change(mine, { progress, ...hold(1) });
  }
  log.warn(logMessages.jobLeaseHeld, { jobId: message.jobId });
}
