import { beforeEach, describe, expect, test } from '@jest/globals';
import { OrganizationEntity } from '../../../lib/directory/organizations.ts';
import { organizationScope } from '../../../lib/directory/organizationScope.ts';
import { type Group, GroupMemberEntity, GroupMemberRemover, GroupReader } from '../../../lib/directory/userGroups.ts';
import { UserEntity } from '../../../lib/directory/users.ts';
import { inParallel } from '../../../lib/shared/inParallel.ts';
import { replace, upsert } from '../../../lib/table/table.ts';
import { acmeWorld, invalid, table } from '../../support/acmeWorld.ts';
import { withStillClock } from '../../support/stillClock.ts';
import { times } from '../../support/times.ts';

const ADD = '/v2/organizations/usergroups/add';
const GET = '/v2/organizations/usergroups/get';
const ADD_USERS = '/v2/organizations/usergroups/users/add';
const DELETE_USERS = '/v1/organizations/usergroups/users/delete';

const { customer, itemsOf } = acmeWorld({ table: 'memory' });
let internalId: string;
beforeEach(async () => {
  await customer.addOrganizations(['acme']);
  internalId = (await table.get(OrganizationEntity, { tenant: customer.apiKey, organizationId: 'acme' }))!.internalId;
});

const acme = { organizationId: 'acme' };
const lawyers = { ...acme, organizationUserGroupId: 'lawyers' };
const ids = (prefix: string, count: number) => times(count, (index) => `${prefix}${String(index).padStart(4, '0')}`);
const scope = () => organizationScope(customer.apiKey, { internalId });

/** Creates a group of users who already exist. */
async function withGroup(groupId: string, userIds: readonly string[]): Promise<void> {
  if (userIds.length > 0) await customer.addUsers(userIds.map((userId) => ({ userId, name: `Name of ${userId}` })));
  await customer.addGroup(groupId, userIds);
}

/** Creates a group and writes many members of it directly into the table. */
async function manyMembers(userIds: readonly string[], groupId = 'lawyers'): Promise<Group> {
  await withGroup(groupId, []);
  const group = (await new GroupReader(table).getByIds(scope(), [groupId]))[0]!;
  const writes = userIds.flatMap((userId) => [
    upsert(UserEntity, { tenant: customer.apiKey, userId, internalId: userId, createdAt: 1, lastUpdated: 1 }),
    upsert(GroupMemberEntity, { ...scope(), groupKey: group.internalId, userId, addedAt: 1 }),
  ]);
  const slices = times(Math.ceil(writes.length / 100), (index) => writes.slice(index * 100, (index + 1) * 100));
  await inParallel(slices, 4, (slice) => table.write(slice));
  return group;
}

async function members(groupId = 'lawyers'): Promise<string[]> {
  const [group] = await customer.ok(GET, { ...acme, organizationUserGroupIds: [groupId], includeUsers: true });
  return group.users.map(({ userId }: any) => userId);
}

describe('usergroups/add', () => {
  test('adds groups, and fails only for an existing group, which stays unchanged', async () => {
    const { body } = await customer.call(ADD, {
      ...acme,
      organizationUserGroups: [
        { groupId: 'lawyers', groupName: 'Lawyers' },
        { groupId: 'lawyers', groupName: 'again' },
        { groupId: '__proto__' },
      ],
    });
    expect(body.result.message).toBe('Organization User Groups added successfully.');
    expect(Object.entries(body.result.data).map(([id, { success, message }]: any) => [id, success, message])).toEqual([
      ['lawyers', true, 'Organization user group added.'],
      ['__proto__', true, 'Organization user group added.'],
    ]);
    const again = await customer.ok(ADD, {
      ...acme,
      organizationUserGroups: [{ groupId: 'lawyers', groupName: 'other' }, { groupId: 'judges' }],
    });
    expect(again).toMatchObject({
      lawyers: { success: false, id: body.result.data.lawyers.id, message: 'Organization user group already exists.' },
      judges: { success: true },
    });
    expect(await customer.ok(GET, acme)).toEqual([
      { groupId: '__proto__' },
      { groupId: 'judges' },
      { groupId: 'lawyers', groupName: 'Lawyers' },
    ]);
  });

  test('creates the organization with createOrganization, and names the missing organization without it', async () => {
    const other = { organizationId: 'other', organizationUserGroups: [{ groupId: 'lawyers' }] };
    expect(await customer.error(ADD, other)).toEqual(
      invalid('organizationId: the organization does not exist; send createOrganization: true to create it'),
    );
    await customer.ok(ADD, { ...other, createOrganization: true });
    expect(await customer.ok(GET, { organizationId: 'other' })).toEqual([{ groupId: 'lawyers' }]);
    expect(await customer.ok(GET, acme)).toEqual([]);
  });

  test('adds a group once for twenty concurrent calls', async () => {
    const answers = await Promise.all(
      ids('', 20).map(() => customer.ok(ADD, { ...acme, organizationUserGroups: [{ groupId: 'lawyers' }] })),
    );
    expect(answers.filter(({ lawyers: { success } }) => success)).toHaveLength(1);
    expect(new Set(answers.map(({ lawyers: { id } }) => id)).size).toBe(1);
  });
});

describe('usergroups/users/add', () => {
  test('adds users, succeeds for members, and fails only for an unknown user', async () => {
    await withGroup('lawyers', ['ada']);
    await customer.addUsers(['grace'], { organizationId: 'elsewhere' });
    const { body } = await customer.call(ADD_USERS, { ...lawyers, userIds: ['ada', 'grace', 'nobody', 'grace'] });
    expect(body.result).toEqual({
      status: 'success',
      message: 'Added organization users to group successfully.',
      data: {
        ada: { success: true, organizationUserGroupId: 'lawyers', message: 'User added to organization user group.' },
        grace: { success: true, organizationUserGroupId: 'lawyers', message: 'User added to organization user group.' },
        nobody: { success: false, organizationUserGroupId: 'lawyers', message: 'User does not exist.' },
      },
    });
    expect(await members()).toEqual(['ada', 'grace']);
  });

  test('adds each of 500 users once for several concurrent calls', async () => {
    await withGroup('lawyers', []);
    const userIds = ids('u', 500);
    await customer.addUsers(userIds);
    const answers = await Promise.all(ids('', 3).map(() => customer.ok(ADD_USERS, { ...lawyers, userIds })));
    expect(answers.flatMap((answer) => Object.values<any>(answer)).every(({ success }) => success)).toBe(true);
    expect(await members()).toEqual(userIds);
  });

  test('adds a user who left the organization again before the purge job ends', async () => {
    await withGroup('lawyers', ['ada', 'bob']);
    const ada = (await table.get(UserEntity, { tenant: customer.apiKey, userId: 'ada' }))!;
    const revocationTime = Date.now() + 5_000;
    await table.write([
      replace(
        UserEntity,
        {
          tenant: customer.apiKey,
          ...ada,
          revocations: [{ organizationKey: internalId, resource: internalId, at: revocationTime, jobId: 'job' }],
        },
        ada._r,
      ),
    ]);
    expect(await members()).toEqual(['bob']);

    const key = {
      ...scope(),
      groupKey: (await new GroupReader(table).getByIds(scope(), ['lawyers']))[0]!.internalId,
      userId: 'ada',
    };
    const before = (await table.get(GroupMemberEntity, key))!;
    await customer.ok(ADD_USERS, { ...lawyers, userIds: ['ada'] });
    expect(await members()).toEqual(['ada', 'bob']);
    const after = (await table.get(GroupMemberEntity, key))!;
    expect(after.addedAt).toBeGreaterThan(revocationTime);
    // The purge deletes an item only at the revision that it read. The new item has another revision and stays.
    expect(after._r).not.toBe(before._r);
  });
});

describe('usergroups/get', () => {
  test('returns groups in the order of the requested ids, with their users on request', async () => {
    await withGroup('lawyers', ['ada']);
    await withGroup('judges', []);
    expect(
      await customer.ok(GET, { ...acme, organizationUserGroupIds: ['lawyers', 'nothing', 'judges', 'lawyers'] }),
    ).toEqual([{ groupId: 'lawyers' }, { groupId: 'judges' }]);
    expect(await customer.ok(GET, { ...acme, includeUsers: true })).toEqual([
      { groupId: 'judges', users: [] },
      { groupId: 'lawyers', users: [{ userId: 'ada', name: 'Name of ada', initial: 'N' }] },
    ]);
  });

  test('returns more groups than one read returns', async () => {
    const groupIds = ids('group-', 25);
    await customer.ok(ADD, { ...acme, organizationUserGroups: groupIds.map((groupId) => ({ groupId })) });
    expect(await customer.ok(GET, { ...acme, includeUsers: true })).toEqual(
      groupIds.map((groupId) => ({ groupId, users: [] })),
    );
  });

  test('returns each group and user once in pages, even while users are added', async () => {
    const expected: Record<string, string[]> = {};
    for (const [groupId, count] of [
      ['a', 7],
      ['b', 0],
      ['c', 1],
      ['d', 30],
      ['e', 2],
    ] as const)
      await withGroup(groupId, (expected[groupId] = ids(`${groupId}-`, count)));
    for (const [pageSize, organizationUserGroupIds] of [
      [7, undefined],
      [9, ['d', 'a', 'b']],
    ] as const) {
      const data = { ...acme, includeUsers: true, pageSize, organizationUserGroupIds };
      // This new user comes before the returned page in the order of ids. The listing must continue unchanged.
      const pages = await customer.pages(GET, data, () => customer.addUsers(['a']));
      const memberIds = new Map<string, string[]>();
      for (const { groupId, users } of pages.flat())
        memberIds.set(groupId, [...(memberIds.get(groupId) ?? []), ...users.map(({ userId }: any) => userId)]);
      const sizes = pages.map((page: { users: unknown[] }[]) =>
        page.reduce((sum, { users }) => sum + 1 + users.length, 0),
      );
      expect([...memberIds]).toEqual(
        (organizationUserGroupIds ?? Object.keys(expected)).map((groupId) => [groupId, expected[groupId]]),
      );
      expect(Math.max(...sizes)).toBeLessThanOrEqual(Math.max(pageSize, 2));
    }
  });
});

describe('usergroups/users/delete', () => {
  test('fails only for users who are not in the group, and returns one result for a repeated id', async () => {
    await withGroup('lawyers', ['ada', 'bob']);
    await withGroup('judges', ['ada']);
    const absent = {
      success: false,
      organizationUserGroupId: 'lawyers',
      message: 'User is not in the organization user group.',
    };
    const userIds = ['nobody', 'ada', 'nobody', '__proto__'];
    expect(await customer.result(DELETE_USERS, { ...lawyers, userIds, deleteAll: false })).toEqual({
      status: 'success',
      message: 'Deleted users from group successfully.',
      data: Object.assign(Object.create(null), {
        nobody: absent,
        ada: { ...absent, success: true, message: 'User deleted from organization user group.' },
        ['__proto__']: absent,
      }),
    });
    expect([await members(), await members('judges')]).toEqual([['bob'], ['ada']]);
    expect(await customer.ok('/v2/users/get', { ...acme, userIds: ['ada'] })).toHaveLength(1);
  });

  test.each([
    ['neither userIds nor deleteAll', {}, 'userIds must not be empty unless deleteAll is true'],
    ['deleteAll: false alone', { deleteAll: false }, 'userIds must not be empty unless deleteAll is true'],
    [
      'a group that is unknown',
      { organizationUserGroupId: 'nothing', userIds: ['ada'] },
      'organizationUserGroupId: the organization user group does not exist',
    ],
  ])('returns INVALID_ARGUMENT and deletes nobody for %s', async (_what, data, message) => {
    await withGroup('lawyers', ['ada']);
    expect(await customer.error(DELETE_USERS, { ...lawyers, ...data })).toEqual(invalid(message));
    expect(await members()).toEqual(['ada']);
  });

  test('deletes and returns all users with deleteAll, and accepts an empty group or list', async () => {
    const userIds = ids('u', 1_100);
    await manyMembers(userIds);
    await withGroup('judges', ['ada']);
    const data = await withStillClock(() => customer.ok(DELETE_USERS, { ...lawyers, deleteAll: true }));
    expect(Object.keys(data)).toEqual(userIds);
    expect(data.u0000).toEqual({
      success: true,
      organizationUserGroupId: 'lawyers',
      message: 'User deleted from organization user group.',
    });
    expect(await itemsOf(GroupMemberEntity.type)).toMatchObject([{ userId: 'ada' }]);
    expect(await customer.ok(DELETE_USERS, { ...lawyers, deleteAll: true, userIds: [] })).toEqual({});
  });

  test.each([
    ['userIds', { userIds: ['ada', 'bob'] }],
    ['deleteAll', { deleteAll: true }],
  ])('reports with %s only current members, not users who were removed from the organization', async (_name, which) => {
    await withGroup('lawyers', ['ada', 'bob']);
    await customer.ok('/v2/users/delete', { ...acme, userIds: ['ada'] });
    const data = await customer.ok(DELETE_USERS, { ...lawyers, ...which });
    expect(Object.keys(data).filter((userId) => data[userId].success)).toEqual(['bob']);
  });

  test('stops deleteAll after 20 s and continues if the call is repeated', async () => {
    const userIds = ids('u', 1_200);
    const group = await manyMembers(userIds);
    let now = 0;
    await expect(new GroupMemberRemover(table).removeAll(scope(), group, () => (now += 15_000))).rejects.toMatchObject({
      status: 'UNAVAILABLE',
      message: 'Not all users are deleted from the group yet. Send the request again.',
    });
    expect(await new GroupMemberRemover(table).removeAll(scope(), group, () => now)).toEqual(userIds.slice(500));
  });

  test('stops deleteAll with UNAVAILABLE when the response is full, and continues if the call is repeated', async () => {
    const groupId = '字'.repeat(512);
    await manyMembers(ids('字'.repeat(508), 1_500), groupId);
    const call = () =>
      withStillClock(() => customer.call(DELETE_USERS, { ...acme, organizationUserGroupId: groupId, deleteAll: true }));
    const statuses: string[] = [];
    for (;;) {
      const { status, body } = await call();
      statuses.push(body.error?.status ?? body.result.status);
      if (status === 200) break;
      expect(statuses.length).toBeLessThan(5);
    }
    expect(statuses).toEqual(['UNAVAILABLE', 'success']);
    const [group] = await new GroupReader(table).getByIds(scope(), [groupId]);
    expect(
      (await table.query(GroupMemberEntity, { ...scope(), groupKey: group!.internalId }, { limit: 1 })).values,
    ).toEqual([]);
  });
});
