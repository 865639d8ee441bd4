import * as z from 'zod';
import { type Capability, combine } from '../app/capability.ts';
import type { RecordPage } from '../content/recordListing.ts';
import { mailableAddress } from '../mail/rules/mailAddress.ts';
import { newId } from '../shared/ids.ts';
import { StoredProfile } from '../shared/schema.ts';
import { defineEntity, type Stored } from '../table/entity.ts';
import { readAll } from '../table/pages.ts';
import { storeCapability, tableWith } from '../table/storeCapability.ts';
import { insert, type PageOptions, remove, replace, type Table, type WriteOp } from '../table/table.ts';
import { writeEach } from '../table/writeEach.ts';
import { recordRemoval } from './accessRemovals.ts';
import { readRevocations } from './folders/folderRevocations.ts';
import { FolderReader, organizationPartition, type OrganizationScope, readFolders } from './folders/folders.ts';
import type { AddedResult } from './organizations.ts';
import {
  type AccessRole,
  accessRoles,
  accessTimeAfter,
  defaultAccessRole,
  folderChain,
  type Grant,
  hasEnded,
  isUnexpired,
  type ResourceType,
  resourceTypes,
  type Revocation,
} from './rules/access.ts';
import { mergeProfile } from './rules/users.ts';

export type Profile = z.output<typeof StoredProfile>;

const RevocationSchema = z.object({
  /** The internal ids of the organization and of the resource that the user was removed from. */
  organizationKey: z.string(),
  resource: z.string(),
  /** The time of the removal in epoch ms. The user's access and actions in the resource up to this time no longer count. */
  at: z.number(),
  /** The id of the job that purges the user's access and content in the resource. At its end, the job deletes this record. */
  jobId: z.string(),
  /** True if `resource` is a folder. */
  folder: z.boolean().optional(),
});

const UserSchema = StoredProfile.extend({
  userId: z.string(),
  internalId: z.string(),
  /** The resources that the user was removed from. A job deletes an entry after it has purged the user's data in that resource. */
  revocations: z.array(RevocationSchema).optional(),
  createdAt: z.number(),
  lastUpdated: z.number(),
});
export type User = z.output<typeof UserSchema>;

/** A user of the tenant, independent of organizations. Only an erasure (GDPR) deletes the item. */
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

/** Returns the users that exist, by user id. */
export function profilesOf(users: readonly (User | undefined)[]): ReadonlyMap<string, User> {
  return new Map(users.flatMap((user) => (user ? [[user.userId, user] as const] : [])));
}

const GrantSchema = z.object({
  resourceType: z.enum(resourceTypes),
  internalId: z.string(),
  accessRole: z.enum(accessRoles),
  /** When the grant ends, in Unix seconds. */
  expiresAt: z.number().optional(),
  accessFields: z.array(z.string()).optional(),
  /** When the grant was written, in epoch ms. It is later than all revocations that the user had at that time. */
  grantedAt: z.number().default(0),
});

/**
 * A user's role on an organization, folder or document. A grant on the organization is a membership. One query reads all grants
 * of a user in an organization.
 */
export const GrantEntity = defineEntity({
  type: 'Grant',
  version: 1,
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
  },
});

/**
 * Returns the parts of the gsi2 partition key for what users have in an organization, folder or document: grants and notification
 * settings. A purge finds all of them with one query.
 */
export function usersOfResource(tenant: string, internalId: string): string[] {
  return [tenant, 'USERS_OF', internalId];
}

/** A user in the contact list of an organization, folder or document. */
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
  },
});

/** Returns the parts of the gsi1 partition key for the contact lists and groups of a user. */
export function userIndex(user: OrganizationScope & { readonly userId: string }): string[] {
  return organizationPartition(user, 'USER', user.userId);
}

export interface NewUser {
  readonly userId: string;
  readonly profile: Profile;
  /** The role to grant. If it is undefined, an existing grant keeps its role. */
  readonly accessRole?: AccessRole | undefined;
}

/** A membership that `register` gives to a user. */
export interface NewMembership {
  readonly scope: OrganizationScope;
  readonly accessRole: AccessRole;
  /** When the membership ends, in Unix seconds. */
  readonly expiresAt?: number | undefined;
}

/** Undefined for a user who does not exist in the tenant. */
type MaybeUser = Stored<User> | undefined;

/** An organization, folder or document, by its internal id. */
export interface Resource {
  readonly resourceType: ResourceType;
  readonly internalId: string;
  /**
   * The customer's id for the folder that contains the resource directly, or a function that reads this id. The function is
   * called only if a user was removed from another resource of the organization.
   */
  readonly folderId?: string | (() => Promise<string | undefined>) | undefined;
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

export interface ScopedResource {
  readonly scope: OrganizationScope;
  readonly resource: Resource;
}

export type ScopedGrant = ScopedResource & Omit<Grant, 'resourceType' | 'internalId' | 'grantedAt'>;

/** Returns the last entry of each resource. One write must not contain an item twice. */
function distinctResources<R extends ScopedResource>(resources: readonly R[]): R[] {
  return [...new Map(resources.map((entry) => [entry.resource.internalId, entry])).values()];
}

export interface ListedUser extends Profile {
  readonly userId: string;
}

export interface Contact {
  readonly userId: string;
  /** When the user was added, in epoch ms. */
  readonly addedAt: number;
}

export class UserReader {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Returns one user per id, in the order of the ids. The value is undefined for a user who does not exist in the tenant. */
  async find(tenant: string, userIds: readonly string[]): Promise<MaybeUser[]> {
    return this.#table.getMany(
      UserEntity,
      userIds.map((userId) => ({ tenant, userId })),
    );
  }

  /** Returns all grants of a user in an organization. Sends one query per 1,000 grants. */
  async grants(scope: OrganizationScope, userId: string): Promise<Grant[]> {
    return readAll((after) =>
      this.#table.query(GrantEntity, { ...scope, userId }, { prefix: ['GRANT'], limit: 1_000, after }),
    );
  }

  /**
   * Returns a page of a resource's contact list, ordered by user id. Leaves out users who were removed. A page can therefore be
   * shorter than `limit` until a job has purged their contacts.
   */
  async contacts(
    scope: OrganizationScope,
    resource: Resource,
    options: PageOptions,
  ): Promise<{ values: ListedUser[]; next: string | undefined }> {
    const { records, next } = await this.contactRecords(scope, resource, options);
    return { values: records.map(({ value }) => value), next };
  }

  /** Returns the same page as `contacts`, with each user's sort key and the number of bytes that were read. */
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

  /** Returns the users among `userIds` who are in the contact list of a resource. */
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

  /**
   * Returns the number of users in a contact list. Removed users count until a job has purged their contacts. Sends one query per
   * 1 MB of contacts.
   */
  async count(scope: OrganizationScope, resource: Resource): Promise<number> {
    return this.#table.count(ContactEntity, { ...scope, resource: resource.internalId });
  }

  /** Returns the users who have a contact and were not removed after it was written. `contacts` and `users` have the same order. */
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

  /** Returns the revocations of each user, in the order of `users`. Call it after the organization's folders were read. */
  async revocations(
    scope: OrganizationScope,
    users: readonly MaybeUser[],
  ): Promise<(readonly Revocation[] | undefined)[]> {
    return readRevocations(this.#table, scope, users);
  }

  /**
   * Returns a function that says whether a user's access to the resource has ended. It takes the user's index in `users`, and the
   * time (epoch ms) at which the access was given. Reads the folders above the resource only if one of the users was removed from
   * another resource of the organization.
   */
  async findEndedAccess(
    scope: OrganizationScope,
    resource: Resource,
    users: readonly MaybeUser[],
  ): Promise<(index: number, at: number) => boolean> {
    const within = await this.#keysAbove(scope, resource, users);
    const revocations = await readRevocations(this.#table, scope, users);
    return (index, at) => hasEnded(revocations[index], within, at);
  }

  /**
   * Returns the internal ids of the resource, of the folders above it, and of the organization. Leaves out the folders if no
   * revocation needs them.
   */
  async #keysAbove(scope: OrganizationScope, resource: Resource, users: readonly MaybeUser[]): Promise<string[]> {
    const { organizationKey } = scope;
    const direct = [resource.internalId, organizationKey];
    const needsFolders = users.some((user) =>
      user?.revocations?.some(
        (revocation) => revocation.organizationKey === organizationKey && !direct.includes(revocation.resource),
      ),
    );
    if (!needsFolders) return direct;
    const folderId = typeof resource.folderId === 'function' ? await resource.folderId() : resource.folderId;
    if (folderId === undefined) return direct;
    const [folder] = await new FolderReader(this.#table).getByIds(scope, [folderId]);
    return folder ? [resource.internalId, ...folderChain(folder), organizationKey] : direct;
  }
}

interface UserState {
  readonly user: MaybeUser;
  readonly grant: Stored<z.output<typeof GrantSchema>> | undefined;
  readonly contact: Stored<Contact> | undefined;
  /** Returns whether access that was given at a time (epoch ms) has ended. */
  readonly hasEnded: (at: number) => boolean;
}

export class UserWriter {
  readonly #table: Table;
  readonly #users: UserReader;

  constructor(table: Table) {
    this.#table = table;
    this.#users = new UserReader(table);
  }

  async find(tenant: string, userIds: readonly string[]): Promise<MaybeUser[]> {
    return this.#users.find(tenant, userIds);
  }

  /**
   * Adds users to the tenant, grants them the resource, and adds them to its contact list. Ids must be distinct. Sent profile
   * fields replace stored fields. Existing grants and contacts stay, unless the user was removed after they were written. A new
   * grant gets `expiresAt` of `newGrant`. It gets the user's `accessRole`, or the role of `newGrant` if the user has none.
   */
  async add(
    scope: OrganizationScope,
    resource: Resource,
    users: readonly NewUser[],
    now: number,
    newGrant: Partial<Pick<Grant, 'accessRole' | 'expiresAt'>> = {},
  ): Promise<AddedResult[]> {
    return this.#writeEach(users, {
      read: (userIds) => this.#readState(scope, resource, userIds),
      decide: (item, state) => {
        const { user, op } = profileWrite(scope.tenant, item, state.user, now);
        return {
          result: { success: true, id: user.internalId, message: 'User added.' },
          ops: [
            op,
            grantWrite(scope, resource, item, state, now, newGrant),
            contactWrite(scope, resource, item.userId, state, now),
          ],
        };
      },
    });
  }

  /**
   * Creates a user or changes the sent profile fields, and makes the user a member of the organizations. An existing membership
   * stays as it is. Returns one result per organization, or one result if there are no organizations.
   */
  async register(
    tenant: string,
    user: Pick<NewUser, 'userId' | 'profile'>,
    memberships: readonly NewMembership[],
    now: number,
  ): Promise<AddedResult[]> {
    if (memberships.length === 0)
      return this.#writeEach([user], {
        read: (userIds) => this.#readProfiles(tenant, userIds),
        decide: (item, state) => {
          const { user: written, op } = profileWrite(tenant, item, state.user, now);
          return { result: { success: true, id: written.internalId, message: 'User added.' }, ops: [op] };
        },
      });
    const results: AddedResult[] = [];
    // Memberships are added one after another, because each write also writes the user.
    for (const { scope, ...membership } of memberships)
      results.push(...(await this.add(scope, organizationResource(scope), [user], now, membership)));
    return results;
  }

  /**
   * Changes the sent profile fields of users, and their roles on the resource of `target`. Without `target`, sent roles are
   * ignored. Contact lists do not change. Ids must be distinct. An unknown user fails in its own result only. The others are
   * changed.
   */
  async update(
    tenant: string,
    target: ScopedResource | undefined,
    users: readonly NewUser[],
    now: number,
  ): Promise<AddedResult[]> {
    return this.#writeEach(users, {
      read: (userIds, items) =>
        target && items.some(({ accessRole }) => accessRole !== undefined)
          ? this.#readState(target.scope, target.resource, userIds, { contacts: false })
          : this.#readProfiles(tenant, userIds),
      decide: (item, state) => {
        if (!state.user) return { result: { success: false, id: '', message: 'User does not exist.' }, ops: [] };
        const hasRole = target && item.accessRole !== undefined;
        return {
          result: { success: true, id: state.user.internalId, message: 'User updated.' },
          ops: [
            profileWrite(tenant, item, state.user, now).op,
            hasRole ? grantWrite(target.scope, target.resource, item, state, now) : undefined,
          ],
        };
      },
    });
  }

  /**
   * Grants a user several resources. Replaces the user's existing grants on these resources. `user` is the stored user. If it is
   * undefined, the user is added to the tenant. A call that failed in part can be repeated.
   */
  async grant(
    tenant: string,
    userId: string,
    user: MaybeUser,
    grants: readonly ScopedGrant[],
    now: number,
  ): Promise<void> {
    const ops = distinctResources(grants).map(({ scope, resource, accessFields, ...grant }): WriteOp => {
      const grantedAt = accessTimeAfter(user?.revocations, scope.organizationKey, now);
      const item = {
        ...scope,
        ...resource,
        userId,
        ...grant,
        accessFields: accessFields && [...accessFields],
        grantedAt,
      };
      return { put: GrantEntity.toItem(item, grantedAt) };
    });
    await Promise.all([
      user ?? this.#table.write([insert(UserEntity, { tenant, userId, ...newProfile(now) })]),
      this.#table.writeAll(ops),
    ]);
  }

  /**
   * Removes a user's grants on the resources. Grants on these resources become invalid in the user's earlier tokens too. Does
   * nothing for a grant that does not exist.
   */
  async revoke(userId: string, resources: readonly ScopedResource[], now: number): Promise<void> {
    const distinctGrants = distinctResources(resources);
    const toRemoval = ({ scope, resource }: ScopedResource) =>
      recordRemoval(scope, userId, {
        internalId: resource.internalId,
        removedAt: now,
        isRevocation: false,
        ...(resource.resourceType === 'folder' && { folder: true }),
      });
    // Two writes cost half as much as one transaction. If only one of them succeeds, the call throws, and it can be repeated.
    await Promise.all([
      this.#table.writeAll(
        distinctGrants.map(({ scope, resource }) => remove(GrantEntity, { ...scope, ...resource, userId })),
      ),
      this.#table.writeAll(distinctGrants.map(toRemoval)),
    ]);
  }

  async #writeEach(
    users: readonly NewUser[],
    {
      read,
      decide,
    }: {
      read: (userIds: readonly string[], items: readonly NewUser[]) => Promise<UserState[]>;
      decide: (item: NewUser, state: UserState) => { result: AddedResult; ops: readonly (WriteOp | undefined)[] };
    },
  ): Promise<AddedResult[]> {
    return writeEach<NewUser, UserState, AddedResult>({
      table: this.#table,
      items: users,
      read: (items) =>
        read(
          items.map(({ userId }) => userId),
          items,
        ),
      decide: (sent, state) => {
        const item = withMailableAddress(sent);
        const { result, ops } = decide(item ?? sent, state);
        if (!item && result.success) return { result: unmailable, ops: [] };
        return { result, ops: ops.filter((op) => op !== undefined) };
      },
      conflicted: () => ({ success: false, id: '', message: 'User is being changed by another request.' }),
    });
  }

  /**
   * Returns the stored user, grant and contact of each user on a resource, in the order of `userIds`. Does not read contacts if
   * `contacts` is false.
   */
  async #readState(
    scope: OrganizationScope,
    resource: Resource,
    userIds: readonly string[],
    { contacts: withContacts = true } = {},
  ): Promise<UserState[]> {
    const contactKeys = userIds.map((userId) => ({ ...scope, resource: resource.internalId, userId }));
    const [users, grants, contacts] = await Promise.all([
      this.#users.find(scope.tenant, userIds),
      this.#table.getMany(
        GrantEntity,
        userIds.map((userId) => ({ ...scope, ...resource, userId })),
      ),
      withContacts ? this.#table.getMany(ContactEntity, contactKeys) : [],
    ]);
    const ended = await this.#users.findEndedAccess(scope, resource, users);
    return users.map((user, index) => ({
      user,
      grant: grants[index],
      contact: contacts[index],
      hasEnded: (at) => ended(index, at),
    }));
  }

  async #readProfiles(tenant: string, userIds: readonly string[]): Promise<UserState[]> {
    const users = await this.#users.find(tenant, userIds);
    return users.map((user) => ({ user, grant: undefined, contact: undefined, hasEnded: () => false }));
  }
}

const unmailable: AddedResult = { success: false, id: '', message: 'email must be an address that can receive mail.' };

/**
 * Returns the user with the e-mail address in the form that mail needs (domain in punycode). Returns undefined if the address
 * cannot receive mail.
 */
function withMailableAddress(item: NewUser): NewUser | undefined {
  const { email } = item.profile;
  if (email === undefined) return item;
  const mailable = mailableAddress(email);
  return mailable === undefined ? undefined : { ...item, profile: { ...item.profile, email: mailable } };
}

function newProfile(now: number) {
  return { internalId: newId('usr', now), createdAt: now, lastUpdated: now };
}

function profileWrite(
  tenant: string,
  { userId, profile }: NewUser,
  stored: MaybeUser,
  now: number,
): { user: User; op: WriteOp | undefined } {
  if (!stored) {
    const user = { userId, ...mergeProfile({}, profile), ...newProfile(now) };
    return { user, op: insert(UserEntity, { tenant, ...user }) };
  }
  const merged = mergeProfile<Profile>(stored, profile);
  const unchanged = Object.entries(merged).every(([field, value]) => stored[field as keyof User] === value);
  return {
    user: stored,
    op: unchanged ? undefined : replace(UserEntity, { tenant, ...stored, ...merged, lastUpdated: now }, stored._r),
  };
}

// The first revision of a new grant or contact is the time at which it is written. A job deletes a grant or contact only at the
// revision that the job read. It therefore never deletes a newer item with the same key.

function grantWrite(
  scope: OrganizationScope,
  resource: Resource,
  { userId, accessRole }: NewUser,
  { user, grant: stored, hasEnded: ended }: UserState,
  now: number,
  newGrant: Partial<Pick<Grant, 'accessRole' | 'expiresAt'>> = {},
): WriteOp | undefined {
  const grantedAt = accessTimeAfter(user?.revocations, scope.organizationKey, now);
  const role = accessRole ?? newGrant.accessRole ?? defaultAccessRole;
  const fresh = { ...scope, ...resource, userId, accessRole: role, expiresAt: newGrant.expiresAt, grantedAt };
  if (!stored) return insert(GrantEntity, fresh, grantedAt);
  if (!isUnexpired(stored, now / 1000) || ended(stored.grantedAt)) return replace(GrantEntity, fresh, stored._r);
  if (accessRole === undefined || accessRole === stored.accessRole) return undefined;
  return replace(GrantEntity, { ...scope, ...stored, userId, accessRole, grantedAt }, stored._r);
}

function contactWrite(
  scope: OrganizationScope,
  resource: Resource,
  userId: string,
  { user, contact: stored, hasEnded: ended }: UserState,
  now: number,
): WriteOp | undefined {
  const addedAt = accessTimeAfter(user?.revocations, scope.organizationKey, now);
  const fresh = { ...scope, resource: resource.internalId, userId, addedAt };
  if (!stored) return insert(ContactEntity, fresh, addedAt);
  return ended(stored.addedAt) ? replace(ContactEntity, fresh, stored._r) : undefined;
}

// Access depends on the folders above a resource, so these stores also read folders.
export const readUsers = /* @__PURE__ */ combine(
  { table: /* @__PURE__ */ tableWith(['BatchGetItem', 'Query']), folders: readFolders },
  ({ table }) => new UserReader(table),
);

export const writeUsers = /* @__PURE__ */ combine(
  { table: /* @__PURE__ */ tableWith(['BatchGetItem', 'PutItem']), folders: readFolders },
  ({ table }) => new UserWriter(table),
);

export const grantAccess: Capability<Pick<UserWriter, 'find' | 'grant'>> = /* @__PURE__ */ storeCapability(UserWriter, [
  'BatchGetItem',
  'PutItem',
]);

export const revokeGrants: Capability<Pick<UserWriter, 'revoke'>> = /* @__PURE__ */ storeCapability(UserWriter, [
  'DeleteItem',
  'PutItem',
]);
