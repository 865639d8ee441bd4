import type { DocumentScope } from '../content/documentScope.ts';
import type { OrganizationScope } from '../directory/folders/folders.ts';
import type { Item, Stored } from '../table/entity.ts';
import { type PurgeBudget, purgePartition } from '../table/purgePartition.ts';
import type { Table } from '../table/table.ts';
import { JudgmentEntity, JudgmentVectorEntity } from './entities.ts';

const entities = [JudgmentEntity, JudgmentVectorEntity] as const;

/** Items removed at a time, and bytes read for them: vectors have several KB. */
const BATCH = { limit: 500, bytes: 4_000_000 };

/** The purge of the judgments of a deleted document with their vectors. */
export const purgeDocumentJudgments = {
  entities,
  /** Removes some items and returns whether none is left. */
  async purge(table: Table, { documentKey, ...scope }: DocumentScope): Promise<boolean> {
    const batches = await Promise.all(
      entities.map((entity) => {
        const items = {
          partition: () => entity.partition(scope),
          fromItem: (item: Record<string, unknown>) => item as Stored<Item>,
        };
        return table.query(items, scope, { ...BATCH, prefix: [documentKey] });
      }),
    );
    await table.removeKeys(batches.flatMap(({ values }) => values.map(({ PK, SK }) => ({ PK, SK }))));
    return batches.every(({ next }) => next === undefined);
  },
} as const;

/** The purge of all judgments of a deleted organization with their vectors. */
export const purgeOrganizationJudgments = {
  entities,
  async purge(table: Table, scope: OrganizationScope, budget: PurgeBudget): Promise<boolean> {
    const complete = await Promise.all(
      entities.map((entity) => purgePartition(table, entity.partition(scope), budget)),
    );
    return !complete.includes(false);
  },
} as const;
