import { building, type Capability } from '../app/capability.ts';
import { notifyQueue } from '../webhooks/notifyQueue.ts';
import type { Log } from '../app/endpoint.ts';
import { embedMessage } from './pendingJudgments.ts';
import { sendTo } from '../workers/queues.ts';

/** Sends the messages of jobs that make vectors. Never fails: the sweeper finds the jobs. */
export type HintEmbedding = (tenant: string, jobIds: readonly string[], log: Log) => Promise<void>;

export const hintEmbedding: Capability<HintEmbedding> = /* @__PURE__ */ building([sendTo.embed], {
  grants: [],
  env: [],
  open: (env) => {
    const queue = sendTo.embed.open(env);
    return async (tenant, jobIds, log) => {
      if (jobIds.length === 0) return;
      await notifyQueue(
        queue,
        jobIds.map((jobId) => embedMessage(tenant, jobId)),
        log,
      );
    };
  },
});
