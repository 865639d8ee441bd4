import * as z from 'zod';
import type { Capability } from '../app/capability.ts';
import { givenAt, hasEnded } from './rules/access.ts';
import { fillPage, type GroupCursor, type ReadGroup } from './rules/userGroups.ts';
import { ApiError, invalid } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import { defineEntity, type Stored } from '../table/entity.ts';
import type { OrganizationScope } from './folders/folders.ts';
import type { Added } from './organizations.ts';
import { insert, type QueryPage, replace, type Table } from '../table/table.ts';
import { type User, UserEntity, userIndex } from './users.ts';
import { writeEach } from '../table/writeEach.ts';
import { storeCapability } from '../table/storeCapability.ts';

const GroupSchema = z.object({
  groupId: z.string(),
  internalId: z.string(),
  groupName: z.string().optional(),
  createdAt: z.number(),
});
export type Group = z.output<typeof GroupSchema>;

export const GroupEntity = defineEntity({
  type: 'UserGroup',
  version: 1,
  scope: 'tenant',
  ownedBy: 'organization',
  purpose: "A group of an organization's users under the customer's id, with its internal id",
  schema: GroupSchema,
  pk: (of: { tenant: string; organizationKey: string }) => [of.tenant, 'ORGANIZATION', of.organizationKey, 'GROUPS'],
  sk: (key: { groupId: string }) => [key.groupId],
});

const MemberSchema = z.object({
  userId: z.string(),
  /** Epoch ms; later than the departures that it outlives. */
  addedAt: z.number(),
});
export type GroupMember = z.output<typeof MemberSchema>;

/** Who is in a group. */
export const GroupMemberEntity = defineEntity({
  type: 'UserGroupMember',
  version: 1,
  scope: 'tenant',
  ownedBy: 'organization',
  purpose: 'The members of a group',
  schema: MemberSchema,
  pk: (of: { tenant: string; organizationKey: string; groupKey: string }) => [
    of.tenant,
    'ORGANIZATION',
    of.organizationKey,
    'GROUP',
    of.groupKey,
  ],
  sk: (key: { userId: string }) => [key.userId],
  indexes: {
    gsi1: {
      holds: 'the groups that a user is in',
      pk: (member) => userIndex(member),
      sk: ({ groupKey }) => ['group', groupKey],
    },
  },
});

/** A group with those of its members that are on a page. */
export interface GroupWithMembers {
  readonly group: Group;
  readonly users: readonly User[];
}

/** Of a list of groups, some after a position, with the position of each. */
type Source = (
  after: string | undefined,
  limit: number,
) => Promise<{
  readonly groups: readonly { readonly group: Stored<Group>; readonly position: string }[];
  readonly next: string | undefined;
}>;

/** How many groups are read at a time to be listed with their members. */
const GROUPS_AT_ONCE = 10;

export class GroupReader {
  protected readonly table: Table;

  constructor(table: Table) {
    this.table = table;
  }

  /** The groups under the customer's ids, undefined where there is none. */
  async named(scope: OrganizationScope, groupIds: readonly string[]): Promise<(Stored<Group> | undefined)[]> {
    return this.table.getMany(
      GroupEntity,
      groupIds.map((groupId) => ({ ...scope, groupId })),
    );
  }

  /** A page of an organization's groups, by id. */
  async list(
    scope: OrganizationScope,
    options: { limit: number; after?: string | undefined },
  ): Promise<QueryPage<Group>> {
    return this.table.query(GroupEntity, scope, options);
  }

  /**
   * A page of the users in the group under the customer's id, by user id; nobody where there is no such group. Who left the organization since, or is
   * known no more, is left out, so that a page can have fewer users than asked for.
   */
  async members(
    scope: OrganizationScope,
    groupId: string,
    options: { limit: number; after?: string | undefined },
  ): Promise<QueryPage<User>> {
    const [group] = await this.named(scope, [groupId]);
    if (!group) return { values: [], next: undefined };
    const { values, next } = await this.table.query(
      GroupMemberEntity,
      { ...scope, groupKey: group.internalId },
      options,
    );
    return { values: [...(await this.#users(scope, values)).values()], next };
  }

  /** Those of the users that are in any of the groups, which are given by their internal ids; in the order of the user ids. */
  async membersNamed(scope: OrganizationScope, groups: readonly string[], userIds: readonly string[]): Promise<User[]> {
    const keys = userIds.flatMap((userId) => groups.map((group) => ({ ...scope, groupKey: group, userId })));
    const members = (await this.table.getMany(GroupMemberEntity, keys)).filter((member) => member !== undefined);
    // Somebody can have left the organization and be in one group since, and in another from before.
    const users = await this.#users(scope, members);
    const byUserId = new Map([...users.values()].map((user) => [user.userId, user]));
    return userIds.flatMap((userId) => byUserId.get(userId) ?? []);
  }

  /**
   * A page of an organization's groups, or of those under the customer's ids, each with its members; `limit` counts both. A group whose members do not fit
   * is on the next page as well, with the members that follow.
   */
  async listWithMembers(
    scope: OrganizationScope,
    groupIds: readonly string[] | undefined,
    { limit, after }: { limit: number; after?: string | undefined },
  ): Promise<{ groups: GroupWithMembers[]; next: string | undefined }> {
    const source = groupIds ? this.#among(scope, groupIds) : this.#all(scope);
    const shown: { group: Stored<Group>; members: readonly GroupMember[] }[] = [];
    let cursor = after === undefined ? {} : (JSON.parse(after) as GroupCursor);
    let room = limit;
    for (;;) {
      const { groups, next } = await source(cursor.after, Math.min(room, GROUPS_AT_ONCE));
      const part = fillPage(await this.#withMembers(scope, groups, room, cursor), room, cursor, shown.length > 0);
      shown.push(...part.shown);
      room = part.room;
      const goesOn = part.next ?? (next === undefined ? undefined : { after: next });
      if (goesOn && room > 0) {
        cursor = goesOn;
        continue;
      }
      const users = await this.#users(
        scope,
        shown.flatMap(({ members }) => members),
      );
      return {
        groups: shown.map(({ group, members }) => ({
          group,
          users: members.flatMap((member) => users.get(member) ?? []),
        })),
        next: goesOn && JSON.stringify(goesOn),
      };
    }
  }

  #all(scope: OrganizationScope): Source {
    return async (after, limit) => {
      const { values, next } = await this.list(scope, { limit, after });
      return { groups: values.map((group) => ({ group, position: GroupEntity.key({ ...scope, ...group }).SK })), next };
    };
  }

  #among(scope: OrganizationScope, groupIds: readonly string[]): Source {
    return async (after) => {
      const first = after === undefined ? 0 : Number(after) + 1;
      const found = await this.named(scope, groupIds.slice(first));
      return {
        groups: found.flatMap((group, index) => (group ? [{ group, position: String(first + index) }] : [])),
        next: undefined,
      };
    };
  }

  async #withMembers(
    scope: OrganizationScope,
    groups: Awaited<ReturnType<Source>>['groups'],
    room: number,
    { within }: GroupCursor,
  ): Promise<ReadGroup<Stored<Group>, GroupMember>[]> {
    return Promise.all(
      groups.map(async ({ group, position }) => {
        const { internalId } = group;
        const after = within?.groupKey === internalId ? within.after : undefined;
        const { values, next } = await this.table.query(
          GroupMemberEntity,
          { ...scope, groupKey: internalId },
          { limit: Math.max(room - 1, 1), after },
        );
        const members = values.map((member) => ({
          member,
          position: GroupMemberEntity.key({ ...scope, groupKey: internalId, ...member }).SK,
        }));
        return { group, internalId, position, members, hasMore: next !== undefined };
      }),
    );
  }

  /** The users that members are; not those who left the organization after they were added, nor those that are known no more. */
  async #users<M extends GroupMember>(
    { tenant, organizationKey }: OrganizationScope,
    members: readonly M[],
  ): Promise<Map<M, Stored<User>>> {
    const users = await this.table.getMany(
      UserEntity,
      members.map(({ userId }) => ({ tenant, userId })),
    );
    return new Map(
      members.flatMap((member, index) => {
        const user = users[index];
        return user && !hasEnded(user.departures, [organizationKey], member.addedAt) ? [[member, user] as const] : [];
      }),
    );
  }
}

export interface NewGroup {
  readonly groupId: string;
  readonly groupName?: string | undefined;
}

/** What became of one user of a call. */
export interface MemberChanged {
  readonly success: boolean;
  readonly message: string;
}

interface MemberState {
  readonly user: Stored<User> | undefined;
  readonly member: Stored<GroupMember> | undefined;
}

export class GroupWriter extends GroupReader {
  /** Adds groups; one that exists is left as it is and fails alone. Ids are distinct. */
  async add(scope: OrganizationScope, groups: readonly NewGroup[], now: number): Promise<Added[]> {
    return writeEach<NewGroup, Stored<Group> | undefined, Added>({
      table: this.table,
      items: groups,
      read: (items) =>
        this.named(
          scope,
          items.map(({ groupId }) => groupId),
        ),
      decide: ({ groupId, groupName }, stored) => {
        if (stored)
          return {
            result: { success: false, id: stored.internalId, message: 'Organization user group already exists.' },
            ops: [],
          };
        const internalId = newId('grp', now);
        return {
          result: { success: true, id: internalId, message: 'Organization user group added.' },
          ops: [insert(GroupEntity, { ...scope, groupId, groupName, internalId, createdAt: now })],
        };
      },
      conflicted: () => ({
        success: false,
        id: '',
        message: 'Organization user group is being changed by another request.',
      }),
    });
  }

  /**
   * Puts users into the group under the customer's id; who is in it stays in it, and a user that the tenant does not know fails alone. NOT_FOUND when there
   * is no such group. Ids are distinct.
   */
  async addMembers(
    scope: OrganizationScope,
    groupId: string,
    userIds: readonly string[],
    now: number,
  ): Promise<MemberChanged[]> {
    const [group] = await this.named(scope, [groupId]);
    if (!group) throw new ApiError('NOT_FOUND', 'Organization user group does not exist');
    const at = { ...scope, groupKey: group.internalId };
    return writeEach<string, MemberState, MemberChanged>({
      table: this.table,
      items: userIds,
      read: async (items) => {
        const [users, members] = await Promise.all([
          this.table.getMany(
            UserEntity,
            items.map((userId) => ({ tenant: scope.tenant, userId })),
          ),
          this.table.getMany(
            GroupMemberEntity,
            items.map((userId) => ({ ...at, userId })),
          ),
        ]);
        return items.map((_userId, index) => ({ user: users[index], member: members[index] }));
      },
      decide: (userId, { user, member }) => {
        if (!user) return { result: { success: false, message: 'User does not exist.' }, ops: [] };
        const result = { success: true, message: 'User added to organization user group.' };
        if (member && !hasEnded(user.departures, [scope.organizationKey], member.addedAt)) return { result, ops: [] };
        const added = { ...at, userId, addedAt: givenAt(user.departures, scope.organizationKey, now) };
        // The revision tells a member who was removed and added again from the one before.
        return {
          result,
          ops: [
            member ? replace(GroupMemberEntity, added, member._r) : insert(GroupMemberEntity, added, added.addedAt),
          ],
        };
      },
      conflicted: () => ({ success: false, message: 'User is being changed by another request.' }),
    });
  }
}

/** How long one call removes; the function itself has some seconds more. */
const REMOVES_FOR_MILLISECONDS = 20_000;
const MEMBERS_AT_ONCE = 500;
/** What the results of one answer may take, and what each has besides its ids. */
const ANSWER_BYTES = 4_400_000;
const RESULT_BYTES = 120;

/** What is said of a user who was taken out of a group. */
export const userDeleted: MemberChanged = { success: true, message: 'User deleted from organization user group.' };
const NOT_A_MEMBER: MemberChanged = { success: false, message: 'User is not in the organization user group.' };

/** Takes users out of groups. */
export class GroupMemberRemover {
  readonly #table: Table;
  readonly #clock: () => number;

  constructor(table: Table, clock: () => number = Date.now) {
    this.#table = table;
    this.#clock = clock;
  }

  /** The group under the customer's id. INVALID_ARGUMENT when there is none: spec 4.21 knows no other failure. */
  async require(scope: OrganizationScope, groupId: string): Promise<Group> {
    const group = await this.#table.get(GroupEntity, { ...scope, groupId });
    if (!group)
      throw invalid({
        path: ['organizationUserGroupId'],
        code: 'does_not_exist',
        message: 'organizationUserGroupId: the organization user group does not exist',
      });
    return group;
  }

  /** Takes users out of a group; who is not in it fails alone. Ids are distinct. */
  async remove(scope: OrganizationScope, group: Group, userIds: readonly string[]): Promise<MemberChanged[]> {
    const keys = userIds.map((userId) => ({ ...scope, groupKey: group.internalId, userId }));
    const members = await this.#table.getMany(GroupMemberEntity, keys);
    await this.#table.removeKeys(keys.filter((_key, index) => members[index]).map((key) => GroupMemberEntity.key(key)));
    return members.map((member) => (member ? userDeleted : NOT_A_MEMBER));
  }

  /**
   * Takes everybody out of a group and gives who that was. UNAVAILABLE when 20 s do not suffice, or when these are more than one answer can name: so many are
   * out then, and the same call goes on.
   */
  async removeAll(scope: OrganizationScope, group: Group): Promise<string[]> {
    const until = this.#clock() + REMOVES_FOR_MILLISECONDS;
    const removed: string[] = [];
    let bytes = 0;
    let after: string | undefined;
    do {
      const page = await this.#table.query(
        GroupMemberEntity,
        { ...scope, groupKey: group.internalId },
        { limit: MEMBERS_AT_ONCE, after },
      );
      const userIds = page.values.map(({ userId }) => userId);
      bytes +=
        Buffer.byteLength(JSON.stringify(userIds)) +
        userIds.length * (RESULT_BYTES + Buffer.byteLength(JSON.stringify(group.groupId)));
      if (bytes > ANSWER_BYTES || this.#clock() > until)
        throw new ApiError('UNAVAILABLE', 'Not all users are deleted from the group yet. Send the request again.');
      await this.#table.removeKeys(
        userIds.map((userId) => GroupMemberEntity.key({ ...scope, groupKey: group.internalId, userId })),
      );
      removed.push(...userIds);
      after = page.next;
    } while (after !== undefined);
    return removed;
  }
}

export const readGroups = /* @__PURE__ */ storeCapability(GroupReader, ['BatchGetItem', 'Query']);

export const writeGroups: Capability<Pick<GroupWriter, 'add' | 'addMembers'>> = /* @__PURE__ */ storeCapability(
  GroupWriter,
  ['BatchGetItem', 'PutItem'],
);

export const removeGroupMembers = /* @__PURE__ */ storeCapability(GroupMemberRemover, [
  'GetItem',
  'BatchGetItem',
  'Query',
  'BatchWriteItem',
]);
