import { beforeAll, describe, expect, test } from '@jest/globals';
import { endpoint as getEndpoint } from '../../../functions/v2/users/get.ts';
import { listUsers, UserLists } from '../../../lib/userData/userLists.ts';
import { acmeWorld, invalid, table } from '../../support/acmeWorld.ts';
import { endpointHandler } from '../../support/functionHandlers.ts';
import { errorOf, post } from '../../support/requests.ts';

const GET = '/v2/users/get';
const COUNT = '/v2/users/count/get';
const UPDATE = '/v2/users/update';
const acme = { organizationId: 'acme' };

const { customer } = acmeWorld({ isShared: true });
const add = (where: object, ...userIds: string[]) =>
  customer.addUsers(
    userIds.map((userId) => ({ userId, name: userId })),
    where,
  );

/**
 * Creates acme with documents at the top and in a folder. Its groups share users. One id contains a character outside
 * the basic multilingual plane.
 */
beforeAll(async () => {
  await customer.addFolders(['folder']);
  await customer.addDocuments(['b'], { folderId: 'folder' });
  await customer.addDocuments(['a', 'c', '__proto__']);
  await add({}, 'u1', 'u2', 'u3', '😀', '\uffee');
  await add({ documentId: 'a' }, 'u1', 'u2', 'u3');
  await add({ documentId: 'b' }, 'u2', 'u4');
  await add({ documentId: '__proto__' }, 'u5');
  await add({ folderId: 'folder' }, 'u4');
  await customer.addGroup('one', ['u1', 'u2', '😀']);
  await customer.addGroup('two', ['u2', 'u3', '\uffee']);
  await customer.addGroup('none', []);
});

const ids = (users: any[]) => users.map(({ userId }) => userId);

/** Returns all pages of a request. */
const pages = (data: object) => customer.pages(GET, { ...acme, ...data });

describe('users/get with groups', () => {
  test('returns the users in any of the groups, each user once, sorted by id', async () => {
    expect((await pages({ organizationUserGroupIds: ['one', 'two', 'none', 'one'] })).map(ids)).toEqual([
      ['u1', 'u2', 'u3', '\uffee', '😀'],
    ]);
    expect((await pages({ organizationUserGroupIds: ['none'] })).map(ids)).toEqual([[]]);
  });

  test('returns NOT_FOUND if one of the groups does not exist', async () => {
    expect(await customer.error(GET, { ...acme, organizationUserGroupIds: ['one', 'three'] })).toEqual([
      404,
      'NOT_FOUND',
      'Organization user group does not exist',
    ]);
  });
});

test('users/get returns INTERNAL with its own message if the table fails', async () => {
  class FailingLists extends UserLists {
    override async page(): Promise<never> {
      throw new Error('the table fails');
    }

    override async ofDocuments(): Promise<never> {
      throw new Error('the table fails');
    }
  }
  const lists = { ...listUsers, open: () => new FailingLists(table) };
  const handler = endpointHandler({ ...getEndpoint, uses: { ...getEndpoint.uses, lists } });
  for (const data of [acme, { ...acme, documentId: 'a' }, { ...acme, allDocuments: true }]) {
    expect(errorOf(await post(handler, customer.headers, data))).toEqual([
      500,
      'INTERNAL',
      'Error retrieving user(s).',
    ]);
  }
});

describe('users/get with allDocuments', () => {
  test('lists users document by document, and a user once for each document', async () => {
    expect((await pages({ allDocuments: true })).map(ids)).toEqual([['u5', 'u1', 'u2', 'u3', 'u2', 'u4']]);
  });

  test('returns users by document with groupByDocumentId, and each once over several pages', async () => {
    for (const pageSize of [1, 2, 4, 100]) {
      const listedUsers = (await pages({ allDocuments: true, groupByDocumentId: true, pageSize })).flatMap((map) =>
        Object.keys(map).flatMap((id) => ids(map[id]).map((userId) => `${id} ${userId}`)),
      );
      expect(listedUsers).toEqual(['__proto__ u5', 'a u1', 'a u2', 'a u3', 'b u2', 'b u4']);
    }
    expect(await pages({ documentId: 'a', groupByDocumentId: true, userIds: ['u2'] })).toEqual([
      { a: [expect.objectContaining({ userId: 'u2' })] },
    ]);
    expect(await pages({ documentId: 'c', groupByDocumentId: true })).toEqual([{ c: [] }]);
  });
});

test.each([
  [
    GET,
    { groupByDocumentId: true },
    ...invalid('groupByDocumentId must be given together with documentId or allDocuments: true'),
  ],
  [COUNT, { organizationId: 'nowhere' }, ...invalid('organizationId: the organization does not exist')],
  [COUNT, { documentId: 'nothing' }, 404, 'NOT_FOUND', 'Document does not exist'],
  [COUNT, { folderId: 'nothing' }, 404, 'NOT_FOUND', 'Folder does not exist'],
  [UPDATE, { documentId: 'nothing', users: [{ userId: 'u1' }] }, 404, 'NOT_FOUND', 'Document does not exist'],
  [UPDATE, { folderId: 'nothing', users: [{ userId: 'u1' }] }, 404, 'NOT_FOUND', 'Folder does not exist'],
])('%s with %j is refused', async (path, data, ...error) => {
  expect(await customer.error(path, { ...acme, ...data })).toEqual(error);
});

describe('users/count/get', () => {
  test('returns the number of users in the contact list of an organization, folder or document', async () => {
    expect(await customer.ok(COUNT, acme)).toEqual({ count: 5 });
    expect(await customer.ok(COUNT, { ...acme, folderId: 'folder' })).toEqual({ count: 1 });
    expect(await customer.ok(COUNT, { ...acme, documentIds: ['a', 'c', 'b', 'a'] })).toEqual({
      a: { count: 3 },
      c: { count: 0 },
      b: { count: 2 },
    });
  });

  test('considers additions and removals at once', async () => {
    await add({ documentId: 'c' }, 'x1', 'x2');
    await customer.ok('/v2/users/delete', { ...acme, documentId: 'c', userIds: ['x1'] });
    expect(await customer.ok(COUNT, { ...acme, documentIds: ['c'] })).toEqual({ c: { count: 1 } });
    await customer.ok('/v2/users/delete', { ...acme, documentId: 'c', userIds: ['x2'] });
  });
});

describe('users/update', () => {
  test('changes the sent fields, and fails only for an unknown user', async () => {
    await customer.addUsers([{ userId: 'ada', name: 'Ada', email: 'ada@example.com' }]);
    const { status, body } = await customer.call(UPDATE, {
      ...acme,
      users: [
        { userId: 'ada', name: 'grace' },
        { userId: 'nobody', name: 'No' },
        { userId: 'ada', name: 'Twice' },
      ],
    });
    expect([status, body.result.message]).toEqual([200, 'User(s) processed successfully.']);
    expect(body.result.data).toEqual({
      ada: { success: true, id: expect.stringMatching(/^usr_/), message: 'User updated.' },
      nobody: { success: false, id: '', message: 'User does not exist.' },
    });
    expect(await customer.ok(GET, { ...acme, userIds: ['ada', 'nobody'] })).toEqual([
      { userId: 'ada', name: 'grace', email: 'ada@example.com', initial: 'G' },
    ]);
  });
});
