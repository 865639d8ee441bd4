import * as z from 'zod';
import type { Capability } from '../app/capability.ts';
import { jsonBytes } from '../shared/bytes.ts';
import { ApiError, invalid } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import type { ItemOutcome, ItemResult } from '../shared/results.ts';
import { defineEntity, type Stored } from '../table/entity.ts';
import { type ItemPage, pages } from '../table/pages.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { insert, insertOrReplace, type PageOptions, type QueryPage, type Table } from '../table/table.ts';
import { writeEach } from '../table/writeEach.ts';
import { organizationPartition, type OrganizationScope } from './organizationScope.ts';
import { accessTimeAfter, hasEnded } from './rules/access.ts';
import { fillPage, type GroupCursor, mergePages, type ReadGroup } from './rules/userGroups.ts';
import type { ReadPage } from './searchPage.ts';
import { findUsers, isExistingUser, type User, userIndex } from './users.ts';

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
  pk: (of: { tenant: string; organizationKey: string }) => organizationPartition(of, 'GROUPS'),
  sk: (key: { groupId: string }) => [key.groupId],
});

const MemberSchema = z.object({
  userId: z.string(),
  /** Epoch ms. Later than all revocations that the user had in the organization at that time. */
  addedAt: z.number(),
});
export type GroupMember = z.output<typeof MemberSchema>;

export const GroupMemberEntity = defineEntity({
  type: 'UserGroupMember',
  version: 1,
  scope: 'tenant',
  ownedBy: 'organization',
  purpose: 'The members of a group',
  schema: MemberSchema,
  pk: (of: { tenant: string; organizationKey: string; groupKey: string }) =>
    organizationPartition(of, 'GROUP', of.groupKey),
  sk: (key: { userId: string }) => [key.userId],
  indexes: {
    gsi1: {
      holds: 'the groups that a user is in',
      pk: (member) => userIndex(member),
      sk: ({ groupKey }) => ['group', groupKey],
    },
  },
});

export interface GroupWithMembers {
  readonly group: Group;
  readonly users: readonly User[];
}

type GroupSource = (
  after: string | undefined,
  limit: number,
) => Promise<ItemPage<{ readonly group: Stored<Group>; readonly position: string }>>;

const GROUPS_PER_READ = 10;

export class GroupReader {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async getByIds(scope: OrganizationScope, groupIds: readonly string[]): Promise<(Stored<Group> | undefined)[]> {
    return this.#table.getMany(
      GroupEntity,
      groupIds.map((groupId) => ({ ...scope, groupId })),
    );
  }

  async list(scope: OrganizationScope, options: PageOptions): Promise<QueryPage<Group>> {
    return this.#table.query(GroupEntity, scope, options);
  }

  async requireKeys(scope: OrganizationScope, groupIds: readonly string[]): Promise<string[]> {
    const groups = await this.getByIds(scope, groupIds);
    if (groups.includes(undefined)) throw new ApiError('NOT_FOUND', 'Organization user group does not exist');
    return groups.flatMap((group) => group?.internalId ?? []);
  }

  /**
   * Users of at least one of the groups (internal ids), ordered by user id. Leaves out removed users, so a page can be
   * shorter than `limit`.
   */
  async memberRecords(
    scope: OrganizationScope,
    groupKeys: readonly string[],
    options: PageOptions,
  ): Promise<ReadPage<User>> {
    const pages = groupKeys.map(async (groupKey) => {
      const { values, next } = await this.#table.query(GroupMemberEntity, { ...scope, groupKey }, options);
      return { records: values.map((member) => ({ ...member, key: memberPosition(scope, groupKey, member) })), next };
    });
    const { records, next } = mergePages(await Promise.all(pages), options.limit);
    const users = await usersOf(this.#table, scope, records);
    return {
      records: records.flatMap((record) => {
        const value = users.get(record);
        return value ? [{ key: record.key, value }] : [];
      }),
      next,
    };
  }

  async membersNamed(
    scope: OrganizationScope,
    groupKeys: readonly string[],
    userIds: readonly string[],
  ): Promise<User[]> {
    const keys = userIds.flatMap((userId) => groupKeys.map((groupKey) => ({ ...scope, groupKey, userId })));
    const members = (await this.#table.getMany(GroupMemberEntity, keys)).filter((member) => member !== undefined);
    // Each membership is checked: a user who was removed and added again can have an old one in one group, which does
    // not count, and a new one in another.
    const users = await usersOf(this.#table, scope, members);
    const byUserId = new Map([...users.values()].map((user) => [user.userId, user]));
    return userIds.flatMap((userId) => byUserId.get(userId) ?? []);
  }

  /** `limit` counts groups and members together. */
  async listWithMembers(
    scope: OrganizationScope,
    groupIds: readonly string[] | undefined,
    { limit, after }: PageOptions,
  ): Promise<ItemPage<GroupWithMembers>> {
    const source = groupIds ? this.#among(scope, groupIds) : this.#all(scope);
    const listed: { group: Stored<Group>; members: readonly GroupMember[] }[] = [];
    let cursor = after === undefined ? {} : (JSON.parse(after) as GroupCursor);
    let room = limit;
    for (;;) {
      const { values: groups, next } = await source(cursor.after, Math.min(room, GROUPS_PER_READ));
      const part = fillPage(await this.#withMembers(scope, groups, room, cursor), room, cursor, listed.length > 0);
      listed.push(...part.groups);
      room = part.room;
      const cursorAfter = part.next ?? (next === undefined ? undefined : { after: next });
      if (cursorAfter && room > 0) {
        cursor = cursorAfter;
        continue;
      }
      const users = await usersOf(
        this.#table,
        scope,
        listed.flatMap(({ members }) => members),
      );
      return {
        values: listed.map(({ group, members }) => ({
          group,
          users: members.flatMap((member) => users.get(member) ?? []),
        })),
        next: cursorAfter && JSON.stringify(cursorAfter),
      };
    }
  }

  #all(scope: OrganizationScope): GroupSource {
    return async (after, limit) => {
      const { values, next } = await this.list(scope, { limit, after });
      return { values: values.map((group) => ({ group, position: GroupEntity.key({ ...scope, ...group }).SK })), next };
    };
  }

  #among(scope: OrganizationScope, groupIds: readonly string[]): GroupSource {
    return async (after) => {
      const first = after === undefined ? 0 : Number(after) + 1;
      const groups = await this.getByIds(scope, groupIds.slice(first));
      return {
        values: groups.flatMap((group, index) => (group ? [{ group, position: String(first + index) }] : [])),
        next: undefined,
      };
    };
  }

  async #withMembers(
    scope: OrganizationScope,
    groups: Awaited<ReturnType<GroupSource>>['values'],
    room: number,
    { within }: GroupCursor,
  ): Promise<ReadGroup<Stored<Group>, GroupMember>[]> {
    return Promise.all(
      groups.map(async ({ group, position }) => {
        const { internalId } = group;
        const after = within?.groupKey === internalId ? within.after : undefined;
        const { values, next } = await this.#table.query(
          GroupMemberEntity,
          { ...scope, groupKey: internalId },
          { limit: Math.max(room - 1, 1), after },
        );
        const members = values.map((member) => ({ member, position: memberPosition(scope, internalId, member) }));
        return { group, internalId, position, members, hasMore: next !== undefined };
      }),
    );
  }
}

function memberPosition(scope: OrganizationScope, groupKey: string, { userId }: GroupMember): string {
  return GroupMemberEntity.key({ ...scope, groupKey, userId }).SK;
}

/** Without users who were erased, or removed from the organization after they were added to the group. */
async function usersOf<M extends GroupMember>(
  table: Table,
  { tenant, organizationKey }: OrganizationScope,
  members: readonly M[],
): Promise<Map<M, Stored<User>>> {
  const users = await findUsers(
    table,
    tenant,
    members.map(({ userId }) => userId),
  );
  return new Map(
    members.flatMap((member, index) => {
      const user = users[index];
      return user && !hasEnded(user.revocations, [organizationKey], member.addedAt) ? [[member, user] as const] : [];
    }),
  );
}

export interface NewGroup {
  readonly groupId: string;
  readonly groupName?: string | undefined;
}

interface MemberState {
  readonly user: Stored<User> | undefined;
  readonly member: Stored<GroupMember> | undefined;
}

export class GroupWriter {
  readonly #table: Table;
  readonly #groups: GroupReader;

  constructor(table: Table) {
    this.#table = table;
    this.#groups = new GroupReader(table);
  }

  /** Ids must be distinct. A group that exists fails in its own result only. */
  async add(scope: OrganizationScope, groups: readonly NewGroup[], now: number): Promise<ItemResult[]> {
    return writeEach<NewGroup, Stored<Group> | undefined, ItemResult>({
      table: this.#table,
      items: groups,
      read: (items) =>
        this.#groups.getByIds(
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
   * Ids must be distinct. A user who cannot be added fails in its own result only. Throws NOT_FOUND for an unknown
   * group.
   */
  async addMembers(
    scope: OrganizationScope,
    groupId: string,
    userIds: readonly string[],
    now: number,
  ): Promise<ItemOutcome[]> {
    const [groupKey = ''] = await this.#groups.requireKeys(scope, [groupId]);
    const groupScope = { ...scope, groupKey };
    return writeEach<string, MemberState, ItemOutcome>({
      table: this.#table,
      items: userIds,
      read: async (items) => {
        const [users, members] = await Promise.all([
          findUsers(this.#table, scope.tenant, items),
          this.#table.getMany(
            GroupMemberEntity,
            items.map((userId) => ({ ...groupScope, userId })),
          ),
        ]);
        return items.map((_userId, index) => ({ user: users[index], member: members[index] }));
      },
      decide: (userId, { user, member }) => {
        if (!isExistingUser(user)) return { result: { success: false, message: 'User does not exist.' }, ops: [] };
        const result = { success: true, message: 'User added to organization user group.' };
        if (member && !hasEnded(user.revocations, [scope.organizationKey], member.addedAt)) return { result, ops: [] };
        const added = { ...groupScope, userId, addedAt: accessTimeAfter(user.revocations, scope.organizationKey, now) };
        // The revision is the time of the addition, so a member who was removed and added again has a later revision.
        return {
          result,
          ops: [insertOrReplace(GroupMemberEntity, added, member, added.addedAt)],
        };
      },
      conflicted: () => ({ success: false, message: 'User is being changed by another request.' }),
    });
  }
}

const REMOVAL_MILLISECONDS = 20_000;
const MEMBERS_PER_READ = 500;
/** Bytes of all results in one response, and of one result without its ids. */
const RESPONSE_BYTES = 4_400_000;
const RESULT_BYTES = 120;

export const memberRemoved: ItemOutcome = { success: true, message: 'User deleted from organization user group.' };
const NOT_A_MEMBER: ItemOutcome = { success: false, message: 'User is not in the organization user group.' };

export class GroupMemberRemover {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

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

  /** Ids must be distinct. A user who cannot be removed fails in its own result only. */
  async remove(scope: OrganizationScope, group: Group, userIds: readonly string[]): Promise<ItemOutcome[]> {
    const keys = userIds.map((userId) => ({ ...scope, groupKey: group.internalId, userId }));
    const stored = await this.#table.getMany(GroupMemberEntity, keys);
    const members = stored.filter((member) => member !== undefined);
    const [users] = await Promise.all([
      usersOf(this.#table, scope, members),
      this.#table.removeKeys(keys.filter((_key, index) => stored[index]).map((key) => GroupMemberEntity.key(key))),
    ]);
    return stored.map((member) => (member && users.has(member) ? memberRemoved : NOT_A_MEMBER));
  }

  /**
   * Returns the ids, without those of users who were already erased or removed from the organization. Throws
   * UNAVAILABLE after 20 s, or if the ids do not fit into one response. A repeated call continues.
   */
  async removeAll(scope: OrganizationScope, group: Group, clock: () => number = Date.now): Promise<string[]> {
    const deadline = clock() + REMOVAL_MILLISECONDS;
    const partition = { ...scope, groupKey: group.internalId };
    const resultBytes = RESULT_BYTES + jsonBytes(group.groupId);
    const removed: string[] = [];
    let bytes = 0;
    const read = (after: string | undefined) =>
      this.#table.query(GroupMemberEntity, partition, { limit: MEMBERS_PER_READ, after });
    for await (const { values } of pages(read)) {
      const userIds = values.map(({ userId }) => userId);
      bytes += jsonBytes(userIds) + userIds.length * resultBytes;
      if (bytes > RESPONSE_BYTES || clock() > deadline)
        throw new ApiError('UNAVAILABLE', 'Not all users are deleted from the group yet. Send the request again.');
      const [users] = await Promise.all([
        usersOf(this.#table, scope, values),
        this.#table.removeKeys(userIds.map((userId) => GroupMemberEntity.key({ ...partition, userId }))),
      ]);
      removed.push(...[...users.keys()].map(({ userId }) => userId));
    }
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
