import { retryOnConflict } from '../table/retryOnConflict.ts';
import { insertOrReplace, type Table, type WriteOp } from '../table/table.ts';
import { AgentCountEntity, AgentEntity, AgentGroupEntity } from './entities.ts';

const queryCount = {
  AGENTS: (table: Table, tenant: string) => table.count(AgentEntity, { tenant }, ['AGENT']),
  GROUPS: (table: Table, tenant: string) => table.count(AgentGroupEntity, { tenant }),
};
type Counted = keyof typeof queryCount;

/**
 * Returns the number of a tenant's custom agents or groups, counted by a query before the first number is stored. `add`
 * returns the write of the new number for the transaction that adds or deletes one.
 */
export async function readCount(
  table: Table,
  tenant: string,
  of: Counted,
): Promise<{ readonly count: number; readonly add: (number: 1 | -1) => WriteOp }> {
  const stored = await table.get(AgentCountEntity, { tenant, of });
  const count = stored?.count ?? (await queryCount[of](table, tenant));
  return {
    count,
    add: (number) => {
      const value = { tenant, of, count: count + number };
      return insertOrReplace(AgentCountEntity, value, stored);
    },
  };
}

/** Writes an agent or group and the new number in one transaction. */
export async function createCounted(
  table: Table,
  tenant: string,
  {
    of,
    limit,
    exists,
    ops,
  }: {
    readonly of: Counted;
    readonly limit: number;
    readonly ops: readonly WriteOp[];
    readonly exists: () => Promise<boolean>;
  },
): Promise<'done' | 'full'> {
  return retryOnConflict(async () => {
    const { count, add } = await readCount(table, tenant, of);
    const isFull = count >= limit;
    if (!isFull && (await table.write([...ops, add(1)])) === 'done') return 'done';
    // This call generated the id. If an item with the id exists, an earlier attempt of this call wrote it.
    if (await exists()) return 'done';
    return isFull ? 'full' : 'conflict';
  });
}
