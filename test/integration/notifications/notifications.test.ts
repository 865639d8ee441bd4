import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { OrganizationEntity } from '../../../lib/directory/organizations.ts';
import { NotificationDeleter } from '../../../lib/notifications/deleteNotifications.ts';
import { acmeWorld, invalid, table } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { everyItem } from '../../support/items.ts';
import { withStillClock } from '../../support/stillClock.ts';
import { times } from '../../support/times.ts';

const ADD = '/v2/notifications/add';
const GET = '/v2/notifications/get';
const GET_V1 = '/v1/notifications/get';
const UPDATE = '/v2/notifications/update';
const DELETE = '/v2/notifications/delete';

const { engine, customer } = acmeWorld({ table: 'memory', documents: ['nda', 'offer'] });

const ada = { userId: 'ada', name: 'Ada', email: 'Ada@Example.com' };
const grace = { userId: 'grace', email: 'grace@example.com' };
const texts = { displayHeadlineMessageTemplate: '{actionUser} signed', displayBodyMessage: 'It is done.' };
const md5 = (text: string) => createHash('md5').update(text).digest('hex');

const add = (notificationId: string, more: object = {}) =>
  customer.ok(ADD, {
    ...nda,
    notificationId,
    actionUser: ada,
    notifyUsers: [grace],
    notifyAll: false,
    ...texts,
    ...more,
  });
const get = (filter: object, path = GET) => customer.untyped(path, { organizationId: 'acme', ...filter });
const ids = async (filter: object, path = GET) => [...(await get(filter, path))].map(({ id }: { id: string }) => id);

/** Returns all pages of a listing. */
const pages = (data: object) => customer.pages(GET, { organizationId: 'acme', ...data });

describe('POST /v2/notifications/add', () => {
  test('adds missing fields of the actor from the stored profile, and keeps the sent fields', async () => {
    await customer.addUsers([{ ...ada, photoUrl: 'https://example.com/ada.png' }]);
    await add('n-1', { actionUser: { userId: 'ada' } });
    await add('n-2', { actionUser: { userId: 'ada', name: 'Countess' } });
    await add('n-3', { actionUser: { userId: 'nobody' } });
    const actors = (await get({ documentId: 'nda', order: 'asc' })).map(({ actionUser }: any) => actionUser);
    expect(actors).toEqual([
      { ...ada, photoUrl: 'https://example.com/ada.png' },
      { ...ada, name: 'Countess', photoUrl: 'https://example.com/ada.png' },
      { userId: 'nobody' },
    ]);
  });

  test('returns success and stores all documented fields', async () => {
    const before = Date.now();
    const { status, body } = await customer.call(ADD, {
      ...nda,
      notificationId: 'n-1',
      actionUser: ada,
      notifyUsers: [ada, grace, { userId: 'lin' }],
      notifyAll: false,
      displayHeadlineMessageTemplate: '{actionUser} asks {recipientUser} about {thing}',
      displayHeadlineMessageTemplateData: { actionUser: ada, recipientUser: grace, thing: 'the NDA' },
      displayBodyMessage: 'Due {day}',
      notificationSourceData: JSON.parse('{"a":[1,{"b":null}],"__proto__":{"x":1}}'),
      location: { id: 7, locationName: 'Chapter', page: 3 },
      metadata: { ticket: 'T-1', apiKey: 'not this' },
      context: { access: { region: ['us', 'eu'] } },
    });
    expect([status, body.result]).toEqual([
      200,
      {
        status: 'success',
        message: 'Notification added successfully.',
        data: { success: true, message: 'Notification added successfully.' },
      },
    ]);
    const [notification] = await get({ notificationIds: ['n-1'] });
    expect(notification).toEqual({
      id: 'n-1',
      notificationSource: 'custom',
      notificationSourceData: JSON.parse('{"a":[1,{"b":null}],"__proto__":{"x":1}}'),
      actionUser: ada,
      displayHeadlineMessageTemplate: '{actionUser} asks {recipientUser} about {thing}',
      displayHeadlineMessageTemplateData: { actionUser: ada, recipientUser: grace, thing: 'the NDA' },
      displayBodyMessage: 'Due {day}',
      metadata: { ticket: 'T-1', apiKey: customer.apiKey, ...nda },
      notifyUsers: { [md5('ada@example.com')]: true, [md5('grace@example.com')]: true },
      notifyUsersByUserId: { [md5('ada')]: true, [md5('grace')]: true, [md5('lin')]: true },
      notifyAll: false,
      context: { access: { region: ['us', 'eu'] }, accessFields: ['region:eu', 'region:us'] },
      location: { id: 7, locationName: 'Chapter', page: 3 },
      locationId: '7',
      timestamp: expect.any(Number),
    });
    expect(Object.getOwnPropertyDescriptor(notification.notificationSourceData, '__proto__')?.value).toEqual({ x: 1 });
    expect(notification.timestamp).toBeGreaterThanOrEqual(before);
  });

  test('requires both message templates unless a resolver provides them', async () => {
    const data = { ...nda, actionUser: ada, notifyUsers: [grace] };
    expect(await customer.error(ADD, { ...data, displayHeadlineMessageTemplate: 'x' })).toEqual(
      invalid('displayBodyMessage is required unless isNotificationResolverUsed is true'),
    );
    expect(await customer.error(ADD, { ...data, displayBodyMessage: 'x', isNotificationResolverUsed: false })).toEqual(
      invalid('displayHeadlineMessageTemplate is required unless isNotificationResolverUsed is true'),
    );
    await customer.ok(ADD, { ...data, isNotificationResolverUsed: true });
    expect(await get({})).toMatchObject([{ isNotificationResolverUsed: true, notifyAll: true }]);
  });

  test.each([
    [
      'an id with other characters',
      { notificationId: 'a:b' },
      'notificationId must consist of letters, digits, _ and -',
    ],
    [
      'more than 50 users',
      { notifyUsers: times(51, (i) => ({ userId: `u${i}` })) },
      'notifyUsers must have at most 50 items',
    ],
    ['nobody to notify', { notifyUsers: [] }, 'notifyUsers must not be empty when notifyAll is false'],
    ['no actor', { actionUser: undefined }, 'actionUser is required'],
    ['an empty location', { location: {} }, 'location must have an id, a locationName or another key'],
    ['a text of another type', { displayBodyMessage: 1 }, 'displayBodyMessage must be a string'],
    ['notifyAll of another type', { notifyAll: 'false' }, 'notifyAll must be a boolean'],
    [
      'more than 256 KB in all',
      Object.fromEntries(
        [
          'notificationSourceData',
          'displayHeadlineMessageTemplateData',
          'displayBodyMessageTemplateData',
          'metadata',
          'location',
        ].map((field) => [field, { id: 'l', x: 'x'.repeat(65_000) }]),
      ),
      'data must be at most 262144 bytes as JSON',
    ],
  ])('rejects %s and stores nothing', async (_what, more, message) => {
    expect(
      await customer.error(ADD, { ...nda, actionUser: ada, notifyUsers: [grace], notifyAll: false, ...texts, ...more }),
    ).toEqual(invalid(message));
    expect(await get({})).toEqual([]);
  });

  test('succeeds and changes nothing if the id exists in the same document', async () => {
    await add('same');
    await add('same', { displayBodyMessage: 'again', notifyUsers: [ada] });
    expect(await get({ documentId: 'nda' })).toMatchObject([{ id: 'same', displayBodyMessage: 'It is done.' }]);
    expect(await ids({ userId: 'ada' })).toEqual([]);
  });

  test('returns ALREADY_EXISTS if the id exists in another document', async () => {
    await add('taken');
    expect(
      await customer.error(ADD, {
        organizationId: 'acme',
        documentId: 'offer',
        notificationId: 'taken',
        actionUser: ada,
        notifyUsers: [grace],
        ...texts,
      }),
    ).toEqual([409, 'ALREADY_EXISTS', expect.any(String)]);
    expect(await ids({})).toEqual(['taken']);
  });

  test('stores one notification for 20 concurrent requests with the same id', async () => {
    await Promise.all(times(20, () => add('once')));
    expect(await ids({})).toEqual(['once']);
    const own = (await everyItem(engine)).filter(({ PK, _t }) => _t === 'Involvement' && PK.includes(customer.apiKey));
    expect(own).toHaveLength(2);
  });

  test('creates a missing organization and document only with createOrganization and createDocument', async () => {
    const data = { actionUser: ada, notifyUsers: [grace], ...texts };
    expect(await customer.error(ADD, { ...data, organizationId: 'new', documentId: 'new' })).toEqual([
      400,
      'INVALID_ARGUMENT',
      expect.any(String),
    ]);
    expect(await customer.error(ADD, { ...data, organizationId: 'acme', documentId: 'new' })).toEqual([
      404,
      'NOT_FOUND',
      expect.any(String),
    ]);
    await customer.ok(ADD, {
      ...data,
      organizationId: 'new',
      createOrganization: true,
      documentId: 'new',
      createDocument: true,
    });
    expect(await customer.ok(GET, { organizationId: 'new' })).toHaveLength(1);
  });

  test('removes recipients without access to the document if verifyUserPermissions is true', async () => {
    await customer.setAccess('restricted', ['nda']);
    await customer.addUsers(['grace'], { documentId: 'nda' });
    await customer.addUsers(['lin']);
    await add('checked', {
      notifyUsers: [grace, { userId: 'lin' }, { userId: 'stranger' }],
      verifyUserPermissions: true,
    });
    await add('unchecked', { notifyUsers: [grace, { userId: 'lin' }, { userId: 'stranger' }] });
    const [unchecked, checked] = await get({ documentId: 'nda' });
    expect(checked.notifyUsersByUserId).toEqual({ [md5('grace')]: true });
    expect(Object.keys(unchecked.notifyUsersByUserId)).toHaveLength(3);
    expect(await ids({ userId: 'lin' })).toEqual(['unchecked']);
  });

  test("considers access to the document's folder if verifyUserPermissions is true", async () => {
    await customer.addFolders([
      { folderId: 'top', accessType: 'restricted' },
      { folderId: 'sub', parentFolderId: 'top' },
    ]);
    await customer.addDocuments(['filed'], { folderId: 'sub' });
    await customer.addUsers(['grace'], { folderId: 'top' });
    await customer.addUsers(['lin']);
    await add('filed', { documentId: 'filed', notifyUsers: [grace, { userId: 'lin' }], verifyUserPermissions: true });
    expect((await get({ notificationIds: ['filed'] }))[0].notifyUsersByUserId).toEqual({ [md5('grace')]: true });
  });

  test('stores one notification if a call is repeated with its Idempotency-Key', async () => {
    const data = { ...nda, actionUser: ada, notifyUsers: [grace], ...texts };
    for (let i = 0; i < 3; i++)
      expect((await customer.call(ADD, data, { 'idempotency-key': 'once' })).status).toBe(200);
    expect(await ids({})).toHaveLength(1);
  });
});

describe('POST /v2/notifications/get', () => {
  test('combines the filters document, location and ids, and finds a location by id or by name', async () => {
    await add('a', { location: { id: 'l1' } });
    await add('b', { location: { locationName: 'Chapter' } });
    await add('c', { documentId: 'offer', location: { id: 'l1' } });
    await add('d');
    const named = (await get({ notificationIds: ['b'] }))[0].locationId;
    expect(await ids({ documentId: 'nda', order: 'asc' })).toEqual(['a', 'b', 'd']);
    expect(await ids({ documentId: 'nda' })).toEqual(['d', 'b', 'a']);
    expect(await ids({ documentId: 'nda', locationId: 'l1' })).toEqual(['a']);
    expect(await ids({ locationId: 'l1' })).toEqual(['a', 'c']);
    expect(await ids({ locationId: named })).toEqual(['b']);
    expect(await ids({ notificationIds: ['d', 'c', 'nowhere', 'a', 'a'], order: 'asc' })).toEqual(['a', 'c', 'd']);
    expect(await ids({ notificationIds: ['a', 'c', 'd'], documentId: 'nda', locationId: 'l1' })).toEqual(['a']);
    expect(await ids({ notificationIds: ['a', 'c'], userId: 'ada' })).toEqual([]);
    expect(await ids({ notificationIds: ['c', 'a'], userId: 'grace', documentId: 'offer' })).toEqual(['c']);
    expect(await ids({})).toHaveLength(4);
  });

  test.each([
    ['more than 30 ids', { notificationIds: times(31, (i) => `n${i}`) }, 'notificationIds must have at most 30 items'],
    ['an unknown organization', { organizationId: 'nowhere' }, 'organizationId: the organization does not exist'],
    ['another order', { order: 'up' }, 'order must be "asc" or "desc"'],
    ['a token of another listing', { pageToken: 'x' }, 'pageToken is not a token of this listing, or has expired'],
  ])('rejects %s with INVALID_ARGUMENT', async (_what, more, message) => {
    expect(await customer.error(GET, { organizationId: 'acme', ...more })).toEqual(invalid(message));
  });

  test('returns NOT_FOUND for an unknown document', async () => {
    expect(await customer.error(GET, { organizationId: 'acme', documentId: 'nowhere' })).toEqual([
      404,
      'NOT_FOUND',
      expect.any(String),
    ]);
  });

  test.each(['asc', 'desc'])(
    'returns each notification of a document once in order %s while others are written',
    async (order) => {
      for (let i = 0; i < 25; i++) await add(`n${String(i).padStart(2, '0')}`);
      const first = (await customer.call(GET, { ...nda, order, pageSize: 10 })).body.result;
      await Promise.all([
        add('z-during'),
        customer.ok(UPDATE, {
          organizationId: 'acme',
          notifications: [
            { id: 'n05', displayBodyMessage: 'changed' },
            { id: 'n20', readByUserIds: ['grace'] },
          ],
        }),
      ]);
      const second = (await customer.call(GET, { ...nda, order, pageSize: 10, pageToken: first.pageToken })).body
        .result;
      const third = (await customer.call(GET, { ...nda, order, pageSize: 10, pageToken: second.pageToken })).body
        .result;
      const listedIds = [...first.data, ...second.data, ...third.data].map(({ id }: any) => id);
      expect(listedIds.filter((id) => id !== 'z-during').sort()).toEqual(
        times(25, (i) => `n${String(i).padStart(2, '0')}`),
      );
      expect(new Set(listedIds).size).toBe(listedIds.length);
      expect(third.pageToken).toBeNull();
    },
  );

  test('returns more than 1 MB in responses below 5 MB', async () => {
    const large = { notificationSourceData: { x: 'x'.repeat(60_000) }, metadata: { x: 'x'.repeat(60_000) } };
    for (let i = 0; i < 60; i++) await add(`n${i}`, large);
    const listedPages = await pages({ documentId: 'nda' });
    expect(listedPages.length).toBeGreaterThan(1);
    expect(new Set(listedPages.flat().map(({ id }) => id)).size).toBe(60);
    expect(Math.max(...listedPages.map((page) => JSON.stringify(page).length))).toBeLessThan(5_000_000);
    const forGrace = await pages({ userId: 'grace' });
    expect(forGrace.flat().map(({ id }) => id)).toEqual(listedPages.flat().map(({ id }) => id));
    expect(Math.max(...forGrace.map((page) => JSON.stringify(page).length))).toBeLessThan(5_000_000);
  });
});

describe('POST /v1/notifications/get', () => {
  test('returns the selected notifications, newest first, without a page token', async () => {
    await add('a', { location: { id: 'l1' } });
    await add('b', { notifyUsers: [{ userId: 'lin' }] });
    // The order of notifications of two documents that were added in the same millisecond is not defined.
    const addedAt = Date.now();
    while (Date.now() === addedAt);
    await add('c', { documentId: 'offer' });
    const { body } = await customer.call(GET_V1, nda);
    expect(Object.keys(body.result)).toEqual(['status', 'message', 'data']);
    expect(body.result.message).toBe('Notification(s) retrieved successfully.');
    expect(body.result.data.map(({ id }: any) => id)).toEqual(['b', 'a']);
    expect(await ids({ locationId: 'l1' }, GET_V1)).toEqual(['a']);
    expect(await ids({ userId: 'grace' }, GET_V1)).toEqual(['c', 'a']);
    expect(await ids({ userId: 'grace', notificationIds: ['a', 'b'] }, GET_V1)).toEqual(['a']);
    expect(await ids({}, GET_V1)).toEqual(['c', 'b', 'a']);
  });

  test('rejects more than 30 notificationIds', async () => {
    expect(
      await customer.error(GET_V1, {
        organizationId: 'acme',
        notificationIds: times(31, (i) => `n${i}`),
      }),
    ).toEqual(invalid('notificationIds must have at most 30 items'));
  });

  test('returns the newest notifications that fit. If given ids do not fit, returns INVALID_ARGUMENT', async () => {
    const large = {
      notificationSourceData: { x: 'x'.repeat(64_000) },
      metadata: { x: 'x'.repeat(64_000) },
      displayHeadlineMessageTemplateData: { x: 'x'.repeat(64_000) },
    };
    for (let i = 0; i < 27; i++) await add(`n${i}`, large);
    const { status, body } = await customer.call(GET_V1, nda);
    expect(status).toBe(200);
    const listedIds = body.result.data.map(({ id }: any) => id);
    expect(listedIds.length).toBeLessThan(27);
    expect(listedIds).toEqual(times(listedIds.length, (i) => `n${26 - i}`));
    expect(
      await customer.error(GET_V1, {
        organizationId: 'acme',
        notificationIds: times(27, (i) => `n${i}`),
      }),
    ).toEqual([400, 'INVALID_ARGUMENT', expect.stringContaining('notificationIds')]);
  });
});

describe('POST /v2/notifications/update', () => {
  const update = (notifications: object[], more: object = {}) =>
    customer.untyped(UPDATE, { organizationId: 'acme', notifications, ...more });
  const updated = { success: true, message: 'Notification updated.' };
  const failed = { success: false, message: 'Failed to update notification.' };

  test('replaces the sent fields, adds readers, and fails only for an unknown id', async () => {
    await add('a', { notificationSourceData: { a: 1 } });
    expect(
      await update([
        { id: 'a', displayBodyMessage: 'new', readByUserIds: ['grace'], persistReadForUsers: true },
        { id: 'nowhere', displayBodyMessage: 'new' },
      ]),
    ).toEqual({ a: updated, nowhere: failed });
    expect(await update([{ id: 'a', notificationSourceData: { b: 2 }, readByUserIds: ['lin', 'grace'] }])).toEqual({
      a: updated,
    });
    expect(await get({ notificationIds: ['a'] })).toMatchObject([
      {
        displayHeadlineMessageTemplate: texts.displayHeadlineMessageTemplate,
        displayBodyMessage: 'new',
        notificationSourceData: { b: 2 },
        readByUserIds: ['grace', 'lin'],
        persistReadForUsers: true,
        notifyUsersByUserId: { [md5('grace')]: true },
      },
    ]);
  });

  test('changes only notifications that match the filters', async () => {
    await add('a', { location: { id: 'l1' } });
    await add('b', { documentId: 'offer' });
    const both = [
      { id: 'a', displayBodyMessage: 'new' },
      { id: 'b', displayBodyMessage: 'new' },
    ];
    expect(await update(both, { documentId: 'offer' })).toEqual({ a: failed, b: updated });
    expect(await update(both, { locationId: 'l1' })).toEqual({ a: updated, b: failed });
    expect(await update(both, { userId: 'lin' })).toEqual({ a: failed, b: failed });
    expect(await update(both, { userId: 'grace' })).toEqual({ a: updated, b: updated });
  });

  test('moves the notification to the user data of the new actor', async () => {
    await add('a');
    await update([{ id: 'a', actionUser: { userId: 'lin' } }]);
    const notificationsOf = async (userId: string) =>
      (await customer.ok('/v2/users/data/get', { organizationId: 'acme', userId })).notifications.map(
        ({ id }: any) => id,
      );
    expect([await notificationsOf('ada'), await notificationsOf('lin'), await notificationsOf('grace')]).toEqual([
      [],
      ['a'],
      ['a'],
    ]);
  });

  test('adds only readers with access to the document if verifyUserPermissions is true', async () => {
    await customer.setAccess('restricted', ['nda']);
    await customer.addUsers(['grace'], { documentId: 'nda' });
    await customer.addUsers(['lin']);
    await add('a');
    await add('b', { documentId: 'offer' });
    await update(
      ['a', 'b'].map((id) => ({ id, readByUserIds: ['grace', 'lin', 'stranger'] })),
      { verifyUserPermissions: true },
    );
    const [a, b] = await get({ notificationIds: ['a', 'b'], order: 'asc' });
    expect([a.readByUserIds, b.readByUserIds]).toEqual([['grace'], ['grace', 'lin']]);
  });

  test('adds all readers of ten concurrent requests', async () => {
    await add('a');
    const readers = times(10, (i) => `reader${i}`);
    const pending = new Set(readers);
    while (pending.size > 0) {
      const results = await Promise.all(
        [...pending].map(
          async (reader) => [reader, (await update([{ id: 'a', readByUserIds: [reader] }])).a.success] as const,
        ),
      );
      for (const [reader, success] of results) if (success) pending.delete(reader);
    }
    expect([...(await get({ notificationIds: ['a'] }))[0].readByUserIds].sort()).toEqual(readers);
  });

  test('fails with the reason only for a notification that would become too large for an item', async () => {
    await add('a');
    const large = { x: 'x'.repeat(65_000) };
    await update([
      {
        id: 'a',
        notificationSourceData: large,
        displayHeadlineMessageTemplateData: large,
        displayBodyMessageTemplateData: large,
      },
    ]);
    const readers = (from: number) => times(200, (i) => `${from + i}-${'x'.repeat(500)}`);
    expect(await update([{ id: 'a', readByUserIds: readers(0) }])).toEqual({ a: updated });
    expect(await update([{ id: 'a', readByUserIds: readers(200) }])).toEqual({
      a: {
        success: false,
        message: 'Failed to update notification. With its readers it would be larger than 360 KB.',
      },
    });
  });
});

describe('POST /v2/notifications/delete', () => {
  const remove = (filter: object) => customer.ok(DELETE, { organizationId: 'acme', ...filter });
  const deleted = { success: true, message: 'Notification deleted.' };
  const failed = { success: false, message: 'Failed to delete notification.' };

  test('requires a documentId, a locationId, a userId or notificationIds', async () => {
    await add('a');
    expect(await customer.error(DELETE, { organizationId: 'acme' })).toEqual(
      invalid('data must have at least one of documentId, locationId, userId and notificationIds'),
    );
    expect(await ids({})).toEqual(['a']);
  });

  test('deletes by ids combined with other filters', async () => {
    await add('a', { location: { id: 'l1' } });
    await add('b');
    expect(await remove({ notificationIds: ['a', 'b', 'nowhere'], locationId: 'l1' })).toEqual({
      a: deleted,
      b: failed,
      nowhere: failed,
    });
    expect(await ids({})).toEqual(['b']);
  });

  test('deletes by document, location or user. A user filter keeps notifications for all users', async () => {
    for (const [id, more] of [
      ['a', {}],
      ['b', { documentId: 'offer', location: { id: 'l1' } }],
      ['c', { location: { id: 'l1' } }],
      ['d', { notifyUsers: [], notifyAll: true }],
      ['e', { notifyUsers: [{ userId: 'lin' }] }],
    ] as const)
      await add(id, more);
    expect(await remove({ userId: 'lin' })).toEqual({ e: deleted });
    expect(await remove({ locationId: 'l1', userId: 'grace' })).toEqual({ c: deleted, b: deleted });
    expect(await remove({ documentId: 'offer' })).toEqual({});
    expect(await remove({ documentId: 'nda' })).toEqual({ a: deleted, d: deleted });
    expect(await ids({})).toEqual([]);
  });

  test("skips a user's notifications in deleted documents, also if their ids were used again", async () => {
    for (const id of ['a', 'b', 'c']) await add(id, { documentId: 'offer' });
    await customer.ok('/v2/organizations/documents/delete', { organizationId: 'acme', documentIds: ['offer'] });
    await add('a');
    await add('b', { notifyUsers: [{ userId: 'lin' }] });
    expect(await remove({ userId: 'grace' })).toEqual({ a: deleted });
    expect(await ids({})).toEqual(['b']);
  });

  test('deletes all items of a notification, so that its id can be used again', async () => {
    await add('a', { location: { id: 'l1' }, notifyAll: true });
    await remove({ notificationIds: ['a'] });
    const remainingItems = (await everyItem(engine)).filter(
      ({ PK, _t }) => PK.includes(customer.apiKey) && ['Notification', 'Involvement', 'RecordId'].includes(_t),
    );
    expect(remainingItems).toEqual([]);
    await add('a', { documentId: 'offer' });
    expect(await ids({ documentId: 'offer' })).toEqual(['a']);
  });

  test('deletes 30 notifications of a document with one request', async () => {
    await Promise.all(times(30, (i) => add(`n${i}`)));
    const { body } = await withStillClock(() => customer.call(DELETE, nda));
    expect(body.result).toMatchObject({ hasMore: false, message: 'Notification(s) deleted successfully.' });
    expect(Object.keys(body.result.data)).toHaveLength(30);
  });

  const disable = (documentId: string) =>
    customer.ok('/v2/organizations/documents/access/disablestate/update', {
      organizationId: 'acme',
      documentIds: [documentId],
      disabled: true,
    });

  test('deletes notifications of a user after 2,000 ones that a disabled document keeps, and names 500 of those', async () => {
    for (let n = 0; n < 2_000; n += 100) await Promise.all(times(100, (i) => add(`n${n + i}`)));
    await add('last', { documentId: 'offer' });
    await disable('nda');
    const { body } = await withStillClock(() => customer.call(DELETE, { organizationId: 'acme', userId: 'grace' }));
    const { data, hasMore } = body.result;
    expect([Object.keys(data).length, data.last.success, hasMore]).toEqual([501, true, false]);
    expect(data.n0).toEqual({ success: false, message: 'The document is disabled' });
  });

  test.each([
    ['a user', { userId: 'grace' }],
    ['a location', { locationId: 'l1' }],
  ])('continues after the notifications of %s that it cannot delete', async (_what, by) => {
    await Promise.all(times(110, (i) => add(`n${i}`, { location: { id: 'l1' } })));
    await add('last', { documentId: 'offer', location: { id: 'l1' } });
    await disable('nda');
    const organization = await table.get(OrganizationEntity, { tenant: customer.apiKey, organizationId: 'acme' });
    const deleteWith = async (times: number[], after?: string) =>
      new NotificationDeleter(table, () => times.shift()!).delete(customer.apiKey, organization!, undefined, by, after);
    const first = await deleteWith([0, 60_000]);
    expect(first.results.filter(([, { success }]) => success)).toEqual([]);
    const second = await deleteWith([0, 0, 0, 0], first.next);
    expect([second.results.length, Object.fromEntries(second.results).last, second.next]).toEqual([
      111 - first.results.length,
      deleted,
      undefined,
    ]);
  });

  test('accepts only page tokens of the same filter', async () => {
    const data = { organizationId: 'acme', userId: 'grace', pageToken: 'x' };
    expect(await customer.error(DELETE, data)).toEqual(
      invalid('pageToken is not a token of this listing, or has expired'),
    );
    expect(await customer.error(DELETE, { ...data, notificationIds: ['a'] })).toEqual(
      invalid('pageToken must not be given together with notificationIds'),
    );
  });
});
