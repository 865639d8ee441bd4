import * as z from 'zod';
import type { Capability } from '../app/capability.ts';
import { BoundedMap } from '../shared/boundedMap.ts';
import { hasFields } from '../shared/collections.ts';
import { invalid } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import { pickFields } from '../shared/jsonFields.ts';
import { mergeMetadata } from '../shared/metadata.ts';
import type { ItemResult } from '../shared/results.ts';
import { defineEntity, type Stored } from '../table/entity.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { storeCapability } from '../table/storeCapability.ts';
import {
  insert,
  type ItemReader,
  type PageOptions,
  type QueryPage,
  replace,
  type Table,
  type WriteOp,
} from '../table/table.ts';
import { type Decision, writeEach } from '../table/writeEach.ts';

const Schema = z.object({
  organizationId: z.string(),
  /** New at each creation, and in the keys of all content, so an organization that is created again is empty. */
  internalId: z.string(),
  organizationName: z.string().optional(),
  disabled: z.boolean(),
  /** Epoch ms. Grants in user tokens from before do not count. */
  disabledAt: z.number().optional(),
  /** JSON text. A DynamoDB map would lose `__proto__` keys, long numbers and deep nesting. */
  metadata: z.string().optional(),
  /** How many running jobs apply changes of folders. If there are some, readers of folders also read the changes. */
  folderChanges: z.number().optional(),
  /**
   * How many running jobs remove users from folders. If there are some, moves across the boundaries of these folders
   * are refused.
   */
  folderRevocations: z.number().optional(),
  createdAt: z.number(),
  lastUpdated: z.number(),
});
export type Organization = z.output<typeof Schema>;

export const OrganizationEntity = defineEntity({
  type: 'Organization',
  version: 1,
  scope: 'tenant',
  ownedBy: 'tenant',
  purpose: "An organization under the customer's id, with its internal id",
  schema: Schema,
  pk: (of: { tenant: string }) => [of.tenant, 'ORGANIZATIONS'],
  sk: (key: { organizationId: string }) => [key.organizationId],
});

export type OrganizationKeys = Pick<
  Organization,
  'organizationId' | 'internalId' | 'folderChanges' | 'folderRevocations'
>;

export interface NewOrganization {
  readonly organizationId: string;
  readonly organizationName?: string | undefined;
  readonly metadata?: string | undefined;
}

export interface OrganizationChange {
  readonly organizationId: string;
  readonly organizationName?: string | undefined;
  readonly open: Readonly<Record<string, unknown>>;
}

export const unknownOrganizationResult: ItemResult = {
  success: false,
  id: '',
  message: 'Organization does not exist',
};

export const ORGANIZATION_BUSY = 'Organization is being changed by another request.';

const MAX_CACHED_ORGANIZATIONS = 1_000;

export class OrganizationReader {
  readonly #table: Table;
  readonly #items: ItemReader;
  readonly #cached = new BoundedMap<string, { readonly keys: OrganizationKeys; readonly revision: number }>(
    MAX_CACHED_ORGANIZATIONS,
  );

  /** Single organizations are read through `items`, whose reads must be strongly consistent. */
  constructor(table: Table, items: ItemReader = table) {
    this.#table = table;
    this.#items = items;
  }

  async require(tenant: string, organizationId: string): Promise<Stored<Organization>> {
    const organization = await this.#items.get(OrganizationEntity, { tenant, organizationId });
    if (!organization) throw unknownOrganization();
    return organization;
  }

  /**
   * Returns the organization and the result of `read` for it. With cached keys, `read` starts while the organization is
   * read again, and runs again if it has changed. `read` must not write.
   */
  async readWithin<T>(
    tenant: string,
    organizationId: string,
    read: (organization: OrganizationKeys) => Promise<T>,
  ): Promise<{ readonly organization: Stored<Organization>; readonly content: T }> {
    const id = JSON.stringify([tenant, organizationId]);
    const cached = this.#cached.get(id);
    const [organizationRead, earlyRead] = await Promise.allSettled([
      this.require(tenant, organizationId),
      cached && read(cached.keys),
    ]);
    if (organizationRead.status === 'rejected') throw organizationRead.reason;
    const organization = organizationRead.value;
    if (cached?.revision === organization._r && cached.keys.internalId === organization.internalId) {
      if (earlyRead.status === 'rejected') throw earlyRead.reason;
      return { organization, content: earlyRead.value as T };
    }
    const keys = pickFields(organization, ['internalId', 'organizationId', 'folderChanges', 'folderRevocations']);
    this.#cached.set(id, { keys, revision: organization._r });
    return { organization, content: await read(organization) };
  }

  async find(tenant: string, organizationIds: readonly string[]): Promise<(Stored<Organization> | undefined)[]> {
    return this.#table.getMany(
      OrganizationEntity,
      organizationIds.map((organizationId) => ({ tenant, organizationId })),
    );
  }

  async list(tenant: string, options: PageOptions): Promise<QueryPage<Organization>> {
    return this.#table.query(OrganizationEntity, { tenant }, options);
  }
}

export class OrganizationWriter {
  readonly #table: Table;
  readonly #organizations: OrganizationReader;

  constructor(table: Table) {
    this.#table = table;
    this.#organizations = new OrganizationReader(table);
  }

  /** Ids must be distinct. An organization that exists fails in its own result only. */
  async add(tenant: string, organizations: readonly NewOrganization[], now: number): Promise<ItemResult[]> {
    return this.#writeEach(tenant, organizations, (item, stored) => {
      if (stored) return { result: failedResult('Organization already exists.', stored), ops: [] };
      const organization = newOrganization(item, now);
      return {
        result: { success: true, id: organization.internalId, message: 'Added Successfully' },
        ops: [insertOrganization(tenant, organization)],
      };
    });
  }

  /** Ids must be distinct. An organization that cannot be changed fails in its own result only. */
  async update(tenant: string, changes: readonly OrganizationChange[], now: number): Promise<ItemResult[]> {
    return this.#change(
      tenant,
      changes,
      'Updated Successfully',
      now,
      (stored, { organizationName = stored.organizationName, open }) => {
        const merged = mergeMetadata(stored.metadata, open);
        return 'refused' in merged ? merged : { organizationName, metadata: merged.metadata };
      },
    );
  }

  async disable(
    tenant: string,
    organizationIds: readonly string[],
    disabled: boolean,
    now: number,
  ): Promise<ItemResult[]> {
    const message = 'Updated disable state for organization Successfully';
    const items = organizationIds.map((organizationId) => ({ organizationId }));
    return this.#change(tenant, items, message, now, (stored) => ({
      disabled,
      ...(disabled && !stored.disabled && { disabledAt: now }),
    }));
  }

  async #change<C extends { readonly organizationId: string }>(
    tenant: string,
    changes: readonly C[],
    message: string,
    now: number,
    rule: (stored: Organization, change: C) => Partial<Organization> | { readonly refused: string },
  ): Promise<ItemResult[]> {
    return this.#writeEach(tenant, changes, (change, stored) => {
      if (!stored) return { result: unknownOrganizationResult, ops: [] };
      const changed = rule(stored, change);
      if ('refused' in changed) return { result: failedResult(changed.refused, stored), ops: [] };
      const next = { tenant, ...stored, ...changed, lastUpdated: now };
      return {
        result: { success: true, id: stored.internalId, message },
        ops: hasFields<Organization>(stored, changed) ? [] : [replace(OrganizationEntity, next, stored._r)],
      };
    });
  }

  async #writeEach<I extends { readonly organizationId: string }>(
    tenant: string,
    items: readonly I[],
    decide: (item: I, stored: Stored<Organization> | undefined) => Decision<ItemResult>,
  ): Promise<ItemResult[]> {
    return writeEach<I, Stored<Organization> | undefined, ItemResult>({
      table: this.#table,
      items,
      read: (unread) =>
        this.#organizations.find(
          tenant,
          unread.map(({ organizationId }) => organizationId),
        ),
      decide,
      conflicted: () => failedResult(ORGANIZATION_BUSY),
    });
  }

  /**
   * If the organization is missing, creates it. Instead throws INVALID_ARGUMENT if `create` is false, or `refusal` if
   * it is given.
   */
  async ensure(
    tenant: string,
    organizationId: string,
    create: boolean,
    now: number,
    refusal?: Error,
  ): Promise<Organization> {
    return retryOnConflict(async () => {
      const stored = await this.#table.get(OrganizationEntity, { tenant, organizationId });
      if (stored) return stored;
      if (!create) throw unknownOrganization('; send createOrganization: true to create it');
      if (refusal) throw refusal;
      const organization = newOrganization({ organizationId }, now);
      return this.#table.tryWrite([insertOrganization(tenant, organization)], organization);
    });
  }
}

function failedResult(message: string, stored?: Organization): ItemResult {
  return { success: false, id: stored?.internalId ?? '', message };
}

function newOrganization(from: NewOrganization, now: number): Organization {
  return {
    ...from,
    organizationName: from.organizationName,
    metadata: from.metadata,
    internalId: newId('org', now),
    disabled: false,
    createdAt: now,
    lastUpdated: now,
  };
}

function insertOrganization(tenant: string, organization: Organization): WriteOp {
  return insert(OrganizationEntity, { tenant, ...organization }, organization.createdAt);
}

function unknownOrganization(hint = ''): Error {
  return invalid({
    path: ['organizationId'],
    code: 'does_not_exist',
    message: `organizationId: the organization does not exist${hint}`,
  });
}

export const findOrganization: Capability<Pick<OrganizationReader, 'require' | 'readWithin'>> =
  /* @__PURE__ */ storeCapability(OrganizationReader, ['GetItem']);

export const readOrganizations: Capability<Pick<OrganizationReader, 'find' | 'list'>> = /* @__PURE__ */ storeCapability(
  OrganizationReader,
  ['BatchGetItem', 'Query'],
);

export const writeOrganizations = /* @__PURE__ */ storeCapability(OrganizationWriter, [
  'GetItem',
  'BatchGetItem',
  'PutItem',
]);
