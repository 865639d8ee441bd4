import { indexPartition, type Item, type Key, type Stored } from './entity.ts';
import type { IndexName } from '../app/capability.ts';
import { pages } from './pages.ts';
import type { QueryableEntity, Table } from './table.ts';

const PAGE_ITEMS = 500;

/** The time that a purge may take. The purge reads no page after `deadline` (epoch milliseconds). */
export interface PurgeBudget {
  readonly clock: () => number;
  readonly deadline: number;
}

/** Reads items of any type. */
const AnyItem: QueryableEntity<Item, string> = {
  partition: (PK) => PK,
  fromItem: (item) => item as Stored<Item>,
};

/** Deletes the items of a partition that nobody writes to any more. Returns whether none is left. */
export async function purgePartition(table: Table, partition: string, budget: PurgeBudget): Promise<boolean> {
  return purgePages(table, budget, async (after) => {
    const { values, next } = await table.query(AnyItem, partition, { limit: PAGE_ITEMS, after });
    return { keys: values.map(({ PK, SK }) => ({ PK, SK })), next };
  });
}

/**
 * Deletes the items of a partition of an index. Items that the index does not show yet are left. Returns whether the
 * last page was reached.
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

/** Continues after the deleted page: an index still shows deleted items for a moment. */
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
