import { beforeEach, describe, expect, test } from '@jest/globals';
import { NotificationWriter } from '../../../lib/notifications/notifications.ts';
import { newNotification } from '../../../lib/notifications/rules.ts';
import { acmeWorld, table } from '../../support/acmeWorld.ts';
import { addNotification } from '../../support/notifications.ts';
import { storedDocumentScope } from '../../support/storedScope.ts';
import { addThreads, thread } from '../../support/threads.ts';
import { times } from '../../support/times.ts';
import { newUser } from '../../support/userTokens.ts';

const COUNT = '/v2/notifications/count/get';
const acme = { organizationId: 'acme' };

const { customer } = acmeWorld({ table: 'memory', documents: ['nda', 'offer'] });
beforeEach(() => customer.addUsers(['ada', 'grace', 'lin']));

const add = (id: string, to: readonly string[] | 'everybody', more?: object) => addNotification(customer, id, to, more);
const counts = async (userId: string, more: object = {}) => {
  const data = await customer.ok(COUNT, { ...acme, userId, ...more });
  return [data.unread.forYou, data.unread.all, data.more] as unknown[];
};

describe('the count of unread notifications', () => {
  test('has those that name the user, and all that the user may see', async () => {
    await add('1', ['grace']);
    await add('2', 'everybody');
    await add('3', ['lin']);
    await add('4', ['grace', 'lin'], { notifyAll: true });
    await add('5', ['grace'], { documentId: 'offer' });
    expect(await counts('grace')).toEqual([3, 4, false]);
    expect(await counts('lin')).toEqual([2, 3, false]);
    expect(await counts('grace', { documentIds: ['nda'] })).toEqual([2, 3, false]);
    expect(await counts('grace', { documentIds: ['offer', 'nda', 'unknown'] })).toEqual([3, 4, false]);
    expect(await counts('grace', { documentIds: ['unknown'] })).toEqual([0, 0, false]);
  });

  test('has neither what the user caused nor what the user has read', async () => {
    await add('1', ['ada', 'grace'], { notifyAll: true });
    await add('2', ['grace']);
    expect([await counts('ada'), await counts('grace')]).toEqual([
      [0, 0, false],
      [2, 2, false],
    ]);
    await customer.ok('/v2/notifications/update', { ...acme, notifications: [{ id: '1', readByUserIds: ['grace'] }] });
    expect(await counts('grace')).toEqual([1, 1, false]);
  });

  test('has nothing that the user may not see', async () => {
    await addThreads(customer, [thread('private', { visibility: { type: 'restricted', userIds: ['lin'] } })]);
    await add('1', ['grace', 'lin'], {
      notificationSource: 'comment',
      notificationSourceData: { annotationId: 'private' },
    });
    await add('2', 'everybody', { documentId: 'offer' });
    await customer.setAccess('restricted', ['offer']);
    expect([await counts('grace'), await counts('lin'), await counts('stranger')]).toEqual([
      [0, 0, false],
      [1, 1, false],
      [0, 0, false],
    ]);
  });

  test('counts for the user of a user token', async () => {
    await add('1', ['grace']);
    const grace = await newUser(customer, 'grace', [{ type: 'organization', id: 'acme' }]);
    expect((await grace.ok(COUNT, acme)).unread).toEqual({ forYou: 1, all: 1 });
    expect((await grace.call(COUNT, { ...acme, userId: 'lin' })).status).toBe(403);
  });
});

describe('a long inbox', () => {
  /** Stores notifications that name grace, the latest last. `isRead` gets the number of each. */
  const addMany = async (count: number, isRead: (n: number) => boolean, more: object = {}) => {
    const scope = await storedDocumentScope(customer);
    const writer = new NotificationWriter(table);
    const now = Date.now();
    for (const n of times(count, (index) => index)) {
      const sent = { actionUser: { userId: 'ada' }, notifyUsers: [{ userId: 'grace' }], notifyAll: false, ...more };
      const notification = newNotification(sent, { id: `many-${n}`, documentId: 'nda', now: now + n });
      const readByUserIds = isRead(n) ? ['grace'] : undefined;
      await writer.add(scope, { ...notification, readByUserIds });
    }
  };

  test('is counted up to 99', async () => {
    await addMany(199, (n) => n >= 50 && n < 150);
    expect(await counts('grace')).toEqual([99, 99, false]);
    await add('one-more', 'everybody');
    expect(await counts('grace')).toEqual([99, 99, true]);
  });

  test('is counted among the latest 1,000 of the documents', async () => {
    for (const n of [1, 2, 3]) await add(`old-${n}`, ['grace'], { documentId: 'offer' });
    await addMany(1_050, () => true);
    expect(await counts('grace')).toEqual([0, 0, true]);
    expect(await counts('grace', { documentIds: ['offer'] })).toEqual([3, 3, false]);
  });

  test.each([
    ['names others', { notifyUsers: [{ userId: 'lin' }] }],
    ['is for everybody', { notifyUsers: [], notifyAll: true }],
  ])('is counted past 1,000 notifications that the user caused and that each %s', async (_what, more) => {
    await add('named', ['grace']);
    await add('all', 'everybody');
    await addMany(1_050, () => false, { actionUser: { userId: 'grace' }, ...more });
    expect(await counts('grace')).toEqual([1, 2, false]);
  });
});
