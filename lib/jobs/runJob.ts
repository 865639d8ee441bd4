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
import type { MessageCall } from '../app/worker.ts';
import * as logMessages from '../observability/logMessages.ts';

/** Does a step of a job, for a second or two. Done again, beside itself or from an earlier state, it does no harm. */
export type Step = (job: StoredJob, clock: () => number) => Promise<StepResult>;

export interface RunJobDeps<Q extends JobQueue = 'jobs'> {
  readonly jobs: Pick<JobStore, 'get' | 'change' | 'end'>;
  /** For each kind of job whose messages come by the queue. */
  readonly steps: Readonly<Record<JobKindOn<Q>, Step>>;
  /** The queue that the message came by. */
  readonly queue: QueueSender;
}

/** Longer than a function runs, so that nobody is at a job when its lease is over. */
const LEASE = 90_000;
/** No step is begun so shortly before the end. */
const SPARE = 20_000;
/** A job goes on for so long at a time. Then it goes to the end of the queue, and jobs of other tenants have their turn. */
const TURN = 10_000;
/** How long the message that a job goes on by may take, before the sweeper sends another. */
const MARGIN = 5 * 60_000;
/** The longest that the sweeper waits before it begins a job once more that fails always. */
const LONGEST_PAUSE = 6 * 60 * 60_000;

/**
 * Goes on with a job as long as there is time, a step after the other; then, or when there is nothing to do before a later time, by another
 * message. Each step is written down with the job's lease, by the revision that was read: of two who have the same job, one goes on. When a
 * run ends half-way the sweeper finds the job once its lease is over, and the next one goes on from the last step. Where every run ends that
 * way it waits longer each time, up to six hours, and the job stays until it is done; what a step throws is thrown on, for the message.
 */
export async function runJob<Q extends JobQueue = 'jobs'>(
  { jobs, steps, queue }: RunJobDeps<Q>,
  {
    message,
    clock,
    deadline,
    log,
  }: Pick<MessageCall<JobMessage, Record<never, never>>, 'message' | 'clock' | 'deadline' | 'log'>,
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
    const result = await step(mine, clock);
    if (result === 'done') return jobs.end(mine);
    const { progress, notBefore } = result;
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
      // The sweeper would find it as well, up to a minute later.
      const delaySeconds = Math.ceil((notBefore - now) / 1000);
      return delaySeconds <= LONGEST_DELAY_SECONDS ? queue.send([jobMessage(message, delaySeconds)]) : undefined;
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
