import { beforeEach, describe, expect, test } from '@jest/globals';
import { acmeWorld, invalid } from '../../support/acmeWorld.ts';
import { addNotification } from '../../support/notifications.ts';
import { withStillClock } from '../../support/stillClock.ts';
import { times } from '../../support/times.ts';
import { newUser } from '../../support/userTokens.ts';

const UPDATE = '/v2/notifications/update';
const acme = { organizationId: 'acme' };
const updated = { success: true, message: 'Notification updated.' };

const { customer, itemsOf } = acmeWorld({ table: 'memory', documents: ['nda', 'offer'] });
beforeEach(() => customer.addUsers(['ada', 'grace', 'lin']));

const add = (id: string, to: readonly string[] | 'everybody', more?: object) => addNotification(customer, id, to, more);
const markAll = async (more: object = {}) =>
  (await customer.call(UPDATE, { ...acme, userId: 'grace', markAllAsRead: true, ...more })).body.result ?? {};
const readers = async () =>
  Object.fromEntries((await itemsOf('Notification')).map(({ id, readByUserIds }) => [id, readByUserIds])) as Record<
    string,
    string[] | undefined
  >;
const readByGrace = async () =>
  Object.entries(await readers())
    .flatMap(([id, by]) => (by?.includes('grace') ? id : []))
    .sort();

describe('markAllAsRead', () => {
  test('marks what the user may see and has not read, and nothing twice', async () => {
    await add('mine', ['grace', 'lin']);
    await add('all', 'everybody');
    await add('theirs', ['lin']);
    await add('hidden', 'everybody', { documentId: 'offer' });
    await customer.setAccess('restricted', ['offer']);
    expect(await markAll()).toEqual({
      status: 'success',
      message: 'Notification(s) updated successfully.',
      data: { mine: updated, all: updated },
      hasMore: false,
      pageToken: null,
    });
    expect(await readers()).toEqual({ mine: ['grace'], all: ['grace'], theirs: undefined, hidden: undefined });
    expect((await markAll()).data).toEqual({});
  });

  test.each([
    ['a document', { documentId: 'offer' }, ['b', 'c']],
    ['a location', { locationId: 'l1' }, ['a', 'b']],
  ])('marks only notifications of %s', async (_what, selector, marked) => {
    await add('a', ['grace'], { location: { id: 'l1' } });
    await add('b', 'everybody', { documentId: 'offer', location: { id: 'l1' } });
    await add('c', ['grace'], { documentId: 'offer' });
    const { data } = await markAll(selector);
    expect([Object.keys(data).sort(), await readByGrace()]).toEqual([marked, marked]);
  });

  test('says why notifications of a disabled document stay unread', async () => {
    await add('a', ['grace']);
    await add('b', ['grace'], { documentId: 'offer' });
    await customer.ok('/v2/organizations/documents/access/disablestate/update', {
      ...acme,
      documentIds: ['nda'],
      disabled: true,
    });
    expect((await markAll()).data).toEqual({ a: { success: false, message: 'The document is disabled' }, b: updated });
  });

  test('stops after 2,000, and goes on after the last one', async () => {
    for (let n = 0; n < 2_010; n += 201) await Promise.all(times(201, (i) => add(`n${n + i}`, ['grace'])));
    const first = await withStillClock(() => markAll());
    expect([Object.keys(first.data).length, first.hasMore]).toEqual([2_000, true]);
    expect(first.message).toBe('Notification(s) updated. There are more: send the request again with this pageToken.');
    await add('new', ['grace']);
    const { pageToken } = first;
    expect((await markAll({ userId: 'lin', pageToken })).data).toBeUndefined();
    const second = await withStillClock(() => markAll({ pageToken }));
    expect([Object.keys(second.data).length, second.hasMore, second.data.new]).toEqual([10, false, undefined]);
  });

  test('marks for the user of a user token', async () => {
    await add('a', ['grace', 'lin']);
    const grace = await newUser(customer, 'grace', [{ type: 'organization', id: 'acme' }]);
    expect(await grace.ok(UPDATE, { ...acme, markAllAsRead: true })).toEqual({ a: updated });
    expect(await grace.status(UPDATE, { ...acme, userId: 'lin', markAllAsRead: true })).toBe('PERMISSION_DENIED');
    expect(await readers()).toEqual({ a: ['grace'] });
  });

  test('needs the user', async () => {
    expect(await customer.error(UPDATE, { ...acme, markAllAsRead: true })).toEqual(
      invalid('userId is required with markAllAsRead'),
    );
  });
});

test('an update that changes nothing is not written', async () => {
  await add('a', ['grace'], { notificationSourceData: { a: 1 } });
  const update = (more: object) => customer.ok(UPDATE, { ...acme, notifications: [{ id: 'a', ...more }] });
  await update({ readByUserIds: ['grace'] });
  const before = await itemsOf('Notification');
  expect(await update({ readByUserIds: ['grace'], displayBodyMessage: 'y', notificationSourceData: { a: 1 } })).toEqual(
    {
      a: updated,
    },
  );
  expect(await itemsOf('Notification')).toEqual(before);
  await update({ displayBodyMessage: 'z' });
  expect(await itemsOf('Notification')).not.toEqual(before);
});
