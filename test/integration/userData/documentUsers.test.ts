import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { ContactEntity, GrantEntity } from '../../../lib/directory/users.ts';
import { inParallel } from '../../../lib/shared/inParallel.ts';
import { Table, upsert } from '../../../lib/table/table.ts';
import { DocumentUserReader } from '../../../lib/userData/documentUsers.ts';
import { acmeWorld, forAllTests, invalid, table } from '../../support/acmeWorld.ts';
import { JobRunner } from '../../support/jobRunner.ts';
import { startQueues } from '../../support/queues.ts';
import { storedDocumentScope, storedOrganizationScope } from '../../support/storedScope.ts';
import { addThreads } from '../../support/threads.ts';
import { times } from '../../support/times.ts';

const GET = '/v2/users/doc/get';
const acme = { organizationId: 'acme' };
const [a, b, filed] = ['a', 'b', 'filed'].map((documentId) => ({ documentId }));

const { customer } = acmeWorld({ table: 'memory' });
const queues = forAllTests(startQueues);

beforeEach(async () => {
  queues.clear();
  await customer.addFolders(['folder']);
  await customer.addDocuments(['a', 'b']);
  await customer.addDocuments(['filed'], { folderId: 'folder' });
});

const add = (where: object, ...userIds: string[]) =>
  customer.addUsers(
    userIds.map((userId) => ({ userId, name: `Name of ${userId}`, email: 'user@example.com' })),
    where,
  );
const remove = (where: object, ...userIds: string[]) => customer.ok('/v2/users/delete', { ...acme, ...where, userIds });
const grant = (userId: string, documentId: string) =>
  customer.grant(userId, { type: 'document', id: documentId, ...acme, accessRole: 'viewer' });
const idsOf = (users: any[]) => users.map(({ userId }) => userId);
const pages = async (data: object = {}, between?: () => Promise<unknown>) =>
  (await customer.pages(GET, { ...acme, ...data }, between)).map(idsOf);
const listed = async (data: object = {}) => (await pages(data)).flat();

/** Stores grants on documents that do not exist, without a call for each. */
async function storeGrants(userId: string, count: number, more: object = {}): Promise<void> {
  await add({}, userId);
  const scope = await storedOrganizationScope(customer);
  await inParallel(times(count, Number), 8, async (i) => {
    const internalId = `doc_${String(i).padStart(27, '0')}`;
    const item = { ...scope, userId, internalId, grantedAt: Date.now(), ...more };
    await table.write([upsert(GrantEntity, { ...item, resourceType: 'document', accessRole: 'viewer' })]);
  });
}

const onlyGrant = (userId: string) => grant(userId, 'a');
const inFolderOnly = (userId: string) => add({ folderId: 'folder' }, userId);
const onAll = async (userId: string) => {
  for (const where of [{}, a!, b!, filed!]) await add(where, userId);
};

describe('users/doc/get', () => {
  test.each<[string, boolean, (userId: string) => Promise<unknown>]>([
    ['a contact and grant on several documents', true, onAll],
    ['a grant without a contact', true, onlyGrant],
    [
      'a contact whose grant was removed',
      true,
      async (userId) => {
        await add(a!, userId);
        const resources = [{ type: 'document', id: 'a', ...acme }];
        await customer.untyped('/v2/auth/permissions/remove', { userId, permissions: { resources } });
      },
    ],
    ['only an expired grant', false, (userId) => storeGrants(userId, 1, { expiresAt: 1 })],
    ['only a membership', false, (userId) => add({}, userId)],
    ['only a folder', false, inFolderOnly],
    ['a removal from the only document', false, async (userId) => (await add(a!, userId), await remove(a!, userId))],
    ['a removal from one of the documents', true, async (userId) => (await onAll(userId), await remove(a!, userId))],
    ['a removal from the organization', false, async (userId) => (await onAll(userId), await remove({}, userId))],
    [
      'a removal from the folder of the only document',
      false,
      async (userId) => (await add(filed!, userId), await remove({ folderId: 'folder' }, userId)),
    ],
    [
      'a removal from a folder of another organization',
      true,
      async (userId) => {
        await add(a!, userId);
        await customer.addFolders(['theirs'], { organizationId: 'other' });
        await add({ organizationId: 'other', folderId: 'theirs' }, userId);
        await remove({ organizationId: 'other', folderId: 'theirs' }, userId);
      },
    ],
    [
      'an erasure',
      false,
      async (userId) => (await onAll(userId), await customer.ok('/v2/users/data/delete', { userIds: [userId] })),
    ],
    [
      'access in another organization',
      false,
      (userId) => add({ organizationId: 'other', documentId: 'a', createDocument: true }, userId),
    ],
  ])('with %s: a user is listed: %s', async (_case, isListed, prepare) => {
    await prepare('ada');
    expect(await listed()).toEqual(isListed ? ['ada'] : []);
    expect(await listed({ userIds: ['ada'] })).toEqual(isListed ? ['ada'] : []);
  });

  test('lists a user who was removed from a folder when the removal has ended, for other documents', async () => {
    await onAll('ada');
    await remove({ folderId: 'folder' }, 'ada');
    expect(await listed()).toEqual([]);
    for (const { body } of queues.messagesOf('jobs')) await new JobRunner(Date.now()).finish(body);
    expect(await listed()).toEqual(['ada']);
  });

  test('returns profiles as users/get does, in the order of the ids of the request', async () => {
    await add(a!, 'ada', 'grace');
    await onlyGrant('alan');
    const { data, nextPageToken, message } = await customer
      .call(GET, { ...acme, userIds: ['nobody', 'grace', 'alan', 'grace', 'ada'] })
      .then(({ body }) => body.result);
    expect([idsOf(data), nextPageToken, message]).toEqual([
      ['grace', 'alan', 'ada'],
      null,
      'Document users retrieved successfully.',
    ]);
    expect(data.slice(1)).toEqual([
      { userId: 'alan' },
      { userId: 'ada', name: 'Name of ada', email: 'user@example.com', initial: 'N' },
    ]);
  });

  test('adds the involved documents of named users', async () => {
    await add(a!, 'ada', 'grace');
    await addThreads(customer, [{ annotationId: 't', commentData: [{ commentText: 'x', from: { userId: 'ada' } }] }], {
      ...acme,
      ...b,
    });
    const users = await customer.ok(GET, { ...acme, userIds: ['ada', 'grace'], includeInvolvedDocuments: true });
    expect(users).toMatchObject([
      { userId: 'ada', involvedDocuments: ['b'], hasMoreInvolvedDocuments: false },
      { userId: 'grace', involvedDocuments: [], hasMoreInvolvedDocuments: false },
    ]);
  });

  const userIds = ['#~%', '__proto__', 'u1', 'u10', 'u2', 'x'.repeat(250), '\uffee', '😀', '\u{10ffff}'];

  test.each([1, 2, 3, 4, 1_000])('returns each user once in pages of %i while users are added', async (pageSize) => {
    await add(a!, ...userIds);
    await add(b!, ...userIds.slice(3));
    await grant('u1', 'filed');
    let added = 0;
    const read = await pages({ pageSize }, () => add(b!, `u0${added++}`, 'u1', `u1${added}`));
    expect(Math.max(...read.map(({ length }) => length))).toBeLessThanOrEqual(pageSize);
    const ids = read.flat();
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => userIds.includes(id)).toSorted()).toEqual(userIds.toSorted());
  });

  test('reads past the many documents of a user with one query, and at most four queries per page', async () => {
    await storeGrants('busy', 950);
    await storeGrants('expired', 450, { expiresAt: 1 });
    await add(a!, 'ada', 'zoe');
    await add(b!, 'ada', 'zoe');
    const queries = jest.spyOn(Table.prototype, 'queryIndex');
    const perPage: number[] = [];
    const count = async () => void perPage.push(queries.mock.calls.length - perPage.reduce((sum, n) => sum + n, 0));
    expect((await pages({ pageSize: 1 }, count)).filter(({ length }) => length > 0)).toEqual([
      ['ada'],
      ['busy'],
      ['zoe'],
    ]);
    expect(Math.max(...perPage)).toBe(4);
    expect(perPage.slice(0, 2)).toEqual([1, 1]);
    jest.restoreAllMocks();
  });

  test('finds the one grant that counts behind many expired ones', async () => {
    await storeGrants('ada', 350, { expiresAt: 1 });
    await grant('ada', 'a');
    expect(await listed({ pageSize: 1 })).toEqual(['ada']);
    expect(await listed({ userIds: ['ada'] })).toEqual(['ada']);
  });

  test('lists access that version 0.1.0 stored, without index entries, after the user is added again', async () => {
    await add(a!, 'ada');
    const scope = await storedDocumentScope(customer, { ...acme, documentId: 'a' });
    const key = { ...scope, userId: 'ada', resourceType: 'document', internalId: scope.documentKey } as const;
    const items = [
      GrantEntity.toItem({ ...key, accessRole: 'viewer', grantedAt: 1 }),
      ContactEntity.toItem({ ...scope, resource: scope.documentKey, userId: 'ada', addedAt: 1 }),
    ];
    for (const { gsi4pk: _pk, gsi4sk: _sk, ...item } of items)
      await table.write([{ put: item._t === 'Grant' ? { ...item, userId: undefined } : item }]);
    expect(await listed()).toEqual([]);
    await add(a!, 'ada');
    expect(await listed()).toEqual(['ada']);
  });

  test.each([
    [{ organizationId: 'nowhere' }, 'organizationId: the organization does not exist'],
    [{ includeInvolvedDocuments: true }, 'userIds must name 1 to 5 users together with includeInvolvedDocuments'],
    [
      { includeInvolvedDocuments: true, userIds: times(6, String) },
      'userIds must name 1 to 5 users together with includeInvolvedDocuments',
    ],
  ])('rejects %j and names the field', async (data, message) => {
    expect(await customer.error(GET, { ...acme, ...data })).toEqual(invalid(message));
  });
});

test('a page of document users reads the items of no more users than it can return', async () => {
  await add(a!, ...times(30, (i) => `u${i}`));
  const batches = jest.spyOn(Table.prototype, 'batchGet');
  const scope = await storedOrganizationScope(customer);
  const { values } = await new DocumentUserReader(table).page(scope, { limit: 3, after: undefined, now: Date.now() });
  expect(values).toHaveLength(3);
  expect(batches.mock.calls.map((reads: readonly unknown[]) => reads.length)).toEqual([3, 3]);
  jest.restoreAllMocks();
});
