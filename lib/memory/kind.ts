import type { DocumentScope } from '../content/documentScope.ts';
import { defineContentKind } from '../content/kind.ts';
import { renameRecords } from '../content/rename.ts';
import type { RemovedUsers } from '../content/rules/removedUsers.ts';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import { inParallel } from '../shared/inParallel.ts';
import { pages } from '../table/pages.ts';
import { AnyItem, arePurged, type PurgeBudget, purgePartition } from '../table/purgePartition.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { replace, type Table } from '../table/table.ts';
import { JudgmentEntity, JudgmentVectorEntity } from './entities.ts';
import { eraseFromJudgment, type Judgment } from './rules/judgments.ts';

const PAGE_JUDGMENTS = 1_000;
const PARALLEL_WRITES = 8;
const PURGE_BATCH = { limit: 500, bytes: 4_000_000 };

const purgedEntities = [JudgmentEntity, JudgmentVectorEntity] as const;

const purgeDocumentJudgments = {
  entities: purgedEntities,
  async purge(table: Table, { documentKey, ...scope }: DocumentScope): Promise<boolean> {
    const batches = await Promise.all(
      purgedEntities.map((entity) =>
        table.query(AnyItem, entity.partition(scope), { ...PURGE_BATCH, prefix: [documentKey] }),
      ),
    );
    await table.removeKeys(batches.flatMap(({ values }) => values.map(({ PK, SK }) => ({ PK, SK }))));
    return batches.every(({ next }) => next === undefined);
  },
} as const;

const purgeOrganizationJudgments = {
  entities: purgedEntities,
  async purge(table: Table, scope: OrganizationScope, budget: PurgeBudget): Promise<boolean> {
    return arePurged(purgedEntities.map((entity) => purgePartition(table, entity.partition(scope), budget)));
  },
} as const;

const removeReviewers = { entities: [JudgmentEntity], isEarly: true, removeUsers: eraseReviewers };

export const judgmentKind = defineContentKind({
  name: 'judgment',
  // Judgments have listings of their own, which everyone with the API key can read.
  ids: 'none',
  involve: 'none',
  locate: 'none',
  rename: [
    renameRecords(JudgmentEntity, {
      prefixOf: ({ documentKey }) => [documentKey],
    }),
  ],
  purge: { document: purgeDocumentJudgments, organization: purgeOrganizationJudgments },
  hint: 'none',
  remove: removeReviewers,
  erase: removeReviewers,
});

/** Judgments that were made after `removedAt` keep the name and the address. */
interface ErasedReviewers extends RemovedUsers {
  readonly documents?: ReadonlySet<string> | undefined;
}

/**
 * Erases names and e-mail addresses of reviewers, but not user ids. Returns `done`, or the position for the next call
 * at the end of the budget. Idempotent. Throws ABORTED if other writers keep changing the same judgment.
 */
async function eraseReviewers(
  table: Table,
  scope: OrganizationScope,
  erased: ErasedReviewers,
  from: string | undefined,
  { clock, deadline }: PurgeBudget,
): Promise<{ readonly after: string } | 'done'> {
  const { documents } = erased;
  const isAffected = (judgment: Judgment) =>
    (!documents || documents.has(judgment.documentKey ?? '')) && eraseFromJudgment(judgment, erased) !== judgment;
  const erase = (judgment: Judgment) =>
    retryOnConflict(async () => {
      const stored = await table.get(JudgmentEntity, { ...scope, ...judgment });
      const changed = stored && eraseFromJudgment(stored, erased);
      if (!stored || !changed || changed === stored) return 'done';
      return table.tryWrite([replace(JudgmentEntity, { ...scope, ...changed }, stored._r)]);
    });
  const read = (after = from) => table.query(JudgmentEntity, scope, { limit: PAGE_JUDGMENTS, after });
  for await (const { values, next } of pages(read)) {
    await inParallel(values.filter(isAffected), PARALLEL_WRITES, erase);
    if (next !== undefined && clock() > deadline) return { after: next };
  }
  return 'done';
}
