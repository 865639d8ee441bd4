import { combine } from '../app/capability.ts';
import { inParallel } from '../shared/inParallel.ts';
import { MAX_DELAY_SECONDS } from '../shared/sqsLimits.ts';
import type { QueueSender } from '../workers/sender.ts';
import * as sendTo from '../workers/sendTo.ts';
import { type ShardSweep, sweepPages } from '../workers/sweep.ts';
import { jobMessage, type JobQueue, type JobSweeper, queueOfJob, type StoredJob, sweepJobs } from './jobStore.ts';

export interface JobSweepPorts {
  readonly jobs: Pick<JobSweeper, 'listDue' | 'postpone'>;
  readonly queues: Readonly<Record<JobQueue, QueueSender>>;
}

const PARALLEL = 4;
/** Milliseconds after which a job that no worker has started is due again. */
const DUE_AGAIN_AFTER = 5 * 60_000;

/** A conditional write postpones each due job before its message is sent, so only one of several sweeps sends it. */
export function sweepDueJobs({ jobs, queues }: JobSweepPorts): ShardSweep {
  return async (shard, call) => {
    await sweepPages(
      call,
      (options) => jobs.listDue(shard, call.clock(), options),
      async (values) => {
        const postponed: StoredJob[] = [];
        await inParallel(values, PARALLEL, async (job) => {
          if (await jobs.postpone(job, call.clock() + DUE_AGAIN_AFTER)) postponed.push(job);
        });
        await Promise.all(
          Object.entries(queues).map(([name, queue]) =>
            queue.send(
              postponed
                .filter(({ kind }) => queueOfJob[kind] === name)
                .map((job) => jobMessage(job, secondsUntil(job.notBefore, call.clock()))),
            ),
          ),
        );
      },
    );
  };
}

/** A job with a long wait is due before its end, so that it runs at the end and not up to a minute later. */
function secondsUntil(notBefore: number | undefined, now: number): number | undefined {
  const seconds = Math.ceil(((notBefore ?? 0) - now) / 1000);
  return seconds > 0 ? Math.min(seconds, MAX_DELAY_SECONDS) : undefined;
}

export const jobSweep = /* @__PURE__ */ combine(
  { jobs: sweepJobs, toJobs: sendTo.jobs, toEmbed: sendTo.embed },
  ({ jobs, toJobs, toEmbed }) => sweepDueJobs({ jobs, queues: { jobs: toJobs, embed: toEmbed } }),
);
