import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { OrganizationEntity } from '../../../lib/directory/organizations.ts';
import { NotificationDeleter } from '../../../lib/notifications/deleteNotifications.ts';
import { acmeWorld, invalid, table } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { nextMillisecond } from '../../support/nextMillisecond.ts';
import { notificationIds } from '../../support/notifications.ts';
import { withStillClock } from '../../support/stillClock.ts';
import { times } from '../../support/times.ts';

const ADD = '/v2/notifications/add';
const GET = '/v2/notifications/get';
const GET_V1 = '/v1/notifications/get';
const UPDATE = '/v2/notifications/update';
const DELETE = '/v2/notifications/delete';

const { customer, itemsOf } = acmeWorld({ table: 'memory', documents: ['nda', 'offer'] });

const acme = { organizationId: 'acme' } as const;
const ada = { userId: 'ada', name: 'Ada', email: 'Ada@Example.com' };
const grace = { userId: 'grace', email: 'grace@example.com' };
const lin = { userId: 'lin' };
const texts = { displayHeadlineMessageTemplate: '{actionUser} signed', displayBodyMessage: 'It is done.' };
const complete = { ...nda, actionUser: ada, notifyUsers: [grace], notifyAll: false, ...texts };
const md5 = (text: string) => createHash('md5').update(text).digest('hex');
const hashes = (...hashed: string[]) => Object.fromEntries(hashed.map((text) => [md5(text), true]));

const add = (notificationId: string, more: object = {}) => customer.ok(ADD, { ...complete, notificationId, ...more });
const get = (filter: object, path: typeof GET | typeof GET_V1 = GET) => customer.ok(path, { ...acme, ...filter });
const ids = async (filter: object, path: typeof GET | typeof GET_V1 = GET) => notificationIds(await get(filter, path));
const disable = (documentId: string) =>
  customer.ok('/v2/organizations/documents/access/disablestate/update', {
    ...acme,
    documentIds: [documentId],
    disabled: true,
  });

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
    const message = 'Notification added successfully.';
    const sent = {
      actionUser: ada,
      notifyAll: false,
      displayHeadlineMessageTemplate: '{actionUser} asks {recipientUser} about {thing}',
      displayHeadlineMessageTemplateData: { actionUser: ada, recipientUser: grace, thing: 'the NDA' },
      displayBodyMessage: 'Due {day}',
      notificationSourceData: { a: [1, { b: null }] },
      location: { id: 7, locationName: 'Chapter', page: 3 },
    };
    expect(
      await customer.result(ADD, {
        ...nda,
        ...sent,
        notificationId: 'n-1',
        notifyUsers: [ada, grace, lin],
        metadata: { ticket: 'T-1', apiKey: 'not this' },
        context: { access: { region: ['us', 'eu'] } },
      }),
    ).toEqual({ status: 'success', message, data: { success: true, message } });
    const [notification] = await get({ notificationIds: ['n-1'] });
    expect(notification).toEqual({
      ...sent,
      id: 'n-1',
      notificationSource: 'custom',
      metadata: { ticket: 'T-1', apiKey: customer.apiKey, ...nda },
      notifyUsers: hashes('ada@example.com', 'grace@example.com'),
      notifyUsersByUserId: hashes('ada', 'grace', 'lin'),
      context: { access: { region: ['us', 'eu'] }, accessFields: ['region:eu', 'region:us'] },
      locationId: '7',
      timestamp: expect.any(Number),
    });
    expect(notification.timestamp).toBeGreaterThanOrEqual(before);
  });

  test('needs no message template if a resolver provides them, and notifies everybody by default', async () => {
    const { displayHeadlineMessageTemplate: _h, displayBodyMessage: _b, notifyAll: _a, ...data } = complete;
    await customer.ok(ADD, { ...data, isNotificationResolverUsed: true });
    expect(await get({})).toMatchObject([{ isNotificationResolverUsed: true, notifyAll: true }]);
  });

  const large = { id: 'l', x: 'x'.repeat(65_000) };
  test.each<[string, object, string]>([
    [
      'no headline',
      { displayHeadlineMessageTemplate: undefined, isNotificationResolverUsed: false },
      'displayHeadlineMessageTemplate is required unless isNotificationResolverUsed is true',
    ],
    [
      'no body',
      { displayBodyMessage: undefined },
      'displayBodyMessage is required unless isNotificationResolverUsed is true',
    ],
    ['nobody to notify', { notifyUsers: [] }, 'notifyUsers must not be empty when notifyAll is false'],
    [
      'more than 256 KB in all',
      {
        notificationSourceData: large,
        displayHeadlineMessageTemplateData: large,
        displayBodyMessageTemplateData: large,
        metadata: large,
        location: large,
      },
      'data must be at most 262144 bytes as JSON',
    ],
  ])('rejects %s and stores nothing', async (_what, more, message) => {
    expect(await customer.error(ADD, { ...complete, ...more })).toEqual(invalid(message));
    expect(await get({})).toEqual([]);
  });

  test('changes nothing if the id exists in the document, and returns ALREADY_EXISTS if another document has it', async () => {
    await Promise.all(times(20, () => add('same')));
    await add('same', { displayBodyMessage: 'again', notifyUsers: [ada] });
    expect(await get({})).toMatchObject([{ id: 'same', displayBodyMessage: 'It is done.' }]);
    expect(await itemsOf('Involvement')).toHaveLength(2);
    expect(await customer.error(ADD, { ...complete, documentId: 'offer', notificationId: 'same' })).toEqual([
      409,
      'ALREADY_EXISTS',
      expect.any(String),
    ]);
    expect(await ids({})).toEqual(['same']);
  });

  test('creates a missing organization and document only with createOrganization and createDocument', async () => {
    const unknown = { ...complete, organizationId: 'new', documentId: 'new' };
    expect(await customer.error(ADD, unknown)).toEqual(invalid(expect.any(String)));
    expect(await customer.error(ADD, { ...unknown, ...acme })).toEqual([404, 'NOT_FOUND', expect.any(String)]);
    await customer.ok(ADD, { ...unknown, createOrganization: true, createDocument: true });
    expect(await customer.ok(GET, { organizationId: 'new' })).toHaveLength(1);
  });

  test('removes recipients without access to the document if verifyUserPermissions is true', async () => {
    await customer.setAccess('restricted', ['nda']);
    await customer.addUsers(['grace'], { documentId: 'nda' });
    await customer.addUsers(['lin']);
    const notifyUsers = [grace, lin, { userId: 'stranger' }];
    await add('checked', { notifyUsers, verifyUserPermissions: true });
    await add('unchecked', { notifyUsers });
    expect(await get({ documentId: 'nda' })).toMatchObject([
      { notifyUsersByUserId: hashes('grace', 'lin', 'stranger') },
      { notifyUsersByUserId: hashes('grace') },
    ]);
    expect(await ids({ userId: 'lin' })).toEqual(['unchecked']);
  });
});

describe('POST /v2/notifications/get', () => {
  test('finds a location by id or by name, and ids once in the order of time', async () => {
    await add('a', { location: { id: 'l1' } });
    await add('b', { location: { locationName: 'Chapter' } });
    await add('c', { documentId: 'offer', location: { id: 'l1' } });
    await add('d');
    const named = (await get({ notificationIds: ['b'] }))[0].locationId;
    expect(await ids({ documentId: 'nda', order: 'asc' })).toEqual(['a', 'b', 'd']);
    expect(await ids({ documentId: 'nda' })).toEqual(['d', 'b', 'a']);
    expect([await ids({ locationId: 'l1' }), await ids({ locationId: named })]).toEqual([['a', 'c'], ['b']]);
    expect(await ids({ notificationIds: ['d', 'c', 'nowhere', 'a', 'a'], order: 'asc' })).toEqual(['a', 'c', 'd']);
    expect(await ids({ notificationIds: ['a', 'c'], userId: 'ada' })).toEqual([]);
    expect(await ids({})).toHaveLength(4);
  });

  test('returns NOT_FOUND for an unknown document', async () => {
    expect((await customer.error(GET, { ...acme, documentId: 'nowhere' }))[1]).toBe('NOT_FOUND');
  });
});

describe('POST /v1/notifications/get', () => {
  test('returns the selected notifications, newest first, without a page token', async () => {
    await add('a');
    await add('b', { notifyUsers: [lin] });
    // The order of notifications of two documents that were added in the same millisecond is not defined.
    nextMillisecond();
    await add('c', { documentId: 'offer' });
    const { body } = await customer.call(GET_V1, nda);
    expect(Object.keys(body.result)).toEqual(['status', 'message', 'data']);
    expect(body.result.message).toBe('Notification(s) retrieved successfully.');
    expect(body.result.data.map(({ id }: any) => id)).toEqual(['b', 'a']);
    expect(await ids({ userId: 'grace' }, GET_V1)).toEqual(['c', 'a']);
    expect(await ids({}, GET_V1)).toEqual(['c', 'b', 'a']);
  });

  test('returns the newest notifications that fit. If given ids do not fit, returns INVALID_ARGUMENT', async () => {
    const large = { x: 'x'.repeat(64_000) };
    const all = times(27, (i) => `n${i}`);
    for (const id of all)
      await add(id, { notificationSourceData: large, metadata: large, displayHeadlineMessageTemplateData: large });
    const listed = await ids(nda, GET_V1);
    expect(listed.length).toBeLessThan(27);
    expect(listed).toEqual(all.toReversed().slice(0, listed.length));
    expect(await customer.error(GET_V1, { ...acme, notificationIds: all })).toEqual(
      invalid(expect.stringContaining('notificationIds')),
    );
  });
});

describe('POST /v2/notifications/update', () => {
  const update = (notifications: { id: string; [field: string]: unknown }[], more: object = {}) =>
    customer.ok(UPDATE, { ...acme, notifications, ...more });
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

  test('moves the notification to the user data of the new actor', async () => {
    await add('a');
    await update([{ id: 'a', actionUser: lin }]);
    const notificationsOf = async (userId: string) =>
      notificationIds((await customer.ok('/v2/users/data/get', { ...acme, userId })).notifications);
    expect(await Promise.all(['ada', 'lin', 'grace'].map(notificationsOf))).toEqual([[], ['a'], ['a']]);
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
    expect(await get({ notificationIds: ['a', 'b'], order: 'asc' })).toMatchObject([
      { readByUserIds: ['grace'] },
      { readByUserIds: ['grace', 'lin'] },
    ]);
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
  const remove = (filter: object) => customer.ok(DELETE, { ...acme, ...filter });
  const deleted = { success: true, message: 'Notification deleted.' };
  const failed = { success: false, message: 'Failed to delete notification.' };

  test('deletes by ids combined with other filters', async () => {
    await add('a', { location: { id: 'l1' } });
    await add('b');
    const notificationIds = ['a', 'b', 'nowhere'];
    expect(await remove({ notificationIds, locationId: 'l1' })).toEqual({ a: deleted, b: failed, nowhere: failed });
    expect(await ids({})).toEqual(['b']);
  });

  test('deletes by document, location or user. A user filter keeps notifications for all users', async () => {
    for (const [id, more] of [
      ['a', {}],
      ['b', { documentId: 'offer', location: { id: 'l1' } }],
      ['c', { location: { id: 'l1' } }],
      ['d', { notifyUsers: [], notifyAll: true }],
      ['e', { notifyUsers: [lin] }],
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
    await add('b', { notifyUsers: [lin] });
    expect(await remove({ userId: 'grace' })).toEqual({ a: deleted });
    expect(await ids({})).toEqual(['b']);
  });

  test('deletes all items of a notification, so that its id can be used again', async () => {
    await add('a', { location: { id: 'l1' }, notifyAll: true });
    await remove({ notificationIds: ['a'] });
    for (const type of ['Notification', 'Involvement', 'RecordId']) expect(await itemsOf(type)).toEqual([]);
    await add('a', { documentId: 'offer' });
    expect(await ids({ documentId: 'offer' })).toEqual(['a']);
  });

  test('deletes notifications of a user after 2,000 ones that a disabled document keeps, and names 500 of those', async () => {
    for (let n = 0; n < 2_000; n += 100) await Promise.all(times(100, (i) => add(`n${n + i}`)));
    await add('last', { documentId: 'offer' });
    await disable('nda');
    const { body } = await withStillClock(() => customer.call(DELETE, { ...acme, userId: 'grace' }));
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
});
