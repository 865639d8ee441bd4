import type * as z from 'zod';
import type { Capability } from '../../app/capability.ts';
import { defineEntity, type Entity, type Stored } from '../../table/entity.ts';
import { retryOnConflict } from '../../table/retryOnConflict.ts';
import { insert, openTable, replace, type Table } from '../../table/table.ts';

/** One configuration of an API key: a kind that there is at most one of. */
export type ConfigEntity<T> = Entity<T, { tenant: string }, unknown>;

/** Defines a kind of configuration. `kind` is its sort key. */
export function defineConfig<S extends z.ZodObject>(
  kind: string,
  purpose: string,
  schema: S,
): ConfigEntity<z.output<S>> {
  return defineEntity({
    type: kind,
    version: 1,
    scope: 'tenant',
    ownedBy: 'tenant',
    purpose,
    schema,
    pk: (of: { tenant: string }) => [of.tenant, 'CONFIG'],
    sk: (_key: unknown) => [kind],
  });
}

/** Reads and changes configurations: one read, and for a change one conditional write, 1 WRU each. */
export class ConfigStore<T extends object> {
  readonly #table: Table;
  readonly #entity: ConfigEntity<T>;

  constructor(table: Table, entity: ConfigEntity<T>) {
    this.#table = table;
    this.#entity = entity;
  }

  /** The configuration; undefined when it was never set. */
  async get(tenant: string): Promise<Stored<T> | undefined> {
    return this.#table.get(this.#entity, { tenant });
  }

  /**
   * Replaces the configuration by what `change` makes of it, and gives that. `change` is run again when somebody else
   * wrote in between, so that of two partial updates both survive; what it throws is thrown on and nothing is written.
   * ABORTED when others keep writing.
   */
  async update(tenant: string, change: (stored: T | undefined) => T): Promise<T> {
    return retryOnConflict(async () => {
      const stored = await this.get(tenant);
      const value = { ...change(stored), tenant };
      const outcome = await this.#table.write([
        stored ? replace(this.#entity, value, stored._r) : insert(this.#entity, value),
      ]);
      return outcome === 'done' ? value : 'conflict';
    });
  }
}

/** Read a kind of configuration. */
export function readsConfig<T extends object>(entity: ConfigEntity<T>): Capability<Pick<ConfigStore<T>, 'get'>> {
  return {
    grants: [{ resource: 'table', actions: ['GetItem'] }],
    env: ['TABLE_NAME'],
    open: (env) => new ConfigStore(openTable(env), entity),
  };
}

/** Change a kind of configuration. */
export function changesConfig<T extends object>(entity: ConfigEntity<T>): Capability<Pick<ConfigStore<T>, 'update'>> {
  return {
    grants: [{ resource: 'table', actions: ['GetItem', 'PutItem'] }],
    env: ['TABLE_NAME'],
    open: (env) => new ConfigStore(openTable(env), entity),
  };
}
