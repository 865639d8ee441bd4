import type * as z from 'zod';
import type { IndexName } from '../app/capability.ts';
import { joinKey } from './keys.ts';

/**
 * Whose deletion purges an item. `expiry` items are deleted by their time to live. Items of a tenant or a workspace
 * stay as long as it exists.
 */
export type EntityOwner = 'organization' | 'folder' | 'document' | 'user' | 'tenant' | 'workspace' | 'expiry';

/**
 * Whether partition keys begin with a tenant or a workspace id. `service` is for items that are read before the tenant
 * is known.
 */
export type EntityScope = 'tenant' | 'workspace' | 'service';

const scopePart = { tenant: 'T', workspace: 'W', service: 'S' } as const;

type KeyParts = readonly string[];

export function indexPartition(parts: KeyParts): string {
  return joinKey([scopePart.tenant, ...parts]);
}

type IndexKeys<T> = Partial<
  Record<IndexName, { pk: (value: T) => KeyParts | undefined; sk: (value: T) => KeyParts; readonly holds: string }>
>;

export interface EntityDefinition<S extends z.ZodObject, P, K> {
  readonly type: string;
  /** Raise it when stored items do not match a changed schema. */
  readonly version: number;
  readonly scope: EntityScope;
  readonly ownedBy: EntityOwner;
  readonly schema: S;
  /** The first part is the tenant or the workspace id, except in scope `service`. */
  readonly pk: (partition: P) => KeyParts;
  readonly sk: (key: K) => KeyParts;
  readonly indexes?: IndexKeys<z.output<S> & P & K>;
  /** Epoch seconds. DynamoDB deletes expired items late, so reads ignore them. */
  readonly expiresAt?: (value: z.output<S>) => number | undefined;
  readonly purpose: string;
}

export interface Key {
  readonly PK: string;
  readonly SK: string;
}

/** Keys, `_t` (type), `_v` (schema version), `_r` (revision for optimistic locking), and the attributes. */
export type Item = Key & {
  readonly _t: string;
  readonly _v: number;
  readonly _r: number;
  readonly ttl?: number;
  readonly [attribute: string]: unknown;
};

export type Stored<T> = T & { readonly _r: number };

export interface Entity<T, P, K> {
  readonly type: string;
  readonly version: number;
  readonly scope: EntityScope;
  readonly ownedBy: EntityOwner;
  readonly purpose: string;
  readonly definition: EntityDefinition<z.ZodObject, never, never>;
  key(key: P & K): Key;
  partition(partition: P): string;
  toItem(value: T & P & K, revision?: number): Item;
  /** Undefined if the item is expired at `now` (epoch milliseconds). */
  readonly fromItem: (item: Record<string, unknown>, now: number) => Stored<T> | undefined;
}

const everyEntity = new Map<string, Entity<never, never, never>>();

export function entities(): readonly Entity<never, never, never>[] {
  return [...everyEntity.values()];
}

/**
 * Defines a kind of items. `P` and `K` contain the values in its partition key and sort key. Some are also attributes.
 * Others, such as the tenant, are only in the key.
 */
export function defineEntity<S extends z.ZodObject, P, K>(
  definition: EntityDefinition<S, P, K>,
): Entity<z.output<S>, P, K> {
  type T = z.output<S>;
  const scope = scopePart[definition.scope];
  const partition = (of: P) => joinKey([scope, ...definition.pk(of)]);
  const key = (of: P & K): Key => ({ PK: partition(of), SK: joinKey(definition.sk(of)) });
  const attributes = Object.keys(definition.schema.shape);
  const indexes = Object.entries(definition.indexes ?? {});
  const entity: Entity<T, P, K> = {
    type: definition.type,
    version: definition.version,
    scope: definition.scope,
    ownedBy: definition.ownedBy,
    purpose: definition.purpose,
    definition,
    key,
    partition,
    toItem(value, revision = 1) {
      const item: Record<string, unknown> = {
        ...key(value),
        _t: definition.type,
        _v: definition.version,
        _r: revision,
      };
      for (const name of attributes) {
        const attribute = (value as Record<string, unknown>)[name];
        if (attribute !== undefined) item[name] = attribute;
      }
      for (const [name, index] of indexes) {
        const pk = index.pk(value);
        if (pk === undefined) continue;
        item[`${name}pk`] = joinKey([scope, ...pk]);
        item[`${name}sk`] = joinKey(index.sk(value));
      }
      const ttl = definition.expiresAt?.(value);
      if (ttl !== undefined) item.ttl = ttl;
      return item as Item;
    },
    fromItem(item, now) {
      if (item._t !== definition.type)
        throw new Error(`Expected an item of type ${definition.type}, got ${String(item._t)}`);
      if (typeof item.ttl === 'number' && item.ttl * 1000 <= now) return undefined;
      const value = definition.schema.parse(item);
      return Object.assign(value, { _r: item._r }) as Stored<T>;
    },
  };
  if (everyEntity.has(definition.type)) throw new Error(`Entity ${definition.type} is defined twice`);
  everyEntity.set(definition.type, entity as unknown as Entity<never, never, never>);
  return entity;
}
