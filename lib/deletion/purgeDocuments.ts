import * as z from 'zod';
import { inParallel } from '../shared/inParallel.ts';
import { READS_SETTLED_MS, type StepResult, type StoredJob } from '../jobs/jobStore.ts';
import type { PurgeBudget } from '../table/purgePartition.ts';
import type { Table } from '../table/table.ts';
import { documentPurges } from './documentPurges.ts';
import { type DeletedDocument, runPurgeHooks } from './purgeHook.ts';
import { DocumentsPurge } from './startPurge.ts';

const Progress = z.object({ left: DocumentsPurge.shape.documents });

const STEP_MILLISECONDS = 2_000;
const DOCUMENTS_AT_A_TIME = 8;

/** Runs a step of a job that purges deleted documents. Waits until nobody reads or writes their content. */
export async function purgeDocumentsStep(
  table: Table,
  { tenant, createdAt, data, progress }: Pick<StoredJob, 'tenant' | 'createdAt' | 'data' | 'progress'>,
  clock: () => number,
): Promise<StepResult> {
  const { organizationKey, documents } = DocumentsPurge.parse(JSON.parse(data));
  const todo = progress === undefined ? documents : Progress.parse(JSON.parse(progress)).left;
  const begin = createdAt + READS_SETTLED_MS;
  if (clock() < begin) return { progress: { left: todo }, notBefore: begin };
  const budget = { clock, until: clock() + STEP_MILLISECONDS };
  const left = new Set(todo);
  await inParallel(todo, DOCUMENTS_AT_A_TIME, async (document) => {
    if (clock() >= budget.until) return;
    const { internalId, documentId } = document;
    const deleted = { tenant, organizationKey, documentKey: internalId, documentId };
    if (await purgeDocument(table, deleted, budget)) left.delete(document);
  });
  return left.size === 0 ? 'done' : { progress: { left: [...left] } satisfies z.output<typeof Progress> };
}

/**
 * Purges a deleted document until nothing is left or the time is over. Returns whether nothing is left. Call it after
 * `READS_SETTLED_MS`: what is written during the purge can stay.
 */
export async function purgeDocument(table: Table, document: DeletedDocument, budget: PurgeBudget): Promise<boolean> {
  return runPurgeHooks(documentPurges, table, document, budget);
}
