import type { DocumentScope } from '../content/documentScope.ts';
import type { Item, Stored } from '../table/entity.ts';
import type { OrganizationScope } from '../directory/folders/folders.ts';
import type { Budget } from '../table/purgePartition.ts';
import { removePartition } from '../table/purgePartition.ts';
import type { Queried, Table } from '../table/table.ts';
import { documentPrefix, JudgmentEntity, JudgmentVectorEntity } from './entities.ts';

const entities = [JudgmentEntity, JudgmentVectorEntity] as const;

/** How many items are removed at a time, and how much of them is read: vectors are of several KB. */
const SOME = { limit: 500, bytes: 4_000_000 };

/** The items of a partition as they are. */
function anythingIn(entity: { partition(scope: OrganizationScope): string }): Queried<Item, OrganizationScope> {
  return { partition: (scope) => entity.partition(scope), fromItem: (item) => item as Stored<Item> };
}

/** The judgments of a document with their vectors, as a part of what is removed with it. */
export const judgmentPart = {
  entities,
  /** Removes some of them; gives whether nothing is left. Nobody can reach the document any more. */
  async removeSome(table: Table, scope: DocumentScope, _clock: () => number): Promise<boolean> {
    const pages = await Promise.all(
      entities.map((entity) =>
        table.query(anythingIn(entity), scope, { ...SOME, prefix: documentPrefix(scope.documentKey) }),
      ),
    );
    await table.removeKeys(pages.flatMap(({ values }) => values.map(({ PK, SK }) => ({ PK, SK }))));
    return pages.every(({ next }) => next === undefined);
  },
} as const;

/** The judgments of an organization with their vectors, wherever they lie in it. */
export const organizationJudgments = {
  entities,
  async remove(table: Table, scope: OrganizationScope, budget: Budget): Promise<boolean> {
    const complete = await Promise.all(
      entities.map((entity) => removePartition(table, entity.partition(scope), budget)),
    );
    return !complete.includes(false);
  },
} as const;
