import { type Capability, combine, type IndexName, type TableAction } from '../app/capability.ts';
import { openTable, type Table } from './table.ts';

/** The table, with the actions and the queries of indexes that its user needs. */
export function tableWith(actions: readonly TableAction[], indexes: readonly IndexName[] = []): Capability<Table> {
  return {
    grants: [
      ...(actions.length > 0 ? [{ resource: 'table', actions } as const] : []),
      ...indexes.map((index) => ({ resource: `index/${index}`, actions: ['Query'] }) as const),
    ],
    env: ['TABLE_NAME'],
    open: openTable,
  };
}

/**
 * A store that needs the table and nothing else. Call it behind a pure annotation, as `combine`.
 */
export function storeCapability<T>(
  Store: new (table: Table) => T,
  actions: readonly TableAction[],
  indexes?: readonly IndexName[],
): Capability<T> {
  return combine({ table: tableWith(actions, indexes) }, ({ table }) => new Store(table));
}
