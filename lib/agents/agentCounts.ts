import { retryOnConflict } from '../table/retryOnConflict.ts';
import { insertOrReplace, type Table, type WriteOp } from '../table/table.ts';
import { AgentCountEntity, AgentEntity, AgentGroupEntity } from './entities.ts';

const queryCount = {
  AGENTS: (table: Table, tenant: string) => table.count(AgentEntity, { tenant }, ['AGENT']),
  GROUPS: (table: Table, tenant: string) => table.count(AgentGroupEntity, { tenant }),
};
type Counted = keyof typeof queryCount;

/**
 * Returns the number of a tenant's custom agents or groups. If no number is stored yet, a query counts them. `add`
 * returns the write that changes the number by 1 or -1. Put this write into the transaction that adds or deletes the
 * agent or group, so that parallel calls cannot exceed the limit.
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

/**
 * Writes a new agent or group and the new number in one transaction. Returns `full` if the tenant already has `limit`
 * of them. `exists` returns whether the new agent or group is stored.
 */
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
