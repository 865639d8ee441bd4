import { describe, expect, test } from '@jest/globals';
import { viewKind } from '../../../lib/comments/viewKind.ts';
import { purgeDocument } from '../../../lib/deletion/purgeDocuments.ts';
import { acmeWorld, forAllTests, table } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { nextMillisecond } from '../../support/nextMillisecond.ts';
import { startQueues } from '../../support/queues.ts';
import { storedDocumentScope } from '../../support/storedScope.ts';
import { addThreads, comment, commentCalls, numbered, thread } from '../../support/threads.ts';
import { times } from '../../support/times.ts';
import { newUser } from '../../support/userTokens.ts';

const ADD = '/v2/commentannotations/views/add';
const GET = '/v2/commentannotations/get';

const { customer, itemsOf } = acmeWorld({ documents: ['nda'] });
forAllTests(startQueues);

const red = { context: { access: { team: 'red' } } };
const document = { type: 'document', id: 'nda', organizationId: 'acme' };
const view = (annotationIds: string[], more: object = {}) =>
  customer.ok(ADD, { ...nda, annotationIds, userId: 'bob', ...more });
const statesOf = (rows: any[]) =>
  Object.fromEntries(
    rows.map(({ annotationId, unread, firstUnreadCommentId }) => [annotationId, firstUnreadCommentId ?? unread]),
  );
const states = async (more: object = {}) => statesOf(await customer.ok(GET, { ...nda, userId: 'bob', ...more }));

describe('POST /v2/commentannotations/views/add', () => {
  test('fails alone for threads that are unknown or hidden from the user', async () => {
    const few = thread('few', { visibility: { type: 'restricted', userIds: ['carol'] } });
    await addThreads(customer, ['open', few, thread('red', red)]);
    const viewed = { success: true, message: 'Viewed successfully' };
    const failed = { success: false, message: 'Not found' };
    const all = ['open', 'few', 'red', '__proto__'];
    expect(Object.entries(await view([...all, 'open']))).toEqual([
      ['open', viewed],
      ['few', failed],
      ['red', failed],
      ['__proto__', failed],
    ]);
    expect(await view(['few', 'red'], { userId: 'carol' })).toEqual({ few: viewed, red: failed });
    const { message } = await customer.result(ADD, { ...nda, annotationIds: ['red'], userId: 'bob' });
    expect(message).toBe('No annotation was viewed.');
    await customer.setAccess('restricted', ['nda']);
    expect(await view(['open'])).toEqual({ open: failed });
    expect(await states()).toEqual({ open: false, few: false, red: false });
  });

  test('stores views of many requests at the same time in few items, and writes nothing for unchanged threads', async () => {
    const ids = numbered('t', 40);
    await addThreads(customer, ids);
    await Promise.all(ids.map((id) => view([id])));
    expect(Object.values(await states())).toEqual(times(40, () => false));
    const stored = await itemsOf('ThreadViews');
    expect(stored).toHaveLength(2);
    await view(ids.slice(0, 30));
    expect(await itemsOf('ThreadViews')).toEqual(stored);
  });
});

describe('the read state in the rows of /v2/commentannotations/get', () => {
  test('is that of `userId`, and only of comments that this user may see', async () => {
    const byAda = (...changes: object[]) => ({ commentData: [comment(), ...changes.map(comment)] });
    await addThreads(customer, [thread('a', byAda({}, {})), thread('mixed', byAda(red, {})), thread('red', red)]);
    expect(await states()).toEqual({ a: 1, mixed: 1, red: false });
    await view(['a', 'mixed']);
    nextMillisecond();
    await commentCalls(customer, 'a').add(comment({ from: { userId: 'bob' } }), comment());
    await commentCalls(customer, 'mixed').add(comment(red), comment(), comment());
    expect(await states()).toEqual({ a: false, mixed: 5, red: false });
    expect(await states({ annotationIds: ['a', 'mixed'] })).toEqual({ a: false, mixed: 5 });
    await customer.grant('bob', { type: 'organization', id: 'acme', ...red });
    expect(await states()).toEqual({ a: false, mixed: 4, red: 1 });
    expect(await states({ userId: undefined })).toEqual({ a: undefined, mixed: undefined, red: undefined });
    expect(await states({ userId: 'ada' })).toEqual({ a: false, mixed: false, red: false });
  });

  test('is that of the user of a token', async () => {
    await customer.setAccess('restricted', ['nda']);
    await addThreads(customer, ['a', thread('red', red), thread('mixed', { commentData: [comment(red), comment()] })]);
    const bob = await newUser(customer, 'bob', [document]);
    const rows = async () => statesOf(await bob.ok(GET, nda));
    expect(await rows()).toEqual({ a: 1, mixed: 2 });
    expect(await bob.ok(ADD, { ...nda, annotationIds: ['a', 'red'] })).toMatchObject({
      a: { success: true },
      red: { success: false },
    });
    expect(await rows()).toEqual({ a: false, mixed: 2 });
    const forAda = await bob.call(ADD, { ...nda, annotationIds: ['a'], userId: 'ada' });
    expect(forAda.status).toBe(403);
    expect((await bob.call(GET, { ...nda, userId: 'ada' })).status).toBe(403);
  });

  test('is known for comments beyond the answer', async () => {
    const commentData = times(16, () => comment({ commentText: 'x'.repeat(20_000) }));
    await addThreads(customer, [thread('a', { commentData }), ...numbered('t', 10)]);
    await view(['a']);
    nextMillisecond();
    await commentCalls(customer, 'a').add(comment());
    const [row] = await customer.ok(GET, { ...nda, userId: 'bob', annotationIds: ['a', ...numbered('t', 10)] });
    expect(row).toMatchObject({ hasMoreComments: true, unread: true, firstUnreadCommentId: 17 });
  });
});

describe('views', () => {
  test('go with an erasure of the user if they are older, and with the document', async () => {
    await addThreads(customer, ['a', 'b']);
    await view(['a'], { viewedAt: 1_000 });
    await view(['b'], { viewedAt: 1_001 });
    await view(['a'], { viewedAt: 1_000, userId: 'carol' });
    await view(['a'], { userId: 'bobby' });
    const scope = await storedDocumentScope(customer);
    const removedUsers = { userIds: new Set(['bob', 'carol']), removedAt: 1_000 };
    await viewKind.erase.erase({ table, scope, removedUsers, mode: 'erase', clock: Date.now });
    const left = (await itemsOf('ThreadViews')).map(({ userId, views }) => [userId, Object.keys(views)]);
    expect(left.toSorted()).toEqual([
      ['bob', ['2']],
      ['bobby', ['1']],
    ]);
    await purgeDocument(table, { ...scope, documentId: 'nda' }, { clock: Date.now, deadline: Infinity });
    expect(await itemsOf('ThreadViews')).toEqual([]);
  });
});
