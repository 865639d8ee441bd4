import * as z from 'zod';
import { accessRoles, type Grant, type ResourceType, resourceTypes } from '../app/rules/access.ts';
import { isId } from '../shared/ids.ts';
import { StoredProfile } from '../shared/schema.ts';
import { defineEntity, type Stored } from '../table/entity.ts';
import { readAll } from '../table/pages.ts';
import type { RecordPage } from '../table/recordPage.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { PageOptions, Table } from '../table/table.ts';
import { FolderReader, readFolders } from './folders/folders.ts';
import { organizationPartition, type OrganizationScope } from './organizationScope.ts';
import { everywhere, folderChain, hasEnded } from './rules/access.ts';

export type Profile = z.output<typeof StoredProfile>;

const RevocationSchema = z.object({
  /**
   * Internal ids, or `*` in the revocation of a user who was erased everywhere. `resource` is what the user was removed
   * from.
   */
  organizationKey: z.string(),
  resource: z.string(),
  /** Epoch ms. Earlier access and actions in the resource no longer count. */
  at: z.number(),
  /** The job of the removal. It deletes this record at its end. */
  jobId: z.string(),
  folder: z.boolean().optional(),
});

const UserSchema = StoredProfile.extend({
  userId: z.string(),
  internalId: z.string(),
  revocations: z.array(RevocationSchema).optional(),
  createdAt: z.number(),
  lastUpdated: z.number(),
});
export type User = z.output<typeof UserSchema>;

/** Only an erasure (GDPR) deletes the item. */
export const UserEntity = defineEntity({
  type: 'User',
  version: 1,
  scope: 'tenant',
  ownedBy: 'user',
  purpose: 'A user that the tenant knows, with the profile',
  schema: UserSchema,
  pk: (of: { tenant: string; userId: string }) => [of.tenant, 'USER', of.userId],
  sk: (_key: unknown) => ['PROFILE'],
});

export async function findUsers(table: Table, tenant: string, userIds: readonly string[]): Promise<MaybeUser[]> {
  return table.getMany(
    UserEntity,
    userIds.map((userId) => ({ tenant, userId })),
  );
}

export function profilesOf(users: readonly (User | undefined)[]): ReadonlyMap<string, User> {
  return new Map(users.flatMap((user) => (user ? [[user.userId, user] as const] : [])));
}

const GrantSchema = z.object({
  /** Empty in items that version 0.1.0 wrote. */
  userId: z.string().default(''),
  resourceType: z.enum(resourceTypes),
  internalId: z.string(),
  accessRole: z.enum(accessRoles),
  expiresAt: z.number().optional(),
  accessFields: z.array(z.string()).optional(),
  /** Epoch ms. Later than all revocations that the user had in the organization at that time. */
  grantedAt: z.number().default(0),
});
export type StoredGrant = Stored<z.output<typeof GrantSchema>>;

/** A grant on the organization is a membership. */
export const GrantEntity = defineEntity({
  type: 'Grant',
  version: 2,
  scope: 'tenant',
  ownedBy: 'organization',
  purpose: 'The grants of a user in an organization: membership, folders, documents',
  schema: GrantSchema,
  pk: (of: { tenant: string; organizationKey: string; userId: string }) => organizationPartition(of, 'USER', of.userId),
  sk: (key: { resourceType: ResourceType; internalId: string }) => ['GRANT', key.resourceType, key.internalId],
  indexes: {
    gsi2: {
      holds: 'grants on an organization, folder or document, by user',
      pk: ({ tenant, internalId }) => usersOfResource(tenant, internalId),
      sk: ({ userId }) => [userId],
    },
    gsi4: {
      holds: 'grants on documents of an organization, by user',
      pk: (grant) => (['organization', 'folder'].includes(grant.resourceType) ? undefined : documentUsers(grant)),
      sk: ({ userId, internalId }) => [userId, 'grant', internalId],
    },
  },
});

/**
 * Grants on a resource, its notification settings and, of a document or folder, its invitations in gsi2, so a purge
 * finds them with one query.
 */
export function usersOfResource(tenant: string, internalId: string): string[] {
  return [tenant, 'USERS_OF', internalId];
}

/** Contacts and grants on documents in gsi4, by user. The contacts of a user come before the grants. */
export function documentUsers(scope: OrganizationScope): string[] {
  return organizationPartition(scope, 'DOCUMENT_USERS');
}

export const ContactEntity = defineEntity({
  type: 'Contact',
  version: 1,
  scope: 'tenant',
  ownedBy: 'organization',
  purpose: 'The contact list of an organization, folder or document',
  schema: z.object({ userId: z.string(), addedAt: z.number() }),
  pk: (of: { tenant: string; organizationKey: string; resource: string }) =>
    organizationPartition(of, 'CONTACTS', of.resource),
  sk: (key: { userId: string }) => [key.userId],
  indexes: {
    gsi1: {
      holds: 'the contact lists that a user is in',
      pk: (contact) => userIndex(contact),
      sk: ({ resource }) => ['contact', resource],
    },
    gsi4: {
      holds: 'contact lists of documents of an organization, by user',
      pk: (contact) => (['org', 'fld'].some((of) => isId(of, contact.resource)) ? undefined : documentUsers(contact)),
      sk: ({ userId, resource }) => [userId, 'contact', resource],
    },
  },
});

/** Contact lists and groups of a user in gsi1. */
export function userIndex(user: OrganizationScope & { readonly userId: string }): string[] {
  return organizationPartition(user, 'USER', user.userId);
}

export type MaybeUser = Stored<User> | undefined;

/**
 * False also for a user who was erased everywhere and not added again, whose empty profile remains until the job ends.
 */
export function isExistingUser(user: MaybeUser): user is Stored<User> {
  if (!user) return false;
  return !user.revocations?.some(({ resource, at }) => resource === everywhere && at >= user.lastUpdated);
}

export interface Resource {
  readonly resourceType: ResourceType;
  readonly internalId: string;
  readonly folderId?: string | undefined;
}

export function organizationResource({ organizationKey }: OrganizationScope): Resource {
  return { resourceType: 'organization', internalId: organizationKey };
}

export function documentResource({
  internalId,
  folder,
}: {
  readonly internalId: string;
  readonly folder?: { readonly folderId: string } | undefined;
}): Resource {
  return { resourceType: 'document', internalId, folderId: folder?.folderId };
}

export function folderResource({
  internalId,
  ancestors,
}: {
  readonly internalId: string;
  readonly ancestors: readonly { readonly folderId: string }[];
}): Resource {
  return { resourceType: 'folder', internalId, folderId: ancestors.at(-1)?.folderId };
}

export interface ListedUser extends Profile {
  readonly userId: string;
}

export interface Contact {
  readonly userId: string;
  readonly addedAt: number;
}

export class UserReader {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async find(tenant: string, userIds: readonly string[]): Promise<MaybeUser[]> {
    return findUsers(this.#table, tenant, userIds);
  }

  async grants(scope: OrganizationScope, userId: string): Promise<Grant[]> {
    return readAll((after) =>
      this.#table.query(GrantEntity, { ...scope, userId }, { prefix: ['GRANT'], limit: 1_000, after }),
    );
  }

  /** Without removed users, so a page can be shorter than `limit` until a job has purged their contacts. */
  async contactRecords(
    scope: OrganizationScope,
    resource: Resource,
    options: PageOptions,
  ): Promise<RecordPage<ListedUser>> {
    const partition = { ...scope, resource: resource.internalId };
    const { values, next, bytes } = await this.#table.query(ContactEntity, partition, options);
    const users = await this.find(
      scope.tenant,
      values.map(({ userId }) => userId),
    );
    const records = (await this.#current(scope, resource, values, users)).map((user) => ({
      key: ContactEntity.key({ ...partition, ...user }).SK,
      value: user,
    }));
    return { records, next, bytes };
  }

  async contactsNamed(scope: OrganizationScope, resource: Resource, userIds: readonly string[]): Promise<ListedUser[]> {
    const [contacts, users] = await Promise.all([
      this.#table.getMany(
        ContactEntity,
        userIds.map((userId) => ({ ...scope, resource: resource.internalId, userId })),
      ),
      this.find(scope.tenant, userIds),
    ]);
    return this.#current(scope, resource, contacts, users);
  }

  /** Removed users count until a job has purged their contacts. One query per 1 MB of contacts. */
  async count(scope: OrganizationScope, resource: Resource): Promise<number> {
    return this.#table.count(ContactEntity, { ...scope, resource: resource.internalId });
  }

  async #current(
    scope: OrganizationScope,
    resource: Resource,
    contacts: readonly (Contact | undefined)[],
    users: readonly MaybeUser[],
  ): Promise<Stored<User>[]> {
    const ended = await this.findEndedAccess(scope, resource, users);
    return users.filter((user, index): user is Stored<User> => {
      const contact = contacts[index];
      return user !== undefined && contact !== undefined && !ended(index, contact.addedAt);
    });
  }

  /**
   * Returns a function: whether access of `users[index]` from the time `at` (epoch ms) no longer counts. Reads folders
   * only if a revocation needs them.
   */
  async findEndedAccess(
    scope: OrganizationScope,
    resource: Resource,
    users: readonly MaybeUser[],
  ): Promise<(index: number, at: number) => boolean> {
    const within = await this.#keysAbove(scope, resource, users);
    return (index, at) => hasEnded(users[index]?.revocations, within, at);
  }

  async #keysAbove(scope: OrganizationScope, resource: Resource, users: readonly MaybeUser[]): Promise<string[]> {
    const { organizationKey } = scope;
    const direct = [resource.internalId, organizationKey];
    const needsFolders = users.some((user) =>
      user?.revocations?.some(
        (revocation) => revocation.organizationKey === organizationKey && !direct.includes(revocation.resource),
      ),
    );
    if (!needsFolders || resource.folderId === undefined) return direct;
    const [folder] = await new FolderReader(this.#table).getByIds(scope, [resource.folderId]);
    return folder ? [resource.internalId, ...folderChain(folder), organizationKey] : direct;
  }
}

// Access depends on the folders above a resource, so this store also reads folders.
export const readUsers = /* @__PURE__ */ storeCapability(UserReader, [readFolders, 'BatchGetItem', 'Query']);
