import { insert, replace, type Table, type WriteOp } from '../table/table.ts';
import { AgentCountEntity, AgentEntity, AgentGroupEntity } from './entities.ts';

const counted = {
  AGENTS: (table: Table, tenant: string) => table.count(AgentEntity, { tenant }, ['AGENT']),
  GROUPS: (table: Table, tenant: string) => table.count(AgentGroupEntity, { tenant }),
};

/**
 * Returns the write that counts one more or one less, for the transaction that adds or deletes it: the limit then also holds for calls at the same
 * time. Returns `full` when there are `most` already. What was stored before there was a count is counted once, by a query.
 */
export function countChange(
  table: Table,
  tenant: string,
  of: keyof typeof counted,
  change: { readonly by: -1 },
): Promise<WriteOp>;
export function countChange(
  table: Table,
  tenant: string,
  of: keyof typeof counted,
  change: { readonly by: 1; readonly most: number },
): Promise<WriteOp | 'full'>;
export async function countChange(
  table: Table,
  tenant: string,
  of: keyof typeof counted,
  change: { readonly by: 1; readonly most: number } | { readonly by: -1 },
): Promise<WriteOp | 'full'> {
  const stored = await table.get(AgentCountEntity, { tenant, of });
  const before = stored?.count ?? (await counted[of](table, tenant));
  if (change.by === 1 && before >= change.most) return 'full';
  const value = { tenant, of, count: before + change.by };
  return stored ? replace(AgentCountEntity, value, stored._r) : insert(AgentCountEntity, value);
}
