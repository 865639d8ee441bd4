import type * as z from 'zod';
import { type Capability, combine, type TableAction } from '../../app/capability.ts';
import type { SecretBox, SecretOwner } from '../../crypto/secretBox.ts';
import { defineEntity, type Entity, type Stored } from '../../table/entity.ts';
import { retryOnConflict } from '../../table/retryOnConflict.ts';
import { tableWith } from '../../table/storeCapability.ts';
import { insertOrReplace, type Table, type WriteOp } from '../../table/table.ts';

/** `field` in the object `group` is stored encrypted, unless it is an empty text. */
interface SecretField extends Pick<SecretOwner, 'purpose' | 'id'> {
  readonly group: string;
  readonly field: string;
}

interface ConfigDefinition<S extends z.ZodObject> {
  readonly schema: S;
  readonly initial: z.output<S>;
  readonly secrets?: readonly SecretField[];
  /** Written in the transaction of every update. `changed` is the new configuration. */
  readonly alsoWrite?: (table: Table, tenant: string, changed: z.output<S>) => Promise<WriteOp[]>;
}

/** An API key has at most one configuration of each kind. */
export type ConfigEntity<S extends z.ZodObject> = Entity<z.output<S>, { tenant: string }, unknown> &
  ConfigDefinition<S>;

export function defineConfig<S extends z.ZodObject>(
  kind: string,
  purpose: string,
  definition: ConfigDefinition<S>,
  version = 1,
): ConfigEntity<S> {
  const entity = defineEntity({
    type: kind,
    version,
    scope: 'tenant',
    ownedBy: 'tenant',
    purpose,
    schema: definition.schema,
    pk: (of: { tenant: string }) => [of.tenant, 'CONFIG'],
    sk: (_key: unknown) => [kind],
  });
  return { ...entity, ...definition };
}

export class ConfigStore<S extends z.ZodObject> {
  readonly #table: Table;
  readonly #entity: ConfigEntity<S>;
  readonly #box: SecretBox | undefined;

  constructor(table: Table, entity: ConfigEntity<S>, box?: SecretBox) {
    this.#table = table;
    this.#entity = entity;
    this.#box = box;
  }

  async get(tenant: string): Promise<z.output<S> | undefined> {
    const stored = await this.#table.get(this.#entity, { tenant });
    return stored && mapSecrets('open', this.#entity, this.#box, tenant, withoutRevision(stored));
  }

  async getOrInitial(tenant: string): Promise<z.output<S>> {
    return (await this.get(tenant)) ?? this.#entity.initial;
  }

  /**
   * Replaces the configuration by the result of `change`, which gets the stored configuration and `sent`, both with an
   * encrypted secrets. `change` runs again after a conflict, so no partial update is lost. Throws ABORTED if the
   * conflicts do not end.
   */
  async update<Sent extends object, C extends z.output<S>>(
    tenant: string,
    sent: Sent,
    change: (stored: z.output<S> | undefined, sent: Sent) => C,
  ): Promise<C> {
    return mapSecrets('open', this.#entity, this.#box, tenant, await this.#write(tenant, sent, change));
  }

  /** Like `update`, without decrypting the secrets. */
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
    const sealed = await mapSecrets('seal', this.#entity, this.#box, tenant, sent);
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

/** Seals or opens the secrets of a configuration. Empty and missing texts stay. */
export async function mapSecrets<T extends object>(
  operation: 'seal' | 'open',
  { secrets = [] }: Pick<ConfigDefinition<z.ZodObject>, 'secrets'>,
  box: SecretBox | undefined,
  tenant: string,
  config: T,
): Promise<T> {
  let mapped = config;
  for (const { group, field, purpose, id } of secrets) {
    const fields = (mapped as Readonly<Record<string, Readonly<Record<string, string>> | undefined>>)[group];
    const text = fields?.[field];
    if (!text) continue;
    if (!box) throw new Error(`${purpose} needs a secret box`);
    mapped = { ...mapped, [group]: { ...fields, [field]: await box[operation](text, { tenant, purpose, id }) } };
  }
  return mapped;
}

/** The action `PutItem` also allows changes. For a kind with secrets, pass `box`. */
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
