import { type Capability, combine, type IndexName, type TableAction } from '../app/capability.ts';
import { openTable, type Table } from './table.ts';

type TableNeed = TableAction | Capability<unknown>;

export function tableWith(needs: readonly TableNeed[], indexes: readonly IndexName[] = []): Capability<Table> {
  const actions = needs.filter((need) => typeof need === 'string');
  return {
    grants: [
      ...(actions.length > 0 ? [{ resource: 'table', actions } as const] : []),
      ...needs.flatMap((need) => (typeof need === 'string' ? [] : need.grants)),
      ...indexes.map((index) => ({ resource: `index/${index}`, actions: ['Query'] }) as const),
    ],
    env: ['TABLE_NAME'],
    open: openTable,
  };
}

/** Returns the capability of a store that needs only the table. Mark each call with `@__PURE__`, as `combine` explains. */
export function storeCapability<T>(
  Store: new (table: Table) => T,
  needs: readonly TableNeed[],
  indexes?: readonly IndexName[],
): Capability<T> {
  return combine({ table: tableWith(needs, indexes) }, ({ table }) => new Store(table));
}
