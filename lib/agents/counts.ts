import { retryOnConflict } from '../table/retryOnConflict.ts';
import { insert, replace, type Table, type WriteOp } from '../table/table.ts';
import { AgentCountEntity, AgentEntity, AgentGroupEntity } from './entities.ts';

const queryCount = {
  AGENTS: (table: Table, tenant: string) => table.count(AgentEntity, { tenant }, ['AGENT']),
  GROUPS: (table: Table, tenant: string) => table.count(AgentGroupEntity, { tenant }),
};
type Counted = keyof typeof queryCount;

/**
 * Reads how many custom agents or groups a tenant has. `add` returns the write of the changed count, for the transaction that adds or deletes one,
 * so limits hold for parallel calls. Without a stored count, the items are counted once by a query.
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
      return stored ? replace(AgentCountEntity, value, stored._r) : insert(AgentCountEntity, value);
    },
  };
}

/** Writes a new agent or group and the increased count in one transaction; `full` when the tenant has `limit` already. */
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
    // The id is as new as this call. If it exists, this call wrote it before it was repeated.
    if (await exists()) return 'done';
    return isFull ? 'full' : 'conflict';
  });
}
