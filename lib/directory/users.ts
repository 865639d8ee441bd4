import * as z from 'zod';
import { building, type Capability } from '../app/capability.ts';
import {
  type AccessRole,
  accessRoles,
  defaultAccessRole,
  type Departure,
  folderChain,
  givenAt,
  type Grant,
  hasEnded,
  isLive,
  type ResourceType,
  resourceTypes,
} from './rules/access.ts';
import { mailableAddress } from '../mail/rules/mailAddress.ts';
import { mergeProfile } from './rules/users.ts';
import { newId } from '../shared/ids.ts';
import type { RecordPage } from '../content/recordListing.ts';
import { defineEntity, type Stored } from '../table/entity.ts';
import { departuresOf } from './folders/folderDepartures.ts';
import { FolderReader, type OrganizationScope, readFolders } from './folders/folders.ts';
import type { Added } from './organizations.ts';
import { insert, openTable, remove, replace, type Table, type WriteOp } from '../table/table.ts';
import { writeEach } from '../table/writeEach.ts';
import { storeCapability } from '../table/storeCapability.ts';

export const Profile = z.object({
  name: z.string().optional(),
  email: z.string().optional(),
  photoUrl: z.string().optional(),
  color: z.string().optional(),
  textColor: z.string().optional(),
  initial: z.string().optional(),
  type: z.string().optional(),
  plan: z.string().optional(),
});
export type Profile = z.output<typeof Profile>;

const DepartureSchema = z.object({
  /** Internal ids: of the organization, and of what the user left, which is the organization or one of its folders and documents. */
  organizationKey: z.string(),
  resource: z.string(),
  /** Epoch ms: what the user was given or did until then has ended. */
  at: z.number(),
  /** The job that removes what has ended, and this with it. */
  jobId: z.string(),
  /** Whether the resource is a folder. */
  folder: z.boolean().optional(),
});

const UserSchema = Profile.extend({
  userId: z.string(),
  internalId: z.string(),
  /** What the user was removed from, as long as something of it may be left. */
  departures: z.array(DepartureSchema).optional(),
  createdAt: z.number(),
  lastUpdated: z.number(),
});
export type User = z.output<typeof UserSchema>;

/** A user that the tenant knows, in whatever organization; GDPR deletion alone removes it. */
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

/** The users that were found, by user id. */
export function profilesOf(users: readonly (User | undefined)[]): ReadonlyMap<string, User> {
  return new Map(users.flatMap((user) => (user ? [[user.userId, user] as const] : [])));
}

const GrantSchema = z.object({
  resourceType: z.enum(resourceTypes),
  internalId: z.string(),
  accessRole: z.enum(accessRoles),
  /** Unix seconds. */
  expiresAt: z.number().optional(),
  accessFields: z.array(z.string()).optional(),
  /** Epoch ms; later than the departures that it outlives. */
  grantedAt: z.number().default(0),
});

/** What a user was given, in the user's partition of the organization: one query reads all of it. A grant on the organization is membership. */
export const GrantEntity = defineEntity({
  type: 'Grant',
  version: 1,
  scope: 'tenant',
  ownedBy: 'organization',
  purpose: 'What a user was granted in an organization: membership, folders, documents',
  schema: GrantSchema,
  pk: (of: { tenant: string; organizationKey: string; userId: string }) => [
    of.tenant,
    'ORGANIZATION',
    of.organizationKey,
    'USER',
    of.userId,
  ],
  sk: (key: { resourceType: ResourceType; internalId: string }) => ['GRANT', key.resourceType, key.internalId],
  indexes: {
    gsi2: {
      holds: 'what was granted on an organization, folder or document, by user',
      pk: ({ tenant, internalId }) => [tenant, 'GRANTS', internalId],
      sk: ({ userId }) => [userId],
    },
  },
});

/** Who is in the contact list of an organization, folder or document. */
export const ContactEntity = defineEntity({
  type: 'Contact',
  version: 1,
  scope: 'tenant',
  ownedBy: 'organization',
  purpose: 'The contact list of an organization, folder or document',
  schema: z.object({ userId: z.string(), addedAt: z.number() }),
  pk: (of: { tenant: string; organizationKey: string; resource: string }) => [
    of.tenant,
    'ORGANIZATION',
    of.organizationKey,
    'CONTACTS',
    of.resource,
  ],
  sk: (key: { userId: string }) => [key.userId],
  indexes: {
    gsi1: {
      holds: 'the contact lists that a user is in',
      pk: (contact) => userIndex(contact),
      sk: ({ resource }) => ['contact', resource],
    },
  },
});

/** The parts of the partition of gsi1 that holds where a user is listed in an organization: contact lists and groups. */
export function userIndex({
  tenant,
  organizationKey,
  userId,
}: {
  readonly tenant: string;
  readonly organizationKey: string;
  readonly userId: string;
}): string[] {
  return [tenant, 'ORGANIZATION', organizationKey, 'USER', userId];
}

export interface NewUser {
  readonly userId: string;
  readonly profile: Profile;
  /** The role to grant; an existing grant keeps its own when none is given. */
  readonly accessRole?: AccessRole | undefined;
}

/** What is known of a user before; undefined for one that the tenant does not know. */
type KnownUser = Stored<User> | undefined;

/** An organization, folder or document, by its internal id. */
export interface Resource {
  readonly resourceType: ResourceType;
  readonly internalId: string;
  /** The folder that it lies directly in, by the customer's id, or how to find that out: only who asks while users leave needs it. */
  readonly folderId?: string | (() => Promise<string | undefined>) | undefined;
}

export function organizationResource({ organizationKey }: OrganizationScope): Resource {
  return { resourceType: 'organization', internalId: organizationKey };
}

/** A document as what users have access to. */
export function documentResource({
  internalId,
  folder,
}: {
  readonly internalId: string;
  readonly folder?: { readonly folderId: string } | undefined;
}): Resource {
  return { resourceType: 'document', internalId, folderId: folder?.folderId };
}

/** A folder as what users have access to. */
export function folderResource({
  internalId,
  ancestors,
}: {
  readonly internalId: string;
  readonly ancestors: readonly { readonly folderId: string }[];
}): Resource {
  return { resourceType: 'folder', internalId, folderId: ancestors.at(-1)?.folderId };
}

/** A resource and the organization that it lies in. */
export interface ResourceAt {
  readonly scope: OrganizationScope;
  readonly resource: Resource;
}

export type GrantOn = ResourceAt & Omit<Grant, 'resourceType' | 'internalId' | 'grantedAt'>;

/** One of each resource, as it was named last: a transaction takes no item twice. */
function distinctOn<R extends ResourceAt>(resources: readonly R[]): R[] {
  return [...new Map(resources.map((one) => [one.resource.internalId, one])).values()];
}

export interface ListedUser extends Profile {
  readonly userId: string;
}

/** Somebody in a contact list, since a time (epoch ms). */
export interface Contact {
  readonly userId: string;
  readonly addedAt: number;
}

export class UserReader {
  protected readonly table: Table;

  constructor(table: Table) {
    this.table = table;
  }

  /** Those of the users that the tenant knows, undefined where it does not. */
  async known(tenant: string, userIds: readonly string[]): Promise<KnownUser[]> {
    return this.table.getMany(
      UserEntity,
      userIds.map((userId) => ({ tenant, userId })),
    );
  }

  /** Everything that a user was granted in an organization: one query, more where there are over a thousand grants. */
  async grants(scope: OrganizationScope, userId: string): Promise<Grant[]> {
    const grants: Grant[] = [];
    let after: string | undefined;
    do {
      const page = await this.table.query(
        GrantEntity,
        { ...scope, userId },
        { prefix: ['GRANT'], limit: 1_000, after },
      );
      grants.push(...page.values);
      after = page.next;
    } while (after !== undefined);
    return grants;
  }

  /** A page of the contact list of a resource, by user id; shorter, perhaps empty, where users left whom nobody has removed yet. */
  async contacts(
    scope: OrganizationScope,
    resource: Resource,
    options: { limit: number; after?: string | undefined },
  ): Promise<{ values: ListedUser[]; next: string | undefined }> {
    const { records, next } = await this.contactRecords(scope, resource, options);
    return { values: records.map(({ value }) => value), next };
  }

  /** The same with the sort key of each, and how much was read. */
  async contactRecords(
    scope: OrganizationScope,
    resource: Resource,
    options: { limit: number; after?: string | undefined },
  ): Promise<RecordPage<ListedUser>> {
    const { values, next, bytes } = await this.table.query(
      ContactEntity,
      { ...scope, resource: resource.internalId },
      options,
    );
    const users = await this.staying(
      scope,
      resource,
      values,
      await this.known(
        scope.tenant,
        values.map(({ userId }) => userId),
      ),
    );
    return {
      records: users.map((user) => ({
        key: ContactEntity.key({ ...scope, resource: resource.internalId, ...user }).SK,
        value: user,
      })),
      next,
      bytes,
    };
  }

  /** Those of the users that are in the contact list of a resource. */
  async contactsNamed(scope: OrganizationScope, resource: Resource, userIds: readonly string[]): Promise<ListedUser[]> {
    const [contacts, users] = await Promise.all([
      this.table.getMany(
        ContactEntity,
        userIds.map((userId) => ({ ...scope, resource: resource.internalId, userId })),
      ),
      this.known(scope.tenant, userIds),
    ]);
    return this.staying(scope, resource, contacts, users);
  }

  /** How many are in the contact list of a resource; with those who left and whom nobody has removed yet. One query per 1 MB. */
  async count(scope: OrganizationScope, resource: Resource): Promise<number> {
    return this.table.count(ContactEntity, { ...scope, resource: resource.internalId });
  }

  /** Those users who are in a contact list, as `contacts` says of each, and have not left since. */
  protected async staying(
    scope: OrganizationScope,
    resource: Resource,
    contacts: readonly (Contact | undefined)[],
    users: readonly KnownUser[],
  ): Promise<Stored<User>[]> {
    const { within, departures } = await this.leaving(scope, resource, users);
    return users.filter((user, index) => {
      const contact = contacts[index];
      return user !== undefined && contact !== undefined && !hasEnded(departures[index], within, contact.addedAt);
    }) as Stored<User>[];
  }

  /** The departures of users that the organization's folders were read before. */
  async departures(
    scope: OrganizationScope,
    users: readonly KnownUser[],
  ): Promise<(readonly Departure[] | undefined)[]> {
    return departuresOf(this.table, scope, users);
  }

  /** What the users left, and the resource with what it lies in as far as that can be one of these; folders are read only when one of them left something else. */
  protected async leaving(scope: OrganizationScope, resource: Resource, users: readonly KnownUser[]): Promise<Leaving> {
    const within = await this.#within(scope, resource, users);
    return { within, departures: await departuresOf(this.table, scope, users) };
  }

  async #within(scope: OrganizationScope, resource: Resource, users: readonly KnownUser[]): Promise<string[]> {
    const direct = [resource.internalId, scope.organizationKey];
    const elsewhere = users.some((user) =>
      user?.departures?.some(
        (departure) => departure.organizationKey === scope.organizationKey && !direct.includes(departure.resource),
      ),
    );
    const folderId =
      elsewhere && typeof resource.folderId === 'function' ? await resource.folderId() : resource.folderId;
    if (!elsewhere || typeof folderId !== 'string') return direct;
    const [folder] = await new FolderReader(this.table).named(scope, [folderId]);
    return folder ? [resource.internalId, ...folderChain(folder), scope.organizationKey] : direct;
  }
}

/** What decides whether something that users were given on a resource has ended. */
interface Leaving {
  /** What a departure can be from that ends it, from the nearest up. */
  readonly within: readonly string[];
  /** Of each user. */
  readonly departures: readonly (readonly Departure[] | undefined)[];
}

interface UserState {
  readonly user: KnownUser;
  readonly grant: Stored<z.output<typeof GrantSchema>> | undefined;
  readonly contact: Stored<Contact> | undefined;
  /** Whether what was given at a time (epoch ms) has ended. */
  readonly hasEnded: (at: number) => boolean;
}

export class UserWriter extends UserReader {
  /**
   * Makes users known, grants them the resource and puts them into its contact list; what is there already stays, with
   * the profile updated by the fields that were sent. Who left meanwhile is added as if never there. Ids are distinct.
   */
  async add(scope: OrganizationScope, resource: Resource, users: readonly NewUser[], now: number): Promise<Added[]> {
    return writeEach<NewUser, UserState, Added>({
      table: this.table,
      items: users,
      read: (items) =>
        this.#state(
          scope,
          resource,
          items.map(({ userId }) => userId),
        ),
      decide: (sent, state) => {
        const item = withMailableAddress(sent);
        if (!item) return { result: unmailable, ops: [] };
        const { user, op } = profileWrite(scope.tenant, item, state.user, now);
        const ops = [
          op,
          grantWrite(scope, resource, item, state, now),
          contactWrite(scope, resource, item.userId, state, now),
        ];
        return {
          result: { success: true, id: user.internalId, message: 'User added.' },
          ops: ops.filter((one) => one !== undefined),
        };
      },
      conflicted,
    });
  }

  /**
   * Puts what was sent of profiles over what is stored, and sets the roles that were sent on the resource that the call names, as `add` does. Contact
   * lists stay as they are. Ids are distinct; a user that the tenant does not know fails alone. Roles need a resource.
   */
  async update(tenant: string, at: ResourceAt | undefined, users: readonly NewUser[], now: number): Promise<Added[]> {
    return writeEach<NewUser, UserState, Added>({
      table: this.table,
      items: users,
      read: (items) =>
        at && items.some(({ accessRole }) => accessRole !== undefined)
          ? this.#state(
              at.scope,
              at.resource,
              items.map(({ userId }) => userId),
              { contacts: false },
            )
          : this.#profiles(
              tenant,
              items.map(({ userId }) => userId),
            ),
      decide: (sent, state) => {
        if (!state.user) return { result: { success: false, id: '', message: 'User does not exist.' }, ops: [] };
        const item = withMailableAddress(sent);
        if (!item) return { result: unmailable, ops: [] };
        const { op } = profileWrite(tenant, item, state.user, now);
        const grant =
          at && item.accessRole !== undefined ? grantWrite(at.scope, at.resource, item, state, now) : undefined;
        return {
          result: { success: true, id: state.user.internalId, message: 'User updated.' },
          ops: [op, grant].filter((one) => one !== undefined),
        };
      },
      conflicted,
    });
  }

  /**
   * Grants a user several resources, over what was granted before; makes the user known as well, whom `known` gives as read just now.
   * A retry after a failure half-way writes the same.
   */
  async grant(
    tenant: string,
    userId: string,
    known: KnownUser,
    grants: readonly GrantOn[],
    now: number,
  ): Promise<void> {
    const ops = distinctOn(grants).map(({ scope, resource, accessFields, ...grant }): WriteOp => {
      const grantedAt = givenAt(known?.departures, scope.organizationKey, now);
      return {
        put: GrantEntity.toItem(
          { ...scope, ...resource, userId, ...grant, accessFields: accessFields && [...accessFields], grantedAt },
          grantedAt,
        ),
      };
    });
    await Promise.all([
      known ?? this.table.write([insert(UserEntity, { tenant, userId, ...newProfile(now) })]),
      this.table.writeAll(ops),
    ]);
  }

  /** Takes back what a user was granted on the resources; what was not granted stays that way. */
  async revoke(userId: string, resources: readonly ResourceAt[]): Promise<void> {
    await this.table.writeAll(
      distinctOn(resources).map(({ scope, resource }) => remove(GrantEntity, { ...scope, ...resource, userId })),
    );
  }

  /** What is stored of users on a resource; without their places in its contact list when `contacts` is false. */
  async #state(
    scope: OrganizationScope,
    resource: Resource,
    userIds: readonly string[],
    { contacts: withContacts = true } = {},
  ): Promise<UserState[]> {
    const [users, grants, contacts] = await Promise.all([
      this.known(scope.tenant, userIds),
      this.table.getMany(
        GrantEntity,
        userIds.map((userId) => ({ ...scope, ...resource, userId })),
      ),
      withContacts
        ? this.table.getMany(
            ContactEntity,
            userIds.map((userId) => ({ ...scope, resource: resource.internalId, userId })),
          )
        : [],
    ]);
    const { within, departures } = await this.leaving(scope, resource, users);
    return userIds.map((_userId, index) => ({
      user: users[index],
      grant: grants[index],
      contact: contacts[index],
      hasEnded: (at) => hasEnded(departures[index], within, at),
    }));
  }

  async #profiles(tenant: string, userIds: readonly string[]): Promise<UserState[]> {
    const users = await this.known(tenant, userIds);
    return users.map((user) => ({ user, grant: undefined, contact: undefined, hasEnded: () => false }));
  }
}

function conflicted(): Added {
  return { success: false, id: '', message: 'User is being changed by another request.' };
}

const unmailable: Added = { success: false, id: '', message: 'email must be an address that can receive mail.' };

/** A user with the e-mail address as it is mailed, an international domain in punycode; undefined when the address can never be mailed. */
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
  stored: KnownUser,
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

// Grants and contacts begin at a revision of their time: who removes an older one by the revision that was read cannot meet one that took its place.

function grantWrite(
  scope: OrganizationScope,
  resource: Resource,
  { userId, accessRole }: NewUser,
  { user, grant: stored, hasEnded: ended }: UserState,
  now: number,
): WriteOp | undefined {
  const grantedAt = givenAt(user?.departures, scope.organizationKey, now);
  const fresh = { ...scope, ...resource, userId, accessRole: accessRole ?? defaultAccessRole, grantedAt };
  if (!stored) return insert(GrantEntity, fresh, grantedAt);
  if (!isLive(stored, now / 1000) || ended(stored.grantedAt)) return replace(GrantEntity, fresh, stored._r);
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
  const addedAt = givenAt(user?.departures, scope.organizationKey, now);
  const fresh = { ...scope, resource: resource.internalId, userId, addedAt };
  if (!stored) return insert(ContactEntity, fresh, addedAt);
  return ended(stored.addedAt) ? replace(ContactEntity, fresh, stored._r) : undefined;
}

export const readUsers: Capability<UserReader> = /* @__PURE__ */ building([readFolders], {
  grants: [{ resource: 'table', actions: ['BatchGetItem', 'Query'] }],
  env: ['TABLE_NAME'],
  open: (env) => new UserReader(openTable(env)),
});

export const writeUsers: Capability<UserWriter> = /* @__PURE__ */ building([readFolders], {
  grants: [{ resource: 'table', actions: ['BatchGetItem', 'PutItem'] }],
  env: ['TABLE_NAME'],
  open: (env) => new UserWriter(openTable(env)),
});

export const grantAccess: Capability<Pick<UserWriter, 'known' | 'grant'>> = /* @__PURE__ */ storeCapability(
  UserWriter,
  ['BatchGetItem', 'PutItem'],
);

export const updateUsers: Capability<Pick<UserWriter, 'update'>> = /* @__PURE__ */ building([readFolders], {
  grants: [{ resource: 'table', actions: ['BatchGetItem', 'PutItem'] }],
  env: ['TABLE_NAME'],
  open: (env) => new UserWriter(openTable(env)),
});

export const revokeGrants: Capability<Pick<UserWriter, 'revoke'>> = /* @__PURE__ */ storeCapability(UserWriter, [
  'DeleteItem',
]);
