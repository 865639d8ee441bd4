import { combine } from '../app/capability.ts';
import { inParallel } from '../shared/inParallel.ts';
import * as sendTo from '../workers/sendTo.ts';
import type { QueueSender } from '../workers/sender.ts';
import { type Sweep, sweepShards } from '../workers/sweep.ts';
import {
  jobMessage,
  type JobQueue,
  jobShards,
  type JobSweeper,
  queueOfJob,
  type StoredJob,
  sweepJobs,
} from './jobStore.ts';

export interface JobSweepPorts {
  readonly jobs: Pick<JobSweeper, 'due' | 'putOff'>;
  readonly queues: Readonly<Record<JobQueue, QueueSender>>;
}

/** Writes of one shard in parallel. */
const PARALLEL = 4;
/** A job that has not ended after this time is started again. */
const JOB_MILLISECONDS = 5 * 60_000;

/** Returns the sweep that sends the messages of due jobs, each after a conditional write that postpones it. */
export function sweepDueJobs({ jobs, queues }: JobSweepPorts): Sweep {
  return async (call) => {
    await sweepShards(
      jobShards,
      call,
      async (shard, options) => {
        const { jobs: values, next } = await jobs.due(shard, call.clock(), options);
        return { values, next };
      },
      async (values) => {
        const postponed: StoredJob[] = [];
        await inParallel(values, PARALLEL, async (job) => {
          if (await jobs.putOff(job, call.clock() + JOB_MILLISECONDS)) postponed.push(job);
        });
        await Promise.all(
          Object.entries(queues).map(([name, queue]) =>
            queue.send(postponed.filter(({ kind }) => queueOfJob[kind] === name).map((job) => jobMessage(job))),
          ),
        );
      },
    );
  };
}

export const jobSweep = /* @__PURE__ */ combine(
  { jobs: sweepJobs, toJobs: sendTo.jobs, toEmbed: sendTo.embed },
  ({ jobs, toJobs, toEmbed }) => sweepDueJobs({ jobs, queues: { jobs: toJobs, embed: toEmbed } }),
);
