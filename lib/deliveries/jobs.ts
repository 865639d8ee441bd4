import { building, type Capability } from '../capability.ts';
import { removeRest } from '../data/content/removal.ts';
import { doJobs, type JobKind, type JobMessage, type JobStore, type StoredJob } from '../data/jobs.ts';
import { openTable } from '../data/table.ts';
import { type QueueSender, sendTo } from '../queues.ts';
import type { MessageCall } from '../worker.ts';
import { recovers, recoverStep } from './recover.ts';

/** Does a step of a job, and gives how far the job got then, or `done`. Done again, beside itself or from an earlier state, it does no harm. */
export type Step = (job: StoredJob, clock: () => number) => Promise<object | 'done'>;

export interface RunJobDeps {
  readonly jobs: Pick<JobStore, 'get' | 'change' | 'end'>;
  readonly steps: Readonly<Record<JobKind, Step>>;
  /** The queue of jobs. */
  readonly queue: QueueSender;
}

/** Longer than a function runs, so that nobody is at a job when its lease is over. */
const LEASE = 90_000;
/** No step is begun so shortly before the end. */
const SPARE = 20_000;
/** How long the message that a job goes on by may take, before the sweeper sends another. */
const MARGIN = 5 * 60_000;

/**
 * Goes on with a job as long as there is time, a step after the other; then by another message. Each step is written down with the job's
 * lease, by the revision that was read: of two who have the same job, one goes on. When a run ends half-way the sweeper finds the job once
 * its lease is over, and the next one goes on from the last step.
 */
export async function runJob({ jobs, steps, queue }: RunJobDeps, { message, clock, deadline, log }: Pick<MessageCall<JobMessage, Record<never, never>>, 'message' | 'clock' | 'deadline' | 'log'>): Promise<void> {
  const hold = () => ({ leaseUntil: clock() + LEASE, dueAt: clock() + LEASE });
  const job = await jobs.get(message);
  if (!job || (job.leaseUntil ?? 0) > clock()) return;
  let mine = await jobs.change(job, hold());
  while (mine !== 'lost') {
    const progress = await steps[mine.kind](mine, clock);
    if (progress === 'done') return jobs.end(message);
    if (clock() > deadline - SPARE) {
      if ((await jobs.change(mine, { progress, leaseUntil: undefined, dueAt: clock() + MARGIN })) !== 'lost') await queue.send([{ body: message }]);
      return;
    }
    mine = await jobs.change(mine, { progress, ...hold() });
  }
  log.warn('somebody else is at the job', { jobId: message.jobId });
}

/** Run jobs of every kind. */
export const runsJobs: Capability<RunJobDeps> = /* @__PURE__ */ building([doJobs, sendTo.jobs, recovers], {
  // What removals take.
  grants: [{ resource: 'table', actions: ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'DeleteItem'] }],
  env: ['TABLE_NAME'],
  open: (env) => {
    const [table, recovery] = [openTable(env), recovers.open(env)];
    return {
      jobs: doJobs.open(env),
      queue: sendTo.jobs.open(env),
      steps: {
        recoverDeliveries: (job, clock) => recoverStep(recovery, job, clock),
        async removeRecords({ tenant, data }) {
          await removeRest(table, tenant, JSON.parse(data));
          return 'done';
        },
      },
    };
  },
});
