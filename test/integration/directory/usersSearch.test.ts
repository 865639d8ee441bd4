import { beforeAll, describe, expect, test } from '@jest/globals';
import { acmeWorld, invalid } from '../../support/acmeWorld.ts';
import { addThreads, comment, thread } from '../../support/threads.ts';
import { times } from '../../support/times.ts';

const GET = '/v2/users/get';
const COUNT = '/v2/users/count/get';
const acme = { organizationId: 'acme' };
const nda = { documentId: 'nda' };

const { customer } = acmeWorld({ table: 'memory', isShared: true });
const add = (where: object, ...users: object[]) => customer.addUsers(users, where);
const crowd = times(2_600, (index) => `c${String(index).padStart(4, '0')}`);
const crowdGroups = times(10, (index) => `g${index}`);
const ids = (users: any[]) => users.map(({ userId }) => userId);

/**
 * Creates acme, whose people are in contact lists and groups. A second organization has many users, and every 100th of
 * them has a name.
 */
beforeAll(async () => {
  await customer.addOrganizations(['acme', 'crowd']);
  await customer.addDocuments(['nda', 'offer', 'plan']);
  await customer.addFolders(['contracts']);
  await add(
    {},
    { userId: 'u1', name: 'Ada Lovelace', email: 'ada@example.com' },
    { userId: 'u2', name: 'Grace Hopper', email: 'grace@navy.example' },
    { userId: 'love-3', name: 'Alan' },
    { userId: 'u4' },
  );
  await add(nda, { userId: 'u1' }, { userId: 'u2' });
  await add({ documentId: 'offer' }, { userId: 'u1' }, { userId: 'love-3' });
  await add({ folderId: 'contracts' }, { userId: 'u4' });
  await customer.addGroup('one', ['u1', 'u2']);
  await customer.addGroup('two', ['love-3', 'u2']);
  for (let from = 0; from < crowd.length; from += 200) {
    const users = crowd
      .slice(from, from + 500)
      .map((userId, index) => ({ userId, name: (from + index) % 100 === 99 ? 'Named' : undefined }));
    await customer.addUsers(users, { organizationId: 'crowd' });
  }
  for (const [index, groupId] of crowdGroups.entries())
    await customer.addGroup(groupId, crowd.slice(index * 260, (index + 1) * 260), { organizationId: 'crowd' });
}, 60_000);

/** Returns the user ids of each page. */
const pages = async (data: object) => (await customer.pages(GET, { ...acme, ...data })).map(ids);

const error = (path: string, data: object) => customer.error(path, { ...acme, ...data });

describe('searchKey of users/get', () => {
  test.each([
    ['LOVE', ['love-3', 'u1']],
    ['lovelace ada', ['u1']],
    ['navy.example', ['u2']],
    ['Ａｄａ', ['u1']],
    ['nobody', []],
    ['ada grace', []],
  ])('finds users by name, e-mail address or id with %s', async (searchKey, expected) => {
    expect(await pages({ searchKey })).toEqual([expected]);
  });

  test.each([1, 2, 3])('returns each match in groups and in documents once, in pages of %i', async (pageSize) => {
    const groups = { organizationUserGroupIds: ['two', 'one'], searchKey: 'a', pageSize };
    expect((await pages(groups)).flat()).toEqual(['love-3', 'u1', 'u2']);
    expect((await pages({ allDocuments: true, searchKey: 'love', pageSize })).flat()).toEqual(['u1', 'love-3', 'u1']);
  });

  test('reads a limited number of users per page, and returns every matching user', async () => {
    const userPages = await pages({ organizationId: 'crowd', searchKey: 'named', pageSize: 7 });
    expect(userPages.flat()).toEqual(crowd.filter((_userId, index) => index % 100 === 99));
    expect(Math.max(...userPages.map(({ length }) => length))).toBe(7);
    const rare = await pages({ organizationId: 'crowd', searchKey: 'c2599' });
    expect(rare).toEqual([[], ['c2599']]);
    const inGroups = { organizationId: 'crowd', organizationUserGroupIds: crowdGroups };
    expect(await pages({ ...inGroups, searchKey: 'c2599' })).toEqual([[], ['c2599']]);
  });

  test('is rejected if it is blank', async () => {
    expect(await error(GET, { searchKey: '  ' })).toEqual(invalid('searchKey must not be blank'));
  });
});

test('users/get with groups and userIds returns those in any of the groups, but no member who left the organization', async () => {
  await add({}, { userId: 'leaver' });
  await customer.addGroup('one', ['leaver']);
  const userIds = ['u4', 'u2', 'love-3', 'leaver', 'u2', 'nobody'];
  const inGroups = (...organizationUserGroupIds: string[]) => pages({ organizationUserGroupIds, userIds });
  expect([await inGroups('one', 'two'), await inGroups('two')]).toEqual([
    [['u2', 'love-3', 'leaver']],
    [['u2', 'love-3']],
  ]);
  await customer.ok('/v2/users/delete', { ...acme, userIds: ['leaver'] });
  expect(await inGroups('one')).toEqual([['u2']]);
});

describe('includeInvolvedDocuments of users/get', () => {
  const addThread = (documentId: string, annotationId: string, userId: string, more: object = {}) =>
    addThreads(customer, [thread(annotationId, { commentData: [comment({ from: { userId }, ...more })] })], {
      documentId,
    });
  const involved = async (data: object) => customer.ok(GET, { ...acme, userIds: ['u1'], ...data });

  test('returns the documents in which a user wrote or is mentioned, newest first, and their number', async () => {
    await addThread('nda', 't1', 'u1');
    await addThread('nda', 't2', 'u1');
    await addThread('plan', 't3', 'u2', { to: [{ userId: 'u1' }] });
    expect(await involved({ includeInvolvedDocuments: true, includeInvolvedDocumentsCount: true })).toMatchObject([
      { userId: 'u1', involvedDocuments: ['plan', 'nda'], involvedDocumentsCount: 2, hasMoreInvolvedDocuments: false },
    ]);
    const [counted] = await involved({ includeInvolvedDocumentsCount: true });
    expect([counted.involvedDocumentsCount, 'involvedDocuments' in counted]).toEqual([2, false]);
    expect(await involved({ userIds: ['u4', 'u2'], includeInvolvedDocuments: true })).toMatchObject([
      { userId: 'u4', involvedDocuments: [] },
      { userId: 'u2', involvedDocuments: ['plan'] },
    ]);
  });

  test('omits deleted documents and documents from which the user was removed', async () => {
    await customer.addDocuments(['gone', 'left']);
    await add({}, { userId: 'u9' });
    for (const documentId of ['gone', 'left']) await addThread(documentId, 't9', 'u9');
    await add({ documentId: 'left' }, { userId: 'u9' });
    await customer.ok('/v2/organizations/documents/delete', { ...acme, documentIds: ['gone'] });
    await customer.ok('/v2/users/delete', { ...acme, documentId: 'left', userIds: ['u9'] });
    expect(await involved({ userIds: ['u9'], includeInvolvedDocumentsCount: true })).toMatchObject([
      { involvedDocumentsCount: 0 },
    ]);
  });

  test('reads the latest thousand comments, and returns hasMoreInvolvedDocuments: true if there are more', async () => {
    await addThread('plan', 'old', 'busy');
    const commentData = times(20, () => ({ commentText: 'x', from: { userId: 'busy' } }));
    for (const annotationId of ['long', 'longer']) {
      await addThread('offer', annotationId, 'busy');
      for (let call = 0; call < 25; call++)
        await customer.ok('/v2/commentannotations/comments/add', {
          ...acme,
          documentId: 'offer',
          annotationId,
          commentData,
        });
    }
    await add({}, { userId: 'busy' });
    expect(await involved({ userIds: ['busy'], includeInvolvedDocuments: true })).toMatchObject([
      { involvedDocuments: ['offer'], hasMoreInvolvedDocuments: true },
    ]);
  });

  test.each([
    [{ userIds: undefined, includeInvolvedDocuments: true }],
    [{ userIds: ['1', '2', '3', '4', '5', '6'], includeInvolvedDocumentsCount: true }],
  ])('requires one to five user ids and rejects %j', async (data) => {
    expect(await error(GET, data)).toEqual(
      invalid('userIds must name 1 to 5 users together with includeInvolvedDocuments or includeInvolvedDocumentsCount'),
    );
  });
});

describe('users/count/get', () => {
  test('counts the users of one document', async () => {
    const { body } = await customer.call(COUNT, { ...acme, ...nda });
    expect(body.result).toEqual({
      status: 'success',
      message: 'Users count retrieved successfully.',
      data: { count: 2 },
    });
  });

  test('counts a user once for each document with allDocuments', async () => {
    expect(await customer.ok(COUNT, { ...acme, allDocuments: true })).toEqual({ count: 4 });
    expect(await customer.ok(COUNT, { ...acme, folderId: 'contracts', allDocuments: false })).toEqual({ count: 1 });
    expect(await customer.ok(COUNT, { organizationId: 'crowd', allDocuments: true })).toEqual({ count: 0 });
  });

  test('counts only the user with the given userId', async () => {
    const count = async (data: object) => customer.ok(COUNT, { ...acme, ...data });
    expect(await count({ userId: 'u1' })).toEqual({ count: 1 });
    expect(await count({ userId: 'nobody' })).toEqual({ count: 0 });
    expect(await count({ ...nda, userId: 'love-3' })).toEqual({ count: 0 });
    expect(await count({ folderId: 'contracts', userId: 'u4' })).toEqual({ count: 1 });
    expect(await count({ documentIds: ['nda', 'offer', 'nda'], userId: 'love-3' })).toEqual({
      nda: { count: 0 },
      offer: { count: 1 },
    });
    expect(await count({ allDocuments: true, userId: 'u1' })).toEqual({ count: 2 });
    expect(await count({ allDocuments: true, userId: 'nobody' })).toEqual({ count: 0 });
  });

  test('names each unknown document in documentIds', async () => {
    const { status, body } = await customer.call(COUNT, { ...acme, documentIds: ['nda', 'nda', 'none'] });
    expect([status, body.error.details.issues]).toEqual([
      404,
      [{ path: ['documentIds', 2], code: 'does_not_exist', message: 'documentIds[2] does not exist' }],
    ]);
  });

  test('with userId, does not count a user who was just removed from a folder above', async () => {
    const removed = { userId: 'removed' };
    await customer.addDocuments(['inside'], { folderId: 'contracts' });
    await customer.addDocuments(['outside']);
    for (const documentId of ['inside', 'outside']) await add({ documentId }, removed);
    const count = async (data: object) => customer.ok(COUNT, { ...acme, ...removed, ...data });
    expect(await count({ allDocuments: true })).toEqual({ count: 2 });
    await customer.ok('/v2/users/delete', { ...acme, folderId: 'contracts', userIds: ['removed'] });
    expect([await count({ allDocuments: true }), await count({ documentIds: ['inside', 'outside'] })]).toEqual([
      { count: 1 },
      { inside: { count: 0 }, outside: { count: 1 } },
    ]);
  });
});
