import { isoTime } from '../shared/isoTime.ts';
import type { Entity, Key, Stored } from './entity.ts';
import { tenantOf } from './keys.ts';
import type { ItemPage } from './pages.ts';
import type { PageOptions, QueryOptions, Table } from './table.ts';

export type WithTenant<T> = Stored<T> & { readonly tenant: string };

export async function valuesOf<T, P, K>(
  table: Table,
  entity: Entity<T, P, K>,
  keys: readonly Key[],
): Promise<WithTenant<T>[]> {
  const stored = await table.getByKeys(entity, keys);
  return keys.flatMap((key, index) => {
    const value = stored[index];
    return value ? [{ ...value, tenant: tenantOf(key) }] : [];
  });
}

/**
 * Returns a page of the values in one partition of `gsi3`, mostly of all tenants. The index is eventually consistent: a
 * value can have changed since its entry was written. Deleted values are left out.
 */
export async function readGsi3<T, P, K>(
  table: Table,
  entity: Entity<T, P, K>,
  parts: readonly string[],
  options: PageOptions & Pick<QueryOptions, 'between'>,
): Promise<ItemPage<WithTenant<T>>> {
  const { keys, next } = await table.queryIndex('gsi3', parts, options);
  return { values: await valuesOf(table, entity, keys), next };
}

/**
 * Like `readGsi3`, of values whose sort keys begin with a time up to `time` (epoch ms), the most overdue first. A value
 * that changed since may not be due any more.
 */
export async function readDue<T, P, K>(
  table: Table,
  entity: Entity<T, P, K>,
  parts: readonly string[],
  time: number,
  options: PageOptions,
): Promise<ItemPage<WithTenant<T>>> {
  return readGsi3(table, entity, parts, { ...options, between: [isoTime(0), isoTime(time)] });
}
