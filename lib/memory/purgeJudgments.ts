import type { DocumentScope } from '../content/documentScope.ts';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import { AnyItem, arePurged, type PurgeBudget, purgePartition } from '../table/purgePartition.ts';
import type { Table } from '../table/table.ts';
import { JudgmentEntity, JudgmentVectorEntity } from './entities.ts';

const entities = [JudgmentEntity, JudgmentVectorEntity] as const;

const BATCH = { limit: 500, bytes: 4_000_000 };

export const purgeDocumentJudgments = {
  entities,
  async purge(table: Table, { documentKey, ...scope }: DocumentScope): Promise<boolean> {
    const batches = await Promise.all(
      entities.map((entity) => table.query(AnyItem, entity.partition(scope), { ...BATCH, prefix: [documentKey] })),
    );
    await table.removeKeys(batches.flatMap(({ values }) => values.map(({ PK, SK }) => ({ PK, SK }))));
    return batches.every(({ next }) => next === undefined);
  },
} as const;

export const purgeOrganizationJudgments = {
  entities,
  async purge(table: Table, scope: OrganizationScope, budget: PurgeBudget): Promise<boolean> {
    return arePurged(entities.map((entity) => purgePartition(table, entity.partition(scope), budget)));
  },
} as const;
