import { indexPartition, type Item, type Key, type Stored } from './entity.ts';
import type { IndexName } from '../app/capability.ts';
import { pages } from './pages.ts';
import type { QueryableEntity, Table } from './table.ts';

const PAGE_ITEMS = 500;

/** The time that a purge may use. The purge reads no further page after `deadline` (epoch milliseconds). */
export interface PurgeBudget {
  readonly clock: () => number;
  readonly deadline: number;
}

/** An entity that stands for items of any type. */
const AnyItem: QueryableEntity<Item, string> = {
  partition: (PK) => PK,
  fromItem: (item) => item as Stored<Item>,
};

/** Deletes the items of a partition to which nothing is written any more. Returns whether all of them are deleted. */
export async function purgePartition(table: Table, partition: string, budget: PurgeBudget): Promise<boolean> {
  return purgePages(table, budget, async (after) => {
    const { values, next } = await table.query(AnyItem, partition, { limit: PAGE_ITEMS, after });
    return { keys: values.map(({ PK, SK }) => ({ PK, SK })), next };
  });
}

/**
 * Deletes the items that a partition of an index lists. An index is eventually consistent, so the newest items can
 * remain. Returns whether the purge reached the last page.
 */
export async function purgeIndexPartition(
  table: Table,
  index: IndexName,
  parts: readonly string[],
  budget: PurgeBudget,
): Promise<boolean> {
  return purgePages(table, budget, (after) =>
    table.queryIndex(index, indexPartition('tenant', parts), { limit: PAGE_ITEMS, after }),
  );
}

/** Deletes page after page. Each page begins after the previous one, because an index still lists deleted items for a moment. */
async function purgePages(
  table: Table,
  { clock, deadline }: PurgeBudget,
  read: (after: string | undefined) => Promise<{ readonly keys: readonly Key[]; readonly next: string | undefined }>,
): Promise<boolean> {
  for await (const { keys, next } of pages(read)) {
    await table.removeKeys(keys);
    if (next !== undefined && clock() >= deadline) return false;
  }
  return true;
}
