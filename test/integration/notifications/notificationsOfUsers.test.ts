import { beforeEach, describe, expect, test } from '@jest/globals';
import { DocumentEntity } from '../../../lib/directory/documents.ts';
import { acmeWorld } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { deleteItem, everyItem } from '../../support/items.ts';
import { nextMillisecond } from '../../support/nextMillisecond.ts';
import { times } from '../../support/times.ts';

const ADD = '/v2/notifications/add';
const GET = '/v2/notifications/get';

const { engine, customer } = acmeWorld({ table: 'memory', documents: ['nda', 'offer'] });
beforeEach(() => customer.addUsers(['ada', 'grace', 'lin']));

/** Adds a notification at another time than all others, because notifications of the same time have no order. */
const add = (notificationId: string, to: readonly string[] | 'everybody', more: object = {}) => {
  nextMillisecond();
  return customer.ok(ADD, {
    ...nda,
    notificationId,
    actionUser: { userId: 'ada' },
    notifyUsers: to === 'everybody' ? [] : to.map((userId) => ({ userId })),
    notifyAll: to === 'everybody',
    displayHeadlineMessageTemplate: 'x',
    displayBodyMessage: 'y',
    ...more,
  });
};
const notificationIds = async (userId: string, more: object = {}) =>
  (await customer.ok(GET, { organizationId: 'acme', userId, order: 'asc', ...more })).map(
    ({ id }: { id: string }) => id,
  ) as string[];

/** Returns all pages of a user's notifications. Calls `between` after each page. */
const pages = async (data: object, between?: (count: number) => Promise<unknown>): Promise<string[][]> =>
  (await customer.pages(GET, { organizationId: 'acme', ...data }, between)).map((page) =>
    page.map(({ id }: { id: string }) => id),
  );

describe("a user's notifications", () => {
  test('contain notifications for the user and for all users, each once, ordered by time', async () => {
    await add('1', ['grace']);
    await add('2', 'everybody');
    await add('3', ['lin']);
    await add('4', ['grace', 'lin'], { notifyAll: true });
    await add('5', ['grace'], { documentId: 'offer' });
    expect(await notificationIds('grace')).toEqual(['1', '2', '4', '5']);
    expect(await notificationIds('grace', { order: 'desc' })).toEqual(['5', '4', '2', '1']);
    expect(await notificationIds('lin')).toEqual(['2', '3', '4']);
    expect(await notificationIds('grace', { documentId: 'nda' })).toEqual(['1', '2', '4']);
  });

  test('do not contain notifications whose actor is the user, except as a recipient', async () => {
    await add('1', ['grace']);
    expect(await notificationIds('ada')).toEqual([]);
    await add('2', ['ada']);
    expect(await notificationIds('ada')).toEqual(['2']);
  });

  test('contain notifications for all users only if the user has access to the document', async () => {
    await add('1', 'everybody');
    await add('2', 'everybody', { documentId: 'offer' });
    expect(await notificationIds('stranger')).toEqual([]);
    await customer.setAccess('restricted', ['nda']);
    expect(await notificationIds('grace')).toEqual(['2']);
    await customer.addUsers(['grace'], { documentId: 'nda' });
    expect(await notificationIds('grace')).toEqual(['1', '2']);
  });

  test('contain notifications for an unknown user', async () => {
    await add('1', ['stranger']);
    expect(await notificationIds('stranger')).toEqual(['1']);
  });

  test('contain a notification with an access context only if the user has all of the context', async () => {
    await add('1', ['grace'], { context: { access: { region: 'eu', level: 2 } } });
    await add('2', ['grace'], { context: { access: { region: 'eu' } } });
    await add('3', ['grace']);
    expect(await notificationIds('grace')).toEqual(['3']);
    await customer.grant('grace', {
      type: 'document',
      id: 'nda',
      organizationId: 'acme',
      context: { access: { region: ['eu', 'us'] } },
    });
    expect(await notificationIds('grace')).toEqual(['2', '3']);
    await customer.grant('grace', {
      type: 'document',
      id: 'offer',
      organizationId: 'acme',
      context: { access: { level: 2 } },
    });
    expect(await notificationIds('grace')).toEqual(['1', '2', '3']);
    expect(await customer.ok(GET, nda)).toHaveLength(3);
  });

  test('contain no notification of a deleted document, even by id', async () => {
    await add('1', ['grace'], { documentId: 'offer' });
    await add('2', ['grace']);
    const document = (await everyItem(engine)).find(
      ({ _t, documentId, PK: key }) =>
        _t === DocumentEntity.type && documentId === 'offer' && key.includes(customer.apiKey),
    )!;
    await deleteItem(engine, document);
    expect(await notificationIds('grace')).toEqual(['2']);
    expect(await notificationIds('grace', { notificationIds: ['1', '2'] })).toEqual(['2']);
    expect(await customer.ok(GET, { organizationId: 'acme', notificationIds: ['1'] })).toEqual([]);
    await customer.addDocuments(['offer']);
    expect(await notificationIds('grace')).toEqual(['2']);
    await add('1', ['grace'], { documentId: 'offer' });
    expect(await notificationIds('grace')).toEqual(['2', '1']);
  });
});

describe('a notification about a thread', () => {
  const thread = (annotationId: string, visibility?: object) =>
    customer.untyped('/v2/commentannotations/add', {
      ...nda,
      commentAnnotations: [
        { annotationId, visibility, commentData: [{ commentText: 'hello', from: { userId: 'ada' } }] },
      ],
    });
  const about = (id: string, annotationId: string, to: readonly string[] | 'everybody' = ['ada', 'grace', 'lin']) =>
    add(id, to, { notificationSource: 'comment', notificationSourceData: { annotationId } });

  test('is visible to the author, listed users and the server if the thread is restricted', async () => {
    await thread('open');
    await thread('secret', { type: 'restricted', userIds: ['grace'] });
    await about('1', 'open');
    await about('2', 'secret');
    await about('3', 'secret', 'everybody');
    expect(await notificationIds('ada')).toEqual(['1', '2', '3']);
    expect(await notificationIds('grace')).toEqual(['1', '2', '3']);
    expect(await notificationIds('lin')).toEqual(['1']);
    expect(await notificationIds('lin', { notificationIds: ['1', '2', '3'] })).toEqual(['1']);
    expect(await customer.ok(GET, nda)).toHaveLength(3);
    expect(
      (await customer.ok('/v1/notifications/get', { organizationId: 'acme', userId: 'lin' })).map(({ id }: any) => id),
    ).toEqual(['1']);
  });

  test('is visible only to members if the thread is for members of an organization', async () => {
    await customer.ok('/v2/organizations/add', { organizations: [{ organizationId: 'other' }] });
    await customer.addUsers(['lin'], { organizationId: 'other' });
    await thread('members', { type: 'organizationPrivate' });
    await thread('others', { type: 'organizationPrivate', organizationId: 'other' });
    await thread('nobody', { type: 'organizationPrivate', organizationId: 'nowhere' });
    for (const [id, annotationId] of [
      ['1', 'members'],
      ['2', 'others'],
      ['3', 'nobody'],
    ] as const)
      await about(id, annotationId, ['ada', 'grace', 'lin', 'stranger']);
    expect(await notificationIds('ada')).toEqual(['1', '2', '3']);
    expect(await notificationIds('grace')).toEqual(['1']);
    expect(await notificationIds('lin')).toEqual(['1', '2']);
    expect(await notificationIds('stranger')).toEqual([]);
  });

  test("is hidden from users without the thread's access context, now or when the thread was deleted", async () => {
    await thread('t');
    await thread('u');
    await about('1', 't');
    await customer.ok('/v2/commentannotations/update', {
      ...nda,
      annotationIds: ['t', 'u'],
      updatedData: { context: { access: { region: 'eu' } } },
    });
    await about('2', 'u');
    expect([await notificationIds('ada'), await notificationIds('grace')]).toEqual([[], []]);
    await customer.grant('grace', { type: 'organization', id: 'acme', context: { access: { region: 'eu' } } });
    await customer.ok('/v2/commentannotations/delete', {
      ...nda,
      annotationIds: ['u'],
    });
    expect([await notificationIds('ada'), await notificationIds('grace')]).toEqual([[], ['1', '2']]);
  });

  test('is hidden from users without access to the document', async () => {
    await thread('t');
    await about('1', 't');
    await customer.setAccess('restricted', ['nda']);
    expect(await notificationIds('grace')).toEqual([]);
    await customer.addUsers(['grace'], { documentId: 'nda' });
    expect(await notificationIds('grace')).toEqual(['1']);
  });

  test('is visible to readers of the thread. If the thread is deleted, to its readers when the notification was added', async () => {
    await thread('secret', { type: 'restricted', userIds: ['grace'] });
    await about('1', 'secret');
    await customer.ok('/v2/commentannotations/update', {
      ...nda,
      annotationIds: ['secret'],
      updatedData: { visibility: { type: 'restricted', userIds: ['lin'] } },
    });
    expect([await notificationIds('grace'), await notificationIds('lin')]).toEqual([[], ['1']]);
    await customer.ok('/v2/commentannotations/delete', {
      ...nda,
      annotationIds: ['secret'],
    });
    expect([await notificationIds('grace'), await notificationIds('lin')]).toEqual([['1'], []]);
  });

  test('is visible to readers of the thread that an update sets', async () => {
    await thread('secret', { type: 'restricted', userIds: [] });
    await about('1', 'unknown');
    expect(await notificationIds('lin')).toEqual(['1']);
    await customer.ok('/v2/notifications/update', {
      organizationId: 'acme',
      notifications: [{ id: '1', notificationSourceData: { annotationId: 'secret' } }],
    });
    expect(await notificationIds('lin')).toEqual([]);
    await customer.ok('/v2/notifications/update', {
      organizationId: 'acme',
      notifications: [{ id: '1', notificationSourceData: {} }],
    });
    expect(await notificationIds('lin')).toEqual(['1']);
  });
});

describe("pages of a user's notifications", () => {
  const numbered = (count: number) => times(count, (i) => String(i).padStart(3, '0'));

  test.each(['asc', 'desc'])('contain each notification once in order %s while others are written', async (order) => {
    const own = numbered(40);
    for (const [index, id] of own.entries())
      await add(id, index % 3 === 0 ? 'everybody' : index % 3 === 1 ? ['grace'] : ['grace', 'lin']);
    const listedPages = await pages({ userId: 'grace', order, pageSize: 7 }, (page) =>
      Promise.all([
        add(`new-${page}`, page % 2 ? ['grace'] : 'everybody'),
        customer.ok('/v2/notifications/update', {
          organizationId: 'acme',
          notifications: own.slice(0, 20).map((id) => ({ id, readByUserIds: [`reader-${page}`] })),
        }),
        customer.ok('/v2/notifications/delete', { organizationId: 'acme', notificationIds: [`new-${page - 1}`] }),
      ]),
    );
    expect(listedPages.length).toBeGreaterThan(5);
    const flat = listedPages.flat();
    expect(flat.filter((id) => !id.startsWith('new-'))).toEqual(order === 'asc' ? own : own.toReversed());
    expect(new Set(flat).size).toBe(flat.length);
  });

  test('are full although the user may not read most notifications', async () => {
    await customer.setAccess('restricted', ['offer']);
    for (const [index, id] of numbered(60).entries())
      await add(id, 'everybody', { documentId: index % 6 === 0 ? 'nda' : 'offer' });
    const listedPages = await pages({ userId: 'grace', order: 'asc', pageSize: 4 });
    expect(listedPages.map((page) => page.length)).toEqual([4, 4, 2]);
  });

  test('contain each notification even if those for all users are much older', async () => {
    await customer.setAccess('restricted', ['offer']);
    const ids = numbered(20);
    for (const id of ids.slice(0, 12)) await add(id, 'everybody', { documentId: 'offer' });
    for (const id of ids.slice(12, 15)) await add(id, 'everybody');
    for (const id of ids.slice(15)) await add(id, ['grace']);
    expect((await pages({ userId: 'grace', order: 'asc', pageSize: 4 })).flat()).toEqual(ids.slice(12));
    expect((await pages({ userId: 'grace', order: 'desc', pageSize: 4 })).flat()).toEqual(ids.slice(12).reverse());
  });

  test('end if the remaining notifications are deleted between two pages', async () => {
    for (const id of numbered(5)) await add(id, ['grace']);
    const deletes = (page: number) =>
      page === 1
        ? customer.ok('/v2/notifications/delete', { organizationId: 'acme', userId: 'grace' })
        : Promise.resolve();
    expect(await pages({ userId: 'grace', order: 'asc', pageSize: 2 }, deletes)).toEqual([['000', '001'], []]);
  });

  test('reject the page token of another listing', async () => {
    for (const id of numbered(3)) await add(id, ['grace', 'lin']);
    const { pageToken } = (await customer.call(GET, { organizationId: 'acme', userId: 'grace', pageSize: 1 })).body
      .result;
    for (const other of [
      { userId: 'lin' },
      { userId: 'grace', order: 'asc' },
      { userId: 'grace', documentId: 'nda' },
      {},
    ]) {
      expect((await customer.call(GET, { organizationId: 'acme', pageSize: 1, ...other, pageToken })).status).toBe(400);
    }
    expect(
      (await customer.call(GET, { organizationId: 'acme', userId: 'grace', pageSize: 2, pageToken })).body.result.data,
    ).toHaveLength(2);
  });
});
