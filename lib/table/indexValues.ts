import { isoTime } from '../shared/isoTime.ts';
import type { Entity, Key, Stored } from './entity.ts';
import { tenantOf } from './keys.ts';
import type { Page } from './pages.ts';
import type { PageOptions, QueryOptions, Table } from './table.ts';

/** A value that was found without knowing its tenant, and the tenant from its key. */
export type WithTenant<T> = Stored<T> & { readonly tenant: string };

/** Returns the values under table keys, in the order of the keys. Leaves out missing items. */
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
 * Returns a page of the values that one partition of `gsi3` lists. Most of its partitions list values of all tenants. The index is
 * eventually consistent, so a value can have changed or be deleted since its entry was written. Deleted values are left out.
 */
export async function readGsi3<T, P, K>(
  table: Table,
  entity: Entity<T, P, K>,
  parts: readonly string[],
  options: PageOptions & Pick<QueryOptions, 'between'>,
): Promise<Page<WithTenant<T>>> {
  const { keys, next } = await table.queryIndex('gsi3', parts, options);
  return { values: await valuesOf(table, entity, keys), next };
}

/**
 * Returns a page like `readGsi3`, of the values that are due: their sort keys begin with a time up to `time` (epoch ms). The most
 * overdue value comes first. A value that changed since its entry was written may not be due any more.
 */
export async function readDue<T, P, K>(
  table: Table,
  entity: Entity<T, P, K>,
  parts: readonly string[],
  time: number,
  options: PageOptions,
): Promise<Page<WithTenant<T>>> {
  return readGsi3(table, entity, parts, { ...options, between: [isoTime(0), isoTime(time)] });
}
