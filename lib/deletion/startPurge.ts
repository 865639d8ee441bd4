import * as z from 'zod';
import { REQUESTS_ENDED_MS, startJob } from '../jobs/jobStore.ts';
import { newId } from '../shared/ids.ts';
import type { WriteOp } from '../table/table.ts';

/** The data of a job that purges deleted documents. */
export const DocumentsPurge = z.object({
  organizationKey: z.string(),
  documents: z.array(
    z.object({
      internalId: z.string(),
      /** The document id that the customer chose. */
      documentId: z.string(),
    }),
  ),
});

/** The data of a job that purges a deleted organization. */
export const OrganizationPurge = z.object({ organizationKey: z.string() });

/** The data of each kind of purge job. */
interface PurgeData {
  readonly purgeDocuments: z.output<typeof DocumentsPurge>;
  readonly purgeOrganization: z.output<typeof OrganizationPurge>;
}

/**
 * How long the queue message of a purge job is delayed, in seconds. A purge waits until all requests that can use the deleted items
 * have ended.
 */
export const PURGE_DELAY_SECONDS = REQUESTS_ENDED_MS / 1000;
/**
 * If the queue message of a purge is lost, the sweep, which runs every minute, runs the purge this long after its start, in
 * milliseconds. This time is longer than the delay of the message.
 */
const SWEPT_AFTER = REQUESTS_ENDED_MS + 30_000;

/**
 * Returns a new purge job and the operation that stores it. Write the operation in the transaction that deletes the documents or
 * the organization. Then call `notifyJobs` with `PURGE_DELAY_SECONDS`.
 */
export function startPurge<K extends keyof PurgeData>(
  tenant: string,
  kind: K,
  data: PurgeData[K],
  now: number,
): { jobId: string; op: WriteOp } {
  const jobId = newId('job', now);
  return { jobId, op: startJob(tenant, { jobId, kind, data, dueAt: now + SWEPT_AFTER }, now) };
}
