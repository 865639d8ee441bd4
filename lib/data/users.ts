import * as z from 'zod';
import type { Capability } from '../capability.ts';
import { type AccessRole, accessRoles, defaultAccessRole, type Grant, isLive, type ResourceType, resourceTypes } from '../domain/access.ts';
import { mergeProfile } from '../domain/users.ts';
import { newId } from '../ids.ts';
import { defineEntity, type Stored } from './entity.ts';
import type { Place } from './folders.ts';
import type { Added } from './organizations.ts';
import { insert, openTable, type Page, remove, replace, type Table, upsert, type WriteOp } from './table.ts';
import { writeEach } from './writeEach.ts';

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

const UserSchema = Profile.extend({ userId: z.string(), internalId: z.string(), createdAt: z.number(), lastUpdated: z.number() });
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

const GrantSchema = z.object({
  resourceType: z.enum(resourceTypes),
  internalId: z.string(),
  accessRole: z.enum(accessRoles),
  /** Unix seconds. */
  expiresAt: z.number().optional(),
  accessFields: z.array(z.string()).optional(),
});

/** What a user was given, in the user's partition of the organization: one query reads all of it. A grant on the organization is membership. */
export const GrantEntity = defineEntity({
  type: 'Grant',
  version: 1,
  scope: 'tenant',
  ownedBy: 'organization',
  purpose: 'What a user was granted in an organization: membership, folders, documents',
  schema: GrantSchema,
  pk: (of: { tenant: string; organization: string; userId: string }) => [of.tenant, 'ORGANIZATION', of.organization, 'USER', of.userId],
  sk: (key: { resourceType: ResourceType; internalId: string }) => ['GRANT', key.resourceType, key.internalId],
});

/** Who is in the contact list of an organization, folder or document. */
export const ContactEntity = defineEntity({
  type: 'Contact',
  version: 1,
  scope: 'tenant',
  ownedBy: 'organization',
  purpose: 'The contact list of an organization, folder or document',
  schema: z.object({ userId: z.string(), addedAt: z.number() }),
  pk: (of: { tenant: string; organization: string; resource: string }) => [of.tenant, 'ORGANIZATION', of.organization, 'CONTACTS', of.resource],
  sk: (key: { userId: string }) => [key.userId],
});

export interface NewUser {
  readonly userId: string;
  readonly profile: Profile;
  /** The role to grant; an existing grant keeps its own when none is given. */
  readonly accessRole?: AccessRole | undefined;
}

/** An organization, folder or document, by its internal id. */
export interface Resource {
  readonly resourceType: ResourceType;
  readonly internalId: string;
}

/** A resource and the organization that it lies in. */
export interface ResourceAt {
  readonly place: Place;
  readonly resource: Resource;
}

export type GrantOn = ResourceAt & Omit<Grant, 'resourceType' | 'internalId'>;

/** One of each resource, as it was named last: a transaction takes no item twice. */
function distinctOn<R extends ResourceAt>(resources: readonly R[]): R[] {
  return [...new Map(resources.map((one) => [one.resource.internalId, one])).values()];
}

export interface ListedUser extends Profile {
  readonly userId: string;
}

export class UserReader {
  protected readonly table: Table;

  constructor(table: Table) {
    this.table = table;
  }

  /** Those of the users that the tenant knows, undefined where it does not. */
  async known(tenant: string, userIds: readonly string[]): Promise<(Stored<User> | undefined)[]> {
    return this.table.getMany(UserEntity, userIds.map((userId) => ({ tenant, userId })));
  }

  /** Everything that a user was granted in an organization: one query, more where there are over a thousand grants. */
  async grants(place: Place, userId: string): Promise<Grant[]> {
    const grants: Grant[] = [];
    let after: string | undefined;
    do {
      const page = await this.table.query(GrantEntity, { ...place, userId }, { prefix: ['GRANT'], limit: 1_000, after });
      grants.push(...page.values);
      after = page.next;
    } while (after !== undefined);
    return grants;
  }

  /** A page of the contact list of a resource, by user id. */
  async contacts(place: Place, resource: Resource, options: { limit: number; after?: string | undefined }): Promise<Page<ListedUser>> {
    const page = await this.table.query(ContactEntity, { ...place, resource: resource.internalId }, options);
    return { values: await this.#profiles(place, page.values), next: page.next };
  }

  /** Those of the users that are in the contact list of a resource. */
  async contactsNamed(place: Place, resource: Resource, userIds: readonly string[]): Promise<ListedUser[]> {
    const [contacts, users] = await Promise.all([
      this.table.getMany(ContactEntity, userIds.map((userId) => ({ ...place, resource: resource.internalId, userId }))),
      this.known(place.tenant, userIds),
    ]);
    return users.filter((user, index) => user !== undefined && contacts[index] !== undefined) as Stored<User>[];
  }

  async #profiles(place: Place, contacts: readonly Stored<{ userId: string; addedAt: number }>[]): Promise<Stored<ListedUser>[]> {
    const users = await this.known(place.tenant, contacts.map(({ userId }) => userId));
    return users.filter((user) => user !== undefined);
  }
}

interface UserState {
  readonly user: Stored<User> | undefined;
  readonly grant: Stored<z.output<typeof GrantSchema>> | undefined;
  readonly contact: Stored<{ userId: string; addedAt: number }> | undefined;
}

export class UserWriter extends UserReader {
  /**
   * Makes users known, grants them the resource and puts them into its contact list; what is there already stays, with
   * the profile updated by the fields that were sent. Ids are distinct.
   */
  async add(place: Place, resource: Resource, users: readonly NewUser[], now: number): Promise<Added[]> {
    return writeEach<NewUser, UserState, Added>({
      table: this.table,
      items: users,
      read: (items) => this.#state(place, resource, items.map(({ userId }) => userId)),
      decide: (item, state) => {
        const { user, op } = profileWrite(place.tenant, item, state.user, now);
        const ops = [op, grantWrite(place, resource, item, state.grant, now), contactWrite(place, resource, item.userId, state.contact, now)];
        return { result: { success: true, id: user.internalId, message: 'User added.' }, ops: ops.filter((one) => one !== undefined) };
      },
      conflicted: () => ({ success: false, id: '', message: 'User is being changed by another request.' }),
    });
  }

  /**
   * Grants a user several resources, over what was granted before; makes the user known as well. A retry after a failure
   * half-way writes the same.
   */
  async grant(tenant: string, userId: string, grants: readonly GrantOn[], now: number): Promise<void> {
    const ops = distinctOn(grants).map(({ place, resource, accessFields, ...grant }) =>
      upsert(GrantEntity, { ...place, ...resource, userId, ...grant, accessFields: accessFields && [...accessFields] }));
    await Promise.all([this.#makeKnown(tenant, userId, now), this.table.writeSurely(ops)]);
  }

  async #makeKnown(tenant: string, userId: string, now: number): Promise<void> {
    const [user] = await this.known(tenant, [userId]);
    if (!user) await this.table.write([insert(UserEntity, { tenant, userId, ...newProfile(now) })]);
  }

  /** Takes back what a user was granted on the resources; what was not granted stays that way. */
  async revoke(userId: string, resources: readonly ResourceAt[]): Promise<void> {
    await this.table.writeSurely(distinctOn(resources).map(({ place, resource }) => remove(GrantEntity, { ...place, ...resource, userId })));
  }

  async #state(place: Place, resource: Resource, userIds: readonly string[]): Promise<UserState[]> {
    const [users, grants, contacts] = await Promise.all([
      this.known(place.tenant, userIds),
      this.table.getMany(GrantEntity, userIds.map((userId) => ({ ...place, ...resource, userId }))),
      this.table.getMany(ContactEntity, userIds.map((userId) => ({ ...place, resource: resource.internalId, userId }))),
    ]);
    return userIds.map((_userId, index) => ({ user: users[index], grant: grants[index], contact: contacts[index] }));
  }
}

function newProfile(now: number) {
  return { internalId: newId('usr', now), createdAt: now, lastUpdated: now };
}

function profileWrite(tenant: string, { userId, profile }: NewUser, stored: Stored<User> | undefined, now: number): { user: User; op: WriteOp | undefined } {
  if (!stored) {
    const user = { userId, ...mergeProfile({}, profile), ...newProfile(now) };
    return { user, op: insert(UserEntity, { tenant, ...user }) };
  }
  const merged = mergeProfile(stored, profile);
  const unchanged = Object.entries(merged).every(([field, value]) => stored[field as keyof User] === value);
  return { user: stored, op: unchanged ? undefined : replace(UserEntity, { tenant, ...stored, ...merged, lastUpdated: now }, stored._r) };
}

function grantWrite(place: Place, resource: Resource, { userId, accessRole }: NewUser, stored: UserState['grant'], now: number): WriteOp | undefined {
  const fresh = { ...place, ...resource, userId, accessRole: accessRole ?? defaultAccessRole };
  if (!stored) return insert(GrantEntity, fresh);
  if (!isLive(stored, now / 1000)) return replace(GrantEntity, fresh, stored._r);
  if (accessRole === undefined || accessRole === stored.accessRole) return undefined;
  return replace(GrantEntity, { ...place, ...stored, userId, accessRole }, stored._r);
}

function contactWrite(place: Place, resource: Resource, userId: string, stored: UserState['contact'], now: number): WriteOp | undefined {
  return stored ? undefined : insert(ContactEntity, { ...place, resource: resource.internalId, userId, addedAt: now });
}

export const readUsers: Capability<UserReader> = {
  grants: [{ resource: 'table', actions: ['BatchGetItem', 'Query'] }],
  env: ['TABLE_NAME'],
  open: (env) => new UserReader(openTable(env)),
};

export const writeUsers: Capability<UserWriter> = {
  grants: [{ resource: 'table', actions: ['BatchGetItem', 'PutItem'] }],
  env: ['TABLE_NAME'],
  open: (env) => new UserWriter(openTable(env)),
};

export const revokeGrants: Capability<Pick<UserWriter, 'revoke'>> = {
  grants: [{ resource: 'table', actions: ['DeleteItem'] }],
  env: ['TABLE_NAME'],
  open: (env) => new UserWriter(openTable(env)),
};
