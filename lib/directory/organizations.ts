import * as z from 'zod';
import type { Capability } from '../app/capability.ts';
import { mergeMetadata } from '../shared/metadata.ts';
import { invalid } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import { defineEntity, type Stored } from '../table/entity.ts';
import { insert, type QueryPage, replace, type Table } from '../table/table.ts';
import { writeEach } from '../table/writeEach.ts';
import { storeCapability } from '../table/storeCapability.ts';

const Schema = z.object({
  organizationId: z.string(),
  /** Made at creation; everything beneath is keyed by it, so that an organization created again starts empty. */
  internalId: z.string(),
  organizationName: z.string().optional(),
  disabled: z.boolean(),
  /** The caller's own fields, as JSON text: a DynamoDB map would lose `__proto__` keys, long numbers and deep nesting. */
  metadata: z.string().optional(),
  /** How many jobs that change its tree of folders are not done; readers of folders look for what they change only then. */
  folderChanges: z.number().optional(),
  /** How many jobs that remove users from one of its folders are not done; what is moved meanwhile is written down for them. */
  folderDepartures: z.number().optional(),
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

/** The fields of an organization that is to be created. */
export interface NewOrganization {
  readonly organizationId: string;
  readonly organizationName?: string | undefined;
  readonly metadata?: string | undefined;
}

/** What is to be changed of an organization: the fields that were sent. */
export interface OrganizationChange {
  readonly organizationId: string;
  readonly organizationName?: string | undefined;
  /** The caller's own fields. */
  readonly open: Readonly<Record<string, unknown>>;
}

/** What became of an organization in a list call. */
export type OrganizationResult = Added;

/** The result of one that is not there. */
export const unknownOrganizationResult: OrganizationResult = {
  success: false,
  id: '',
  message: 'Organization does not exist',
};

export interface Added {
  readonly success: boolean;
  /** The internal id; empty when the item failed. */
  readonly id: string;
  readonly message: string;
}

export class OrganizationReader {
  protected readonly table: Table;

  constructor(table: Table) {
    this.table = table;
  }

  /** The organization under the customer's id. INVALID_ARGUMENT when there is none. */
  async require(tenant: string, organizationId: string): Promise<Stored<Organization>> {
    const organization = await this.table.get(OrganizationEntity, { tenant, organizationId });
    if (!organization) throw unknownOrganization();
    return organization;
  }

  /** Those of the organizations that exist, in the order of the ids. */
  async named(tenant: string, organizationIds: readonly string[]): Promise<Stored<Organization>[]> {
    const found = await this.table.getMany(
      OrganizationEntity,
      organizationIds.map((organizationId) => ({ tenant, organizationId })),
    );
    return found.filter((organization) => organization !== undefined);
  }

  /** A page of all organizations, by id. */
  async list(tenant: string, options: { limit: number; after?: string | undefined }): Promise<QueryPage<Organization>> {
    return this.table.query(OrganizationEntity, { tenant }, options);
  }
}

export class OrganizationWriter extends OrganizationReader {
  /** Creates organizations; one that exists is left as it is and reported as a failure of its own. Ids are distinct. */
  async add(tenant: string, organizations: readonly NewOrganization[], now: number): Promise<Added[]> {
    return writeEach<NewOrganization, Stored<Organization> | undefined, Added>({
      table: this.table,
      items: organizations,
      read: (items) =>
        this.table.getMany(
          OrganizationEntity,
          items.map(({ organizationId }) => ({ tenant, organizationId })),
        ),
      decide: (item, stored) => {
        if (stored)
          return {
            result: { success: false, id: stored.internalId, message: 'Organization already exists.' },
            ops: [],
          };
        const organization = created(item, now);
        return {
          result: { success: true, id: organization.internalId, message: 'Added Successfully' },
          ops: [insert(OrganizationEntity, { tenant, ...organization })],
        };
      },
      conflicted: () => ({ success: false, id: '', message: 'Organization is being changed by another request.' }),
    });
  }

  /**
   * Changes organizations: a field that is sent replaces the stored one, the others stay. Ids are distinct; one that does not exist, or whose fields
   * would be too large, fails alone.
   */
  async update(tenant: string, changes: readonly OrganizationChange[], now: number): Promise<OrganizationResult[]> {
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

  /** Disables organizations, or enables them. Ids are distinct; one that does not exist fails alone. */
  async disable(
    tenant: string,
    organizationIds: readonly string[],
    disabled: boolean,
    now: number,
  ): Promise<OrganizationResult[]> {
    return this.#change(
      tenant,
      organizationIds.map((organizationId) => ({ organizationId })),
      'Updated disable state for organization Successfully',
      now,
      () => ({ disabled }),
    );
  }

  /** Writes what a rule makes of each organization, unless nothing differs. */
  async #change<C extends { readonly organizationId: string }>(
    tenant: string,
    changes: readonly C[],
    message: string,
    now: number,
    rule: (stored: Organization, change: C) => Partial<Organization> | { readonly refused: string },
  ): Promise<OrganizationResult[]> {
    return writeEach<C, Stored<Organization> | undefined, OrganizationResult>({
      table: this.table,
      items: changes,
      read: (items) =>
        this.table.getMany(
          OrganizationEntity,
          items.map(({ organizationId }) => ({ tenant, organizationId })),
        ),
      decide: (change, stored) => {
        if (!stored) return { result: unknownOrganizationResult, ops: [] };
        const changed = rule(stored, change);
        if ('refused' in changed)
          return { result: { success: false, id: stored.internalId, message: changed.refused }, ops: [] };
        const result = { success: true, id: stored.internalId, message };
        const unchanged = Object.entries(changed).every(
          ([field, value]) => stored[field as keyof Organization] === value,
        );
        return {
          result,
          ops: unchanged
            ? []
            : [replace(OrganizationEntity, { tenant, ...stored, ...changed, lastUpdated: now }, stored._r)],
        };
      },
      conflicted: () => ({ success: false, id: '', message: 'Organization is being changed by another request.' }),
    });
  }

  /** The organization under the customer's id, created when it is missing and `create` says so; else INVALID_ARGUMENT. */
  async ensure(tenant: string, organizationId: string, create: boolean, now: number): Promise<Organization> {
    const stored = await this.table.get(OrganizationEntity, { tenant, organizationId });
    if (stored) return stored;
    if (!create) throw unknownOrganization('; send createOrganization: true to create it');
    const organization = created({ organizationId }, now);
    const outcome = await this.table.write([insert(OrganizationEntity, { tenant, ...organization })]);
    return outcome === 'done' ? organization : this.require(tenant, organizationId);
  }
}

function created(from: NewOrganization, now: number): Organization {
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

function unknownOrganization(hint = ''): Error {
  return invalid({
    path: ['organizationId'],
    code: 'does_not_exist',
    message: `organizationId: the organization does not exist${hint}`,
  });
}

/** Find the organization that a request names. */
export const findOrganization: Capability<Pick<OrganizationReader, 'require'>> = /* @__PURE__ */ storeCapability(
  OrganizationReader,
  ['GetItem'],
);

export const readOrganizations: Capability<Pick<OrganizationReader, 'named' | 'list'>> =
  /* @__PURE__ */ storeCapability(OrganizationReader, ['BatchGetItem', 'Query']);

export const writeOrganizations = /* @__PURE__ */ storeCapability(OrganizationWriter, [
  'GetItem',
  'BatchGetItem',
  'PutItem',
]);
