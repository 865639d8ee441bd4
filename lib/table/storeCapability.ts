import { type Capability, combine, type IndexName, type TableAction } from '../app/capability.ts';
import { openTable, type Table } from './table.ts';

/**
 * Returns the declaration with which a function gets the table: the permissions for `actions` on the table and for queries of
 * `indexes`, the environment variable, and how a client is opened.
 */
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

/** Returns the capability of a store that needs only the table. Mark each call with `@__PURE__`, as `combine` explains. */
export function storeCapability<T>(
  Store: new (table: Table) => T,
  actions: readonly TableAction[],
  indexes?: readonly IndexName[],
): Capability<T> {
  return combine({ table: tableWith(actions, indexes) }, ({ table }) => new Store(table));
}
