import * as z from 'zod';
import { type Capability, combine } from '../app/capability.ts';
import { type NewJob, notifyJobs, restartJob, startJob } from '../jobs/jobStore.ts';
import type { Log } from '../observability/log.ts';
import * as logMessages from '../observability/logMessages.ts';
import type { Table, WriteOp } from '../table/table.ts';
import * as sendTo from '../workers/sendTo.ts';
import type { JudgmentRef } from './entities.ts';

/** Milliseconds after which the sweep replaces a lost queue message of a job. */
const SWEEP_DELAY_MS = 60_000;
/** Fixed, so that a tenant has at most one such job. */
const MODEL_CHANGE = 'job_embedding';

export const PendingJudgments = z.object({
  judgments: z.array(
    z.object({ organizationKey: z.string(), documentKey: z.string().optional(), recordId: z.string() }),
  ),
});

export function startEmbedding(tenant: string, jobId: string, judgments: readonly JudgmentRef[], now: number): WriteOp {
  return startJob(tenant, embeddingJob(jobId, judgments, now), now);
}

export function restartEmbedding(
  tenant: string,
  jobId: string,
  judgments: readonly JudgmentRef[],
  now: number,
): WriteOp {
  return restartJob(tenant, embeddingJob(jobId, judgments, now), now);
}

function embeddingJob(jobId: string, judgments: readonly JudgmentRef[], now: number): NewJob {
  const data = {
    judgments: judgments.map(({ organizationKey, documentKey, recordId }) => ({
      organizationKey,
      documentKey,
      recordId,
    })),
  } satisfies z.output<typeof PendingJudgments>;
  return { jobId, kind: 'embedJudgments', data, dueAt: now + SWEEP_DELAY_MS };
}

export async function startModelChange(table: Table, tenant: string, now: number, log: Log): Promise<void> {
  const job = { jobId: MODEL_CHANGE, kind: 'changeEmbedding', data: {}, dueAt: now + SWEEP_DELAY_MS } as const;
  try {
    await table.write([startJob(tenant, job, now)]);
  } catch (error) {
    log.error(logMessages.embeddingModelChangeFailed, { error });
  }
}

/** Never throws, because the sweep finds jobs whose message is missing. */
export type NotifyEmbedding = (tenant: string, jobIds: readonly string[], log: Log) => Promise<void>;

// `sendTo` is read inside a call that is marked as pure. Otherwise esbuild would keep the queue client in every bundle.
export const notifyEmbedding: Capability<NotifyEmbedding> = /* @__PURE__ */ (() =>
  combine({ queue: sendTo.embed }, ({ queue }): NotifyEmbedding => async (tenant, jobIds, log) => {
    await notifyJobs(
      queue,
      jobIds.map((jobId) => ({ tenant, jobId })),
      log,
    );
  }))();
