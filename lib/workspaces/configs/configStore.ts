import type * as z from 'zod';
import { type Capability, combine, type TableAction } from '../../app/capability.ts';
import type { SecretBox, SecretOwner } from '../../crypto/secretBox.ts';
import { defineEntity, type Entity, type Stored } from '../../table/entity.ts';
import { retryOnConflict } from '../../table/retryOnConflict.ts';
import { tableWith } from '../../table/storeCapability.ts';
import { insertOrReplace, type Table, type WriteOp } from '../../table/table.ts';

/** The field of a configuration that is stored encrypted: `field` in the object `group`. An empty text is not encrypted. */
interface SecretField extends Pick<SecretOwner, 'purpose' | 'id'> {
  readonly group: string;
  readonly field: string;
}

interface ConfigDefinition<S extends z.ZodObject> {
  readonly schema: S;
  /** The value of a configuration that was never set. */
  readonly initial: z.output<S>;
  readonly secret?: SecretField;
  /** Returns the operations that are written in the same transaction as every update. `changed` is the new configuration. */
  readonly alsoWrite?: (table: Table, tenant: string, changed: z.output<S>) => Promise<WriteOp[]>;
}

/** A kind of configuration. An API key has at most one configuration of each kind. */
export type ConfigEntity<S extends z.ZodObject> = Entity<z.output<S>, { tenant: string }, unknown> &
  ConfigDefinition<S>;

/** Defines a kind of configuration. `kind` is the sort key of its items. */
export function defineConfig<S extends z.ZodObject>(
  kind: string,
  purpose: string,
  definition: ConfigDefinition<S>,
): ConfigEntity<S> {
  const entity = defineEntity({
    type: kind,
    version: 1,
    scope: 'tenant',
    ownedBy: 'tenant',
    purpose,
    schema: definition.schema,
    pk: (of: { tenant: string }) => [of.tenant, 'CONFIG'],
    sk: (_key: unknown) => [kind],
  });
  return { ...entity, ...definition };
}

/** Reads and changes one kind of configuration. Callers pass and get secrets as plain text. */
export class ConfigStore<S extends z.ZodObject> {
  readonly #table: Table;
  readonly #entity: ConfigEntity<S>;
  readonly #box: SecretBox | undefined;

  constructor(table: Table, entity: ConfigEntity<S>, box?: SecretBox) {
    this.#table = table;
    this.#entity = entity;
    this.#box = box;
  }

  /** Returns the configuration with its secret as plain text, or undefined if it was never set. Costs one read. */
  async get(tenant: string): Promise<z.output<S> | undefined> {
    const stored = await this.#table.get(this.#entity, { tenant });
    return stored && mapSecret('open', this.#entity, this.#box, tenant, withoutRevision(stored));
  }

  async getOrInitial(tenant: string): Promise<z.output<S>> {
    return (await this.get(tenant)) ?? this.#entity.initial;
  }

  /**
   * Replaces the configuration by the result of `change` and returns that result, with its secret as plain text. `change` gets the
   * stored configuration and `sent`, both with an encrypted secret. It runs again after a conflict with another request, so no
   * partial update is lost. Each attempt costs one read and one conditional write.
   *
   * Throws the errors of `change`, and ABORTED if the conflicts do not end.
   */
  async update<Sent extends object, C extends z.output<S>>(
    tenant: string,
    sent: Sent,
    change: (stored: z.output<S> | undefined, sent: Sent) => C,
  ): Promise<C> {
    return mapSecret('open', this.#entity, this.#box, tenant, await this.#write(tenant, sent, change));
  }

  /** Changes the configuration like `update`, but does not decrypt its secret and returns nothing. */
  async write<Sent extends object>(
    tenant: string,
    sent: Sent,
    change: (stored: z.output<S> | undefined, sent: Sent) => z.output<S>,
  ): Promise<void> {
    await this.#write(tenant, sent, change);
  }

  async #write<Sent extends object, C extends z.output<S>>(
    tenant: string,
    sent: Sent,
    change: (stored: z.output<S> | undefined, sent: Sent) => C,
  ): Promise<C> {
    const sealed = await mapSecret('seal', this.#entity, this.#box, tenant, sent);
    return retryOnConflict(async () => {
      const stored = await this.#table.get(this.#entity, { tenant });
      const changed = change(stored && withoutRevision(stored), sealed);
      const value = { ...changed, tenant };
      return this.#table.tryWrite(
        [
          insertOrReplace(this.#entity, value, stored),
          ...((await this.#entity.alsoWrite?.(this.#table, tenant, changed)) ?? []),
        ],
        changed,
      );
    });
  }
}

function withoutRevision<T extends object>({ _r: _, ...config }: Stored<T>): T {
  return config as unknown as T;
}

/** Returns a configuration, or a change of one, with its secret encrypted (`seal`) or as plain text (`open`). */
export async function mapSecret<T extends object>(
  operation: 'seal' | 'open',
  { secret }: Pick<ConfigDefinition<z.ZodObject>, 'secret'>,
  box: SecretBox | undefined,
  tenant: string,
  config: T,
): Promise<T> {
  if (!secret) return config;
  const { group, field, purpose, id } = secret;
  const fields = (config as Readonly<Record<string, Readonly<Record<string, string>> | undefined>>)[group];
  const text = fields?.[field];
  if (!text) return config;
  if (!box) throw new Error(`${purpose} needs a secret box`);
  return { ...config, [group]: { ...fields, [field]: await box[operation](text, { tenant, purpose, id }) } };
}

/**
 * Returns the capability to read one kind of configuration, and with the action `PutItem` also to change it. For a kind with a
 * secret, pass `box`.
 */
export function configStore<S extends z.ZodObject>(
  entity: ConfigEntity<S>,
  actions: readonly TableAction[],
  box?: Capability<SecretBox>,
): Capability<ConfigStore<S>> {
  return combine(
    { table: /* @__PURE__ */ tableWith(actions), box: box ?? noBox },
    (opened) => new ConfigStore(opened.table, entity, opened.box),
  );
}

const noBox: Capability<undefined> = { grants: [], env: [], open: () => undefined };
