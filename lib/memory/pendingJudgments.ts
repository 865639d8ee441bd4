import * as z from 'zod';
import { beginJob, jobMessage } from '../jobs/jobStore.ts';
import type { JudgmentRef } from './entities.ts';
import type { WriteOp } from '../table/table.ts';
import type { QueueMessage } from '../workers/sender.ts';

/** How long whoever begins a job has to send its message, before the sweeper does. */
const TIME_TO_BEGIN = 60_000;
/** A tenant has one change of its model at a time. */
const MODEL_CHANGE = 'job_embedding';

/** The judgments that a job makes vectors of. */
export const PendingJudgments = z.object({
  judgments: z.array(
    z.object({ organizationKey: z.string(), documentKey: z.string().optional(), recordId: z.string() }),
  ),
});

/**
 * The operation that begins the job which makes the vectors of judgments, up to 100 of them; for the transaction that writes them, or before.
 * The job's id is its own, so that it cannot meet one that is about to end. Done twice it does no harm.
 */
export function beginEmbedding(
  tenant: string,
  { jobId, judgments }: { readonly jobId: string; readonly judgments: readonly JudgmentRef[] },
  now: number,
): WriteOp {
  const data = {
    judgments: judgments.map(({ organizationKey, documentKey, recordId }) => ({
      organizationKey,
      documentKey,
      recordId,
    })),
  } satisfies z.output<typeof PendingJudgments>;
  return beginJob(tenant, { jobId, kind: 'embedJudgments', data, dueAt: now + TIME_TO_BEGIN }, now);
}

/** The operation that begins the change to another model; its condition does not hold while one is under way. */
export function beginModelChange(tenant: string, now: number): WriteOp {
  return beginJob(tenant, { jobId: MODEL_CHANGE, kind: 'changeEmbedding', data: {}, dueAt: now + TIME_TO_BEGIN }, now);
}

/** The message of a job for the queue `embed`; without an id, of the change to another model. */
export function embedMessage(tenant: string, jobId: string = MODEL_CHANGE): QueueMessage {
  return jobMessage({ tenant, jobId });
}
