import type { IndexName } from '../app/capability.ts';
import type { Item, Key, Stored } from './entity.ts';
import { pages } from './pages.ts';
import type { QueryableEntity, Table } from './table.ts';

const PAGE_ITEMS = 500;

/** After `deadline` (epoch milliseconds), a purge reads no further page. */
export interface PurgeBudget {
  readonly clock: () => number;
  readonly deadline: number;
}

export async function arePurged(parts: readonly Promise<boolean>[]): Promise<boolean> {
  return (await Promise.all(parts)).every((isPurged) => isPurged);
}

export const AnyItem: QueryableEntity<Item, string> = {
  partition: (PK) => PK,
  fromItem: (item) => item as Stored<Item>,
};

/** Nothing may write to the partition any more. Returns false if the time ended before the last page. */
export async function purgePartition(table: Table, partition: string, budget: PurgeBudget): Promise<boolean> {
  return purgePages(table, budget, async (after) => {
    const { values, next } = await table.query(AnyItem, partition, { limit: PAGE_ITEMS, after });
    return { keys: values.map(({ PK, SK }) => ({ PK, SK })), next };
  });
}

/**
 * Deletes the items that a partition of an index lists. The newest can remain, because an index is behind the table.
 * Returns false if the time ended before the last page.
 */
export async function purgeIndexPartition(
  table: Table,
  index: IndexName,
  parts: readonly string[],
  budget: PurgeBudget,
): Promise<boolean> {
  return purgePages(table, budget, (after) => table.queryIndex(index, parts, { limit: PAGE_ITEMS, after }));
}

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
