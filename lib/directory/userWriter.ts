import type { Capability } from '../app/capability.ts';
import { type AccessRole, defaultAccessRole, type Grant } from '../app/rules/access.ts';
import { hasFields } from '../shared/collections.ts';
import { newId } from '../shared/ids.ts';
import { mailableAddress } from '../shared/mailAddress.ts';
import type { ItemResult } from '../shared/results.ts';
import type { Stored } from '../table/entity.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { insert, insertOrReplace, remove, replace, type Table, upsert, type WriteOp } from '../table/table.ts';
import { writeEach } from '../table/writeEach.ts';
import { readRemovals, recordRemoval } from './accessRemovals.ts';
import { readFolders } from './folders/folders.ts';
import type { OrganizationScope } from './organizationScope.ts';
import { accessTimeAfter, everywhere, isUnexpired } from './rules/access.ts';
import { mergeProfile } from './rules/users.ts';
import {
  type Contact,
  ContactEntity,
  GrantEntity,
  isExistingUser,
  type MaybeUser,
  organizationResource,
  type Profile,
  type Resource,
  type StoredGrant,
  type User,
  UserEntity,
  UserReader,
} from './users.ts';

export interface NewUser {
  readonly userId: string;
  readonly profile: Profile;
  /** If undefined, a grant that is still in force keeps its role. */
  readonly accessRole?: AccessRole | undefined;
}

export interface NewMembership {
  readonly scope: OrganizationScope;
  readonly accessRole: AccessRole;
  readonly expiresAt?: number | undefined;
}

export interface ScopedResource {
  readonly scope: OrganizationScope;
  readonly resource: Resource;
}

export type ScopedGrant = ScopedResource & Omit<Grant, 'resourceType' | 'internalId' | 'grantedAt'>;

function distinctResources<R extends ScopedResource>(resources: readonly R[]): R[] {
  return [...new Map(resources.map((entry) => [entry.resource.internalId, entry])).values()];
}

interface UserState {
  readonly user: MaybeUser;
  readonly grant: StoredGrant | undefined;
  readonly contact: Stored<Contact> | undefined;
  readonly hasEnded: (at: number) => boolean;
  readonly wasRemoved?: boolean;
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

  /** Ids must be distinct. */
  async add(
    scope: OrganizationScope,
    resource: Resource,
    users: readonly NewUser[],
    now: number,
  ): Promise<ItemResult[]> {
    return this.#writeEach(users, {
      read: (items) => this.#readState(scope, resource, items),
      decide: (item, state) => addition({ scope, resource }, item, state, now),
    });
  }

  /**
   * Reads the user's state and returns the operations of `add`, for a larger transaction. A new grant gets
   * `newGrantRole` if the user has no `accessRole`. The address in the profile must be mailable.
   */
  async additionOps(
    { scope, resource }: ScopedResource,
    user: NewUser,
    newGrantRole: AccessRole,
    now: number,
  ): Promise<WriteOp[]> {
    const [state] = await this.#readState(scope, resource, [user]);
    const { ops } = addition({ scope, resource }, user, state as UserState, now, { accessRole: newGrantRole });
    return ops.filter((op) => op !== undefined);
  }

  /** Conflicts with a removal that this request did not see. */
  async #join(
    { scope, ...newGrant }: NewMembership,
    item: Pick<NewUser, 'userId' | 'profile'>,
    now: number,
  ): Promise<ItemResult[]> {
    const resource = organizationResource(scope);
    return this.#writeEach([item], {
      read: async (items) => {
        const states = await this.#readState(scope, resource, items);
        if (!states.some((state) => addition({ scope, resource }, item, state, now, newGrant).ops[1])) return states;
        // A removal writes its record before it changes the user.
        const removals = await readRemovals(this.#table, scope, item.userId);
        const wasRemoved = removals.some(
          ({ internalId, removedAt }) => internalId === resource.internalId && removedAt > now,
        );
        return states.map((state) => ({ ...state, wasRemoved }));
      },
      decide: (sent, state) => {
        if (state.wasRemoved) return { result: removedMeanwhile, ops: [] };
        const { result, ops } = addition({ scope, resource }, sent, state, now, newGrant);
        const [user, grant] = ops;
        const touched = grant && state.user ? touch(scope.tenant, state.user) : undefined;
        return { result, ops: [user ?? touched, ...ops.slice(1)] };
      },
    });
  }

  /**
   * Returns a result for each membership, or one for the user if there are none. A membership that must be written
   * fails if the user was removed from the organization after `now`.
   */
  async register(
    tenant: string,
    user: Pick<NewUser, 'userId' | 'profile'>,
    memberships: readonly NewMembership[],
    now: number,
  ): Promise<ItemResult[]> {
    if (memberships.length === 0)
      return this.#writeEach([user], {
        read: (items) => this.#readProfiles(tenant, items),
        decide: (item, state) => {
          const { user: written, op } = profileWrite(tenant, item, state.user, now);
          return { result: { success: true, id: written.internalId, message: 'User added.' }, ops: [op] };
        },
      });
    const results: ItemResult[] = [];
    // Memberships are added one after another, because each write also writes the user.
    for (const membership of memberships) results.push(...(await this.#join(membership, user, now)));
    return results;
  }

  /**
   * An expired grant gets the role, but stays expired. Contact lists do not change. Ids must be distinct. An unknown
   * user fails in its own result only.
   */
  async update(
    tenant: string,
    target: ScopedResource | undefined,
    users: readonly NewUser[],
    now: number,
  ): Promise<ItemResult[]> {
    return this.#writeEach(users, {
      read: (items) =>
        target && items.some(({ accessRole }) => accessRole !== undefined)
          ? this.#readState(target.scope, target.resource, items, { contacts: false })
          : this.#readProfiles(tenant, items),
      decide: (item, state) => {
        if (!isExistingUser(state.user))
          return { result: { success: false, id: '', message: 'User does not exist.' }, ops: [] };
        const hasRole = target && item.accessRole !== undefined;
        return {
          result: { success: true, id: state.user.internalId, message: 'User updated.' },
          ops: [
            profileWrite(tenant, item, state.user, now).op,
            hasRole ? grantWrite(target, item, state, now, { newGrant: { expiresAt: expiryOf(state) } }) : undefined,
          ],
        };
      },
    });
  }

  /**
   * Adds grants, or replaces those on the same resources, and adds a missing user to the tenant. A failed call can be
   * repeated.
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
      return upsert(GrantEntity, item, grantedAt);
    });
    const added = profileWrite(tenant, { userId, profile: {} }, user, now).op;
    await Promise.all([added && this.#table.write([added]), this.#table.writeAll(ops)]);
  }

  /**
   * Also ends the grants in earlier tokens. Writes the removal records first, so that a request that issues a token
   * meanwhile sees the record, or the record's time ends the token. The membership that such a request stores conflicts
   * or is deleted.
   */
  async revoke(tenant: string, userId: string, resources: readonly ScopedResource[]): Promise<void> {
    const distinctGrants = distinctResources(resources);
    const toRemoval = ({ scope, resource }: ScopedResource) =>
      recordRemoval(scope, userId, {
        internalId: resource.internalId,
        isRevocation: false,
        ...(resource.resourceType === 'folder' && { folder: true }),
      });
    await this.#table.writeAll(distinctGrants.map(toRemoval));
    if (distinctGrants.some(({ resource }) => resource.resourceType === 'organization'))
      await retryOnConflict(async () => {
        const user = await this.#table.get(UserEntity, { tenant, userId });
        return user ? this.#table.tryWrite([touch(tenant, user)]) : 'done';
      });
    await this.#table.writeAll(
      distinctGrants.map(({ scope, resource }) => remove(GrantEntity, { ...scope, ...resource, userId })),
    );
  }

  async #writeEach(
    users: readonly NewUser[],
    {
      read,
      decide,
    }: {
      read: (items: readonly NewUser[]) => Promise<UserState[]>;
      decide: (item: NewUser, state: UserState) => Change;
    },
  ): Promise<ItemResult[]> {
    return writeEach<NewUser, UserState, ItemResult>({
      table: this.#table,
      items: users,
      read,
      decide: (sent, state) => {
        const item = withMailableAddress(sent);
        const { result, ops } = decide(item ?? sent, state);
        if (!item && result.success) return { result: unmailable, ops: [] };
        return { result, ops: ops.filter((op) => op !== undefined) };
      },
      conflicted: () => ({ success: false, id: '', message: 'User is being changed by another request.' }),
    });
  }

  async #readState(
    scope: OrganizationScope,
    resource: Resource,
    items: readonly NewUser[],
    { contacts: withContacts = true } = {},
  ): Promise<UserState[]> {
    const userIds = items.map(({ userId }) => userId);
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

  async #readProfiles(tenant: string, items: readonly NewUser[]): Promise<UserState[]> {
    const users = await this.#users.find(
      tenant,
      items.map(({ userId }) => userId),
    );
    return users.map((user) => ({ user, grant: undefined, contact: undefined, hasEnded: () => false }));
  }
}

interface Change {
  readonly result: ItemResult;
  readonly ops: readonly (WriteOp | undefined)[];
}

function addition(
  { scope, resource }: ScopedResource,
  item: NewUser,
  state: UserState,
  now: number,
  newGrant: Partial<Pick<Grant, 'accessRole' | 'expiresAt'>> = {},
): Change {
  const { user, op } = profileWrite(scope.tenant, item, state.user, now);
  // Version 0.1.0 wrote grants and contacts without an entry in gsi4.
  const isUnlisted = resource.resourceType === 'document' && state.grant?.userId === '';
  const renew = isUnlisted || !state.contact || state.hasEnded(state.contact.addedAt);
  const grant = grantWrite({ scope, resource }, item, state, now, { newGrant, renew });
  // The contact is written only with a grant of the same time, so a removal ends both or neither.
  const contact = grant && contactWrite(scope, resource, item.userId, state, now);
  return { result: { success: true, id: user.internalId, message: 'User added.' }, ops: [op, grant, contact] };
}

/** Conflicts with writes that read the user before. */
function touch(tenant: string, user: Stored<User>): WriteOp {
  return replace(UserEntity, { tenant, ...user }, user._r);
}

export const REMOVED_MEANWHILE = 'Access of the user was removed at the same time. Send the request again.';
const removedMeanwhile: ItemResult = { success: false, id: '', message: REMOVED_MEANWHILE };

const unmailable: ItemResult = { success: false, id: '', message: 'email must be an address that can receive mail.' };

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
    return { user, op: insert(UserEntity, { tenant, ...user }, now) };
  }
  const merged = mergeProfile<Profile>(stored, profile);
  const lastUpdated = accessTimeAfter(stored.revocations, everywhere, now);
  return {
    user: stored,
    op:
      isExistingUser(stored) && hasFields<Profile>(stored, merged)
        ? undefined
        : replace(UserEntity, { tenant, ...stored, ...merged, lastUpdated }, stored._r),
  };
}

// The first revision of a grant or contact is its time. So a job, which deletes only the revision that it read, leaves
// a grant that was added again.

function grantWrite(
  { scope, resource }: ScopedResource,
  { userId, accessRole }: NewUser,
  { user, grant: stored, hasEnded: ended }: UserState,
  now: number,
  {
    newGrant = {},
    renew = false,
  }: { newGrant?: Partial<Pick<Grant, 'accessRole' | 'expiresAt'>>; renew?: boolean } = {},
): WriteOp | undefined {
  const grantedAt = accessTimeAfter(user?.revocations, scope.organizationKey, now);
  const role = accessRole ?? newGrant.accessRole ?? defaultAccessRole;
  const fresh = { ...scope, ...resource, userId, accessRole: role, expiresAt: newGrant.expiresAt, grantedAt };
  if (!stored) return insert(GrantEntity, fresh, grantedAt);
  if (!isUnexpired(stored, now / 1000) || ended(stored.grantedAt)) return replace(GrantEntity, fresh, stored._r);
  if (!renew && (accessRole === undefined || accessRole === stored.accessRole)) return undefined;
  const renewed = { ...scope, ...stored, userId, accessRole: accessRole ?? stored.accessRole, grantedAt };
  return replace(GrantEntity, renewed, stored._r);
}

function expiryOf({ grant, hasEnded }: UserState): number | undefined {
  return grant && !hasEnded(grant.grantedAt) ? grant.expiresAt : undefined;
}

function contactWrite(
  scope: OrganizationScope,
  resource: Resource,
  userId: string,
  { user, contact: stored }: UserState,
  now: number,
): WriteOp {
  const addedAt = accessTimeAfter(user?.revocations, scope.organizationKey, now);
  const fresh = { ...scope, resource: resource.internalId, userId, addedAt };
  return insertOrReplace(ContactEntity, fresh, stored, addedAt);
}

export const writeUsers = /* @__PURE__ */ storeCapability(UserWriter, [readFolders, 'BatchGetItem', 'PutItem']);

export const grantAccess: Capability<Pick<UserWriter, 'find' | 'grant'>> = /* @__PURE__ */ storeCapability(UserWriter, [
  'BatchGetItem',
  'PutItem',
]);

export const revokeGrants: Capability<Pick<UserWriter, 'revoke'>> = /* @__PURE__ */ storeCapability(UserWriter, [
  'GetItem',
  'DeleteItem',
  'PutItem',
]);
