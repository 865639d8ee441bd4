import * as z from 'zod';
import { type DeletedDocument, runPurgeHooks } from '../content/documentPurge.ts';
import type { ContentKind } from '../content/kind.ts';
import { REQUESTS_ENDED_MS, type StepResult, type StoredJob } from '../jobs/jobStore.ts';
import { inParallel } from '../shared/inParallel.ts';
import type { PurgeBudget } from '../table/purgePartition.ts';
import type { Table } from '../table/table.ts';
import { documentPurges } from './documentPurges.ts';
import { DocumentsPurge } from './startPurge.ts';

const Progress = z.object({ left: DocumentsPurge.shape.documents });

const STEP_MILLISECONDS = 2_000;
const DOCUMENTS_AT_A_TIME = 8;

export async function purgeDocumentsStep(
  table: Table,
  { tenant, createdAt, data, progress }: Pick<StoredJob, 'tenant' | 'createdAt' | 'data' | 'progress'>,
  clock: () => number,
): Promise<StepResult> {
  const { organizationKey, documents } = DocumentsPurge.parse(JSON.parse(data));
  const documentsLeft = progress === undefined ? documents : Progress.parse(JSON.parse(progress)).left;
  const startsAt = createdAt + REQUESTS_ENDED_MS;
  if (clock() < startsAt) return { progress: { left: documentsLeft }, notBefore: startsAt };
  const budget = { clock, deadline: clock() + STEP_MILLISECONDS };
  const left = new Set(documentsLeft);
  await inParallel(documentsLeft, DOCUMENTS_AT_A_TIME, async (document) => {
    if (clock() >= budget.deadline) return;
    const { internalId, documentId } = document;
    const deleted = { tenant, organizationKey, documentKey: internalId, documentId };
    if (await purgeDocument(table, deleted, budget)) left.delete(document);
  });
  return left.size === 0 ? 'done' : { progress: { left: [...left] } satisfies z.output<typeof Progress> };
}

/**
 * Returns true when nothing remains. Call it `REQUESTS_ENDED_MS` after the deletion, because it can miss what other
 * requests still write.
 */
export async function purgeDocument(
  table: Table,
  document: DeletedDocument,
  budget: PurgeBudget,
  kinds?: readonly ContentKind[],
): Promise<boolean> {
  return runPurgeHooks(documentPurges(document, kinds), table, document, budget);
}
