import { beforeEach, describe, expect, test } from '@jest/globals';
import { DocumentEntity } from '../../../lib/directory/documents.ts';
import { acmeWorld, table } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { nextMillisecond } from '../../support/nextMillisecond.ts';
import { addNotification, notificationIds } from '../../support/notifications.ts';
import { storedOrganizationScope } from '../../support/storedScope.ts';
import { addThreads, thread } from '../../support/threads.ts';
import { times } from '../../support/times.ts';

const GET = '/v2/notifications/get';

const { customer } = acmeWorld({ table: 'memory', documents: ['nda', 'offer'] });
beforeEach(() => customer.addUsers(['ada', 'grace', 'lin']));

/** Adds a notification at another time than all others, because notifications of the same time have no order. */
const add = (notificationId: string, to: readonly string[] | 'everybody', more: object = {}) => {
  nextMillisecond();
  return addNotification(customer, notificationId, to, more);
};
const idsOf = async (userId: string, more: object = {}) =>
  notificationIds(await customer.ok(GET, { organizationId: 'acme', userId, order: 'asc', ...more }));
/** Returns the ids of the notifications of each user. */
const idsOfEach = (...userIds: string[]) => Promise.all(userIds.map((userId) => idsOf(userId)));

/** Returns all pages of a user's notifications. Calls `between` after each page. */
const pages = async (data: object, between?: (count: number) => Promise<unknown>): Promise<string[][]> =>
  (await customer.pages(GET, { organizationId: 'acme', userId: 'grace', ...data }, between)).map(notificationIds);

describe("a user's notifications", () => {
  test('contain notifications for the user and for all users, each once, ordered by time', async () => {
    await add('1', ['grace']);
    await add('2', 'everybody');
    await add('3', ['lin']);
    await add('4', ['grace', 'lin'], { notifyAll: true });
    await add('5', ['grace'], { documentId: 'offer' });
    expect(await idsOfEach('grace', 'lin')).toEqual([
      ['1', '2', '4', '5'],
      ['2', '3', '4'],
    ]);
    expect(await idsOf('grace', { order: 'desc' })).toEqual(['5', '4', '2', '1']);
    expect(await idsOf('grace', { documentId: 'nda' })).toEqual(['1', '2', '4']);
  });

  test('do not contain notifications whose actor is the user, except as a recipient, who can be unknown', async () => {
    await add('1', ['stranger']);
    await add('2', ['ada']);
    expect(await idsOfEach('ada', 'stranger')).toEqual([['2'], ['1']]);
  });

  test('contain those for all users or about a thread only if the user has access to the document', async () => {
    await addThreads(customer, ['t']);
    await add('1', 'everybody');
    await add('2', ['grace'], { notificationSource: 'comment', notificationSourceData: { annotationId: 't' } });
    await add('3', 'everybody', { documentId: 'offer' });
    expect(await idsOf('stranger')).toEqual([]);
    await customer.setAccess('restricted', ['nda']);
    expect(await idsOf('grace')).toEqual(['3']);
    await customer.addUsers(['grace'], { documentId: 'nda' });
    expect(await idsOf('grace')).toEqual(['1', '2', '3']);
  });

  test('contain a notification with an access context only if the user has all of the context', async () => {
    await add('1', ['grace'], { context: { access: { region: 'eu', level: 2 } } });
    await add('2', ['grace'], { context: { access: { region: 'eu' } } });
    await add('3', ['grace']);
    expect(await idsOf('grace')).toEqual(['3']);
    const grant = (id: string, access: Record<string, string[] | number>) =>
      customer.grant('grace', { type: 'document', id, organizationId: 'acme', context: { access } });
    await grant('nda', { region: ['eu', 'us'] });
    expect(await idsOf('grace')).toEqual(['2', '3']);
    await grant('offer', { level: 2 });
    expect(await idsOf('grace')).toEqual(['1', '2', '3']);
    expect(await customer.ok(GET, nda)).toHaveLength(3);
  });

  test('contain no notification of a deleted document, even by id', async () => {
    await add('1', ['grace'], { documentId: 'offer' });
    await add('2', ['grace']);
    const key = DocumentEntity.key({ ...(await storedOrganizationScope(customer)), documentId: 'offer' });
    await table.removeKeys([key]);
    expect(await idsOf('grace')).toEqual(['2']);
    expect(await idsOf('grace', { notificationIds: ['1', '2'] })).toEqual(['2']);
    expect(await customer.ok(GET, { organizationId: 'acme', notificationIds: ['1'] })).toEqual([]);
    await customer.addDocuments(['offer']);
    expect(await idsOf('grace')).toEqual(['2']);
    await add('1', ['grace'], { documentId: 'offer' });
    expect(await idsOf('grace')).toEqual(['2', '1']);
  });
});

describe('a notification about a thread', () => {
  const addThread = (annotationId: string, visibility?: object) =>
    addThreads(customer, [thread(annotationId, { visibility })]);
  const restricted = (...userIds: string[]) => ({ type: 'restricted' as const, userIds });
  const update = (annotationIds: string[], updatedData: object) =>
    customer.ok('/v2/commentannotations/update', { ...nda, annotationIds, updatedData });
  const remove = (annotationId: string) =>
    customer.ok('/v2/commentannotations/delete', { ...nda, annotationIds: [annotationId] });
  const about = (id: string, annotationId: string, to: readonly string[] | 'everybody' = ['ada', 'grace', 'lin']) =>
    add(id, to, { notificationSource: 'comment', notificationSourceData: { annotationId } });

  test('is visible to the author, listed users and the server if the thread is restricted', async () => {
    await addThread('open');
    await addThread('secret', restricted('grace'));
    await about('1', 'open');
    await about('2', 'secret');
    await about('3', 'secret', 'everybody');
    expect(await idsOfEach('ada', 'grace', 'lin')).toEqual([['1', '2', '3'], ['1', '2', '3'], ['1']]);
    expect(await idsOf('lin', { notificationIds: ['1', '2', '3'] })).toEqual(['1']);
    expect(await customer.ok(GET, nda)).toHaveLength(3);
    const inV1 = await customer.ok('/v1/notifications/get', { organizationId: 'acme', userId: 'lin' });
    expect(notificationIds(inV1)).toEqual(['1']);
  });

  test('is visible only to members if the thread is for members of an organization', async () => {
    await addThread('members', { type: 'organizationPrivate' });
    await about('1', 'members', ['ada', 'grace', 'stranger']);
    expect(await idsOfEach('ada', 'grace', 'stranger')).toEqual([['1'], ['1'], []]);
  });

  test("is hidden from users without the thread's access context, now or when the thread was deleted", async () => {
    const context = { access: { region: 'eu' } };
    await addThreads(customer, ['t', 'u']);
    await about('1', 't');
    await update(['t', 'u'], { context });
    await about('2', 'u');
    expect(await idsOfEach('ada', 'grace')).toEqual([[], []]);
    await customer.grant('grace', { type: 'organization', id: 'acme', context });
    await remove('u');
    expect(await idsOfEach('ada', 'grace')).toEqual([[], ['1', '2']]);
  });

  test('is visible to readers of the thread. If the thread is deleted, to its readers when the notification was added', async () => {
    await addThread('secret', restricted('grace'));
    await about('1', 'secret');
    await update(['secret'], { visibility: restricted('lin') });
    expect(await idsOfEach('grace', 'lin')).toEqual([[], ['1']]);
    await remove('secret');
    expect(await idsOfEach('grace', 'lin')).toEqual([['1'], []]);
  });

  test('is visible to readers of the thread that an update sets', async () => {
    const change = (notificationSourceData: Record<string, unknown>) =>
      customer.ok('/v2/notifications/update', {
        organizationId: 'acme',
        notifications: [{ id: '1', notificationSourceData }],
      });
    await addThread('secret', restricted());
    await about('1', 'unknown');
    expect(await idsOf('lin')).toEqual(['1']);
    await change({ annotationId: 'secret' });
    expect(await idsOf('lin')).toEqual([]);
    await change({});
    expect(await idsOf('lin')).toEqual(['1']);
  });
});

describe("pages of a user's notifications", () => {
  const numbered = (count: number) => times(count, (i) => String(i).padStart(3, '0'));

  test('are full although the user may not read most notifications', async () => {
    await customer.setAccess('restricted', ['offer']);
    for (const [index, id] of numbered(60).entries())
      await add(id, 'everybody', { documentId: index % 6 === 0 ? 'nda' : 'offer' });
    const listedPages = await pages({ order: 'asc', pageSize: 4 });
    expect(listedPages.map((page) => page.length)).toEqual([4, 4, 2]);
  });

  test('contain each notification even if those for all users are much older', async () => {
    await customer.setAccess('restricted', ['offer']);
    const ids = numbered(20);
    for (const id of ids.slice(0, 12)) await add(id, 'everybody', { documentId: 'offer' });
    for (const id of ids.slice(12, 15)) await add(id, 'everybody');
    for (const id of ids.slice(15)) await add(id, ['grace']);
    expect((await pages({ order: 'asc', pageSize: 4 })).flat()).toEqual(ids.slice(12));
    expect((await pages({ order: 'desc', pageSize: 4 })).flat()).toEqual(ids.slice(12).reverse());
  });

  test('end if the remaining notifications are deleted between two pages', async () => {
    for (const id of numbered(5)) await add(id, ['grace']);
    const deletes = async (page: number) =>
      page === 1 && customer.ok('/v2/notifications/delete', { organizationId: 'acme', userId: 'grace' });
    expect(await pages({ order: 'asc', pageSize: 2 }, deletes)).toEqual([['000', '001'], []]);
  });
});
