import { indexPartition, type Item, type Key, type Stored } from './entity.ts';
import type { IndexName } from '../app/capability.ts';
import type { QueryableEntity, Table } from './table.ts';

/** How many are removed at a time. */
const AT_A_TIME = 500;

/** Until when to go on, epoch ms; nothing is begun after it. */
export interface PurgeBudget {
  readonly clock: () => number;
  readonly until: number;
}

/** Items of a partition, whatever they are. */
const Anything: QueryableEntity<Item, string> = {
  partition: (PK) => PK,
  fromItem: (item) => item as Stored<Item>,
};

/** Removes the items of a partition, in which nobody writes any more, as long as there is time; gives whether nothing is left. */
export async function purgePartition(table: Table, partition: string, budget: PurgeBudget): Promise<boolean> {
  return removePages(table, budget, async (after) => {
    const { values, next } = await table.query(Anything, partition, { limit: AT_A_TIME, after });
    return { keys: values.map(({ PK, SK }) => ({ PK, SK })), next };
  });
}

/** The same with the items that a partition of an index leads to: of those that were written longer ago than the index takes to show them. */
export async function purgeIndexPartition(
  table: Table,
  index: IndexName,
  parts: readonly string[],
  budget: PurgeBudget,
): Promise<boolean> {
  return removePages(table, budget, (after) =>
    table.queryIndex(index, indexPartition('tenant', parts), { limit: AT_A_TIME, after }),
  );
}

/** Page by page behind what is removed: an index shows that a moment longer, and would give it again. */
async function removePages(
  table: Table,
  { clock, until }: PurgeBudget,
  page: (after: string | undefined) => Promise<{ readonly keys: readonly Key[]; readonly next: string | undefined }>,
): Promise<boolean> {
  let after: string | undefined;
  do {
    const { keys, next } = await page(after);
    await table.removeKeys(keys);
    after = next;
  } while (after !== undefined && clock() < until);
  return after === undefined;
}
