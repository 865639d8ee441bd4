import type { DocumentScope } from '../content/documentScope.ts';
import { defineContentKind, type OrganizationRemoval } from '../content/kind.ts';
import { renameRecords } from '../content/rename.ts';
import { changeInOrganization } from '../content/userRemoval.ts';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import { AnyItem, arePurged, type PurgeBudget, purgePartition } from '../table/purgePartition.ts';
import type { Table } from '../table/table.ts';
import { JudgmentEntity, JudgmentVectorEntity } from './entities.ts';
import { eraseFromJudgment } from './rules/judgments.ts';

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

/** Erases names and e-mail addresses of reviewers, but not user ids. */
const removeReviewers: OrganizationRemoval = {
  entities: [JudgmentEntity],
  isEarly: true,
  removeUsers: (table, scope, { documents, ...removed }, from, budget) =>
    changeInOrganization(table, JudgmentEntity, scope, { from, ...budget }, (judgment) =>
      documents?.has(judgment.documentKey ?? '') === false ? judgment : eraseFromJudgment(judgment, removed),
    ),
};

export const judgmentKind = defineContentKind({
  name: 'judgment',
  // Judgments have listings of their own, which everyone with the API key can read.
  ids: 'none',
  involve: 'none',
  locate: 'none',
  rename: [renameRecords(JudgmentEntity, { prefixOf: ({ documentKey }) => [documentKey] })],
  purge: { document: purgeDocumentJudgments, organization: purgeOrganizationJudgments },
  hint: 'none',
  remove: removeReviewers,
  erase: removeReviewers,
});
