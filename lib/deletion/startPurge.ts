import * as z from 'zod';
import { REQUESTS_ENDED_MS, startJob } from '../jobs/jobStore.ts';
import { newId } from '../shared/ids.ts';
import type { WriteOp } from '../table/table.ts';

export const DocumentsPurge = z.object({
  organizationKey: z.string(),
  documents: z.array(
    z.object({
      internalId: z.string(),
      documentId: z.string(),
    }),
  ),
});

export const OrganizationPurge = z.object({ organizationKey: z.string() });

interface PurgeData {
  readonly purgeDocuments: z.output<typeof DocumentsPurge>;
  readonly purgeOrganization: z.output<typeof OrganizationPurge>;
}

/** A purge waits until all requests that can use the deleted items have ended. */
export const PURGE_DELAY_SECONDS = REQUESTS_ENDED_MS / 1000;
/** Longer than the delay of the message. */
const SWEPT_AFTER = REQUESTS_ENDED_MS + 30_000;

/** Write the operation in the transaction of the deletion. Then call `notifyJobs` with `PURGE_DELAY_SECONDS`. */
export function startPurge<K extends keyof PurgeData>(
  tenant: string,
  kind: K,
  data: PurgeData[K],
  now: number,
): { jobId: string; op: WriteOp } {
  const jobId = newId('job', now);
  return { jobId, op: startJob(tenant, { jobId, kind, data, dueAt: now + SWEPT_AFTER }, now) };
}
