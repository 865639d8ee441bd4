import * as z from 'zod';
import { inParallel } from '../shared/inParallel.ts';
import { READS_SETTLED_MS, type StepResult, type StoredJob } from '../jobs/jobStore.ts';
import type { Table } from '../table/table.ts';
import type { DocumentsRemoval, RemovedDocument } from './startPurge.ts';
import { documentParts, type RemovedPlace } from './documentParts.ts';
import type { PurgeBudget } from '../table/purgePartition.ts';

const Removed = z.object({ internalId: z.string(), documentId: z.string() }) satisfies z.ZodType<RemovedDocument>;
const Data = z.object({
  organizationKey: z.string(),
  documents: z.array(Removed),
}) satisfies z.ZodType<DocumentsRemoval>;
const Progress = z.object({ left: z.array(Removed) });

/** How long a step goes on. */
const STEP_MILLISECONDS = 2_000;
/** How many documents are worked on at a time. */
const DOCUMENTS_AT_A_TIME = 8;

/** A step of a job that `removeDocumentsJob` began. Nothing is removed before nobody reads or writes it any more. */
export async function removeDocumentsStep(
  table: Table,
  { tenant, createdAt, data, progress }: Pick<StoredJob, 'tenant' | 'createdAt' | 'data' | 'progress'>,
  clock: () => number,
): Promise<StepResult> {
  const { organizationKey, documents } = Data.parse(JSON.parse(data));
  const left = progress === undefined ? documents : Progress.parse(JSON.parse(progress)).left;
  const begin = createdAt + READS_SETTLED_MS;
  if (clock() < begin) return { progress: { left }, notBefore: begin };
  const budget = { clock, until: clock() + STEP_MILLISECONDS };
  const still = new Set(left);
  await inParallel(left, DOCUMENTS_AT_A_TIME, async (document) => {
    const { internalId, documentId } = document;
    if (
      clock() < budget.until &&
      (await removeContent(table, { tenant, organizationKey, documentKey: internalId, documentId }, budget))
    )
      still.delete(document);
  });
  return still.size === 0 ? 'done' : { progress: { left: [...still] } satisfies z.output<typeof Progress> };
}

/**
 * Removes what lies in a document that is gone, as long as there is time, but some of it in any case; gives whether nothing is left. Whoever calls
 * has waited until nobody writes there any more (`SETTLED_MS`): what is written meanwhile can stay.
 */
export async function removeContent(
  table: Table,
  scope: RemovedPlace,
  { clock, until }: PurgeBudget,
): Promise<boolean> {
  let parts = documentParts;
  do {
    const complete = await Promise.all(parts.map((part) => part.removeSome(table, scope, clock)));
    parts = parts.filter((_part, index) => !complete[index]);
  } while (parts.length > 0 && clock() < until);
  return parts.length === 0;
}
