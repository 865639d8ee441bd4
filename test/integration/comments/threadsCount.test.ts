import { describe, expect, test } from '@jest/globals';
import { acmeWorld } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { nextMillisecond } from '../../support/nextMillisecond.ts';
import { addLongThread, addThreads, comment, commentCalls, numbered, thread } from '../../support/threads.ts';
import { times } from '../../support/times.ts';

const { customer, itemsOf } = acmeWorld({ table: 'memory' });

describe('POST /v2/commentannotations/count/get', () => {
  const COUNT = '/v2/commentannotations/count/get';
  const inNda = { organizationId: 'acme', documentIds: ['nda'] };
  const count = async (userId: string, more: object = {}) =>
    (await customer.ok(COUNT, { ...inNda, userId, ...more })).nda;

  test("counts a document's threads as total, and as unread after a later comment of another user", async () => {
    await addThreads(customer, ['a', 'b', thread('c', { status: 'RESOLVED' })]);
    nextMillisecond();
    await commentCalls(customer, 'b').add(comment({ from: { userId: 'bob' } }));
    await addThreads(customer, ['a'], { documentId: '__proto__' });
    const documentIds = ['nda', '__proto__', 'nowhere', 'nda'];
    const counts = await customer.ok(COUNT, { organizationId: 'acme', documentIds, userId: 'ada' });
    expect((await customer.result(COUNT, { ...inNda, userId: 'ada' })).message).toBe(
      'Comment count retrieved successfully.',
    );
    expect(Object.entries(counts)).toEqual([
      ['nda', { total: 3, unread: 1 }],
      ['__proto__', { total: 1, unread: 0 }],
      ['nowhere', { total: 0, unread: 0 }],
    ]);
    expect(await count('bob')).toEqual({ total: 3, unread: 2 });
    expect(await count('bob', { statusIds: ['OPEN'] })).toEqual({ total: 2, unread: 1 });
    await commentCalls(customer, 'b').remove({ commentIds: [2] });
    expect(await count('bob')).toEqual({ total: 3, unread: 3 });
  });

  test('counts a thread as read after a view, until another user adds a comment', async () => {
    await addThreads(customer, numbered('t', 40));
    const view = (annotationIds: string[], more: object = {}) =>
      customer.ok('/v2/commentannotations/views/add', { ...nda, annotationIds, userId: 'bob', ...more });
    await view(numbered('t', 30));
    expect(await count('bob')).toEqual({ total: 40, unread: 10 });
    nextMillisecond();
    const { add, update } = commentCalls(customer, 't003');
    await add(comment({ createdAt: 1_000 }));
    await update({ commentIds: [1], updatedData: { commentText: 'edited' } });
    await commentCalls(customer, 't004').update({ commentIds: [1], updatedData: { commentText: 'edited' } });
    expect(await count('bob')).toEqual({ total: 40, unread: 11 });
    expect(await count('carol')).toEqual({ total: 40, unread: 40 });
    await view(['t003'], { viewedAt: 1_000 });
    expect(await count('bob')).toEqual({ total: 40, unread: 11 });
    await view(['t003'], { viewedAt: Date.now() + 60_000 });
    expect(await count('bob')).toEqual({ total: 40, unread: 10 });
    nextMillisecond();
    await add(comment());
    expect(await count('bob')).toEqual({ total: 40, unread: 11 });
  });

  test('counts a private thread only for users who may read it', async () => {
    await customer.addUsers(['member']);
    await customer.addUsers(['guest'], { organizationId: 'partner' });
    await addThreads(customer, [
      'public',
      thread('ours', { visibility: { type: 'organizationPrivate' } }),
      thread('theirs', { visibility: { type: 'organizationPrivate', organizationId: 'partner' } }),
      thread('nobody', { visibility: { type: 'organizationPrivate', organizationId: 'nowhere' } }),
      thread('few', { visibility: { type: 'restricted', userIds: ['guest'] } }),
    ]);
    const totals = await Promise.all(
      ['ada', 'member', 'guest', 'stranger'].map((userId) => count(userId).then(({ total }) => total)),
    );
    expect(totals).toEqual([5, 2, 3, 1]);
  });

  test('counts no thread of a document that the user may not read', async () => {
    await addThreads(customer, [thread('a')]);
    await addThreads(customer, ['b'], { documentId: 'open' });
    await customer.addUsers(['guest'], { documentId: 'nda' });
    await customer.setAccess('restricted', ['nda']);
    const totals = ['ada', 'guest', 'stranger'].map(async (userId) => {
      const counts = await customer.ok(COUNT, { organizationId: 'acme', documentIds: ['nda', 'open'], userId });
      return [counts.nda.total, counts.open.total];
    });
    expect(await Promise.all(totals)).toEqual([
      [0, 1],
      [1, 1],
      [0, 1],
    ]);
  });

  test('counts only threads whose access context matches a permission of the user', async () => {
    await addThreads(customer, [
      thread('eu', { context: { access: { region: 'eu' } } }),
      thread('us', { context: { access: { region: 'us', level: 1 } } }),
      'all',
    ]);
    expect((await count('bob')).total).toBe(1);
    const allow = (access: object) => customer.grant('bob', { type: 'organization', id: 'acme', context: { access } });
    await allow({ region: ['eu', 'us'] });
    expect((await count('bob')).total).toBe(2);
    await allow({ region: ['us'], level: 1 });
    expect((await count('bob')).total).toBe(2);
    await allow({ region: ['eu', 'us'], level: 1 });
    expect((await count('bob')).total).toBe(3);
  });

  test('counts a thread of more than 1 MB as unread only because of a comment that the user can see', async () => {
    const hidden = { context: { access: { team: 'red' } } };
    const long = (from: string, more: object = {}) =>
      comment({ commentText: 'x'.repeat(30_000), from: { userId: from }, ...more });
    const commentData = [...times(40, () => long('ada')), long('bob'), ...times(30, () => long('ada', hidden))];
    await addLongThread(customer, thread('long', { commentData }), 10);
    expect(await count('bob')).toEqual({ total: 1, unread: 0 });
    expect(await count('carol')).toEqual({ total: 1, unread: 1 });
    await customer.grant('bob', { type: 'organization', id: 'acme', ...hidden });
    expect(await count('bob')).toEqual({ total: 1, unread: 1 });
  });

  test('counts a thread as read if only the last 4 MB of its comments could tell, and the user cannot see them', async () => {
    const attachments = times(4, () => ({ text: 'x'.repeat(50_000) }));
    const hidden = () => comment({ attachments, from: { userId: 'ada' }, context: { access: { team: 'red' } } });
    const commentData = [comment(), ...times(6, hidden), comment(), ...times(22, hidden)];
    await addLongThread(customer, thread('long', { commentData }), 7);
    expect(await count('bob')).toEqual({ total: 1, unread: 1 });
    const [first] = await itemsOf('Comment');
    await customer.ok('/v2/commentannotations/views/add', {
      ...nda,
      annotationIds: ['long'],
      userId: 'bob',
      viewedAt: first?.createdAt,
    });
    expect(await count('bob')).toEqual({ total: 1, unread: 0 });
  });

  test('is exact for more than 1 MB of threads', async () => {
    const commentData = [comment({ commentText: 'x'.repeat(10_000) })];
    for (let i = 0; i < 3; i++)
      await addThreads(
        customer,
        numbered(`t${i}-`, 150).map((id) => thread(id, { commentData })),
      );
    expect(await count('bob')).toEqual({ total: 450, unread: 450 });
  });

  test('returns the message that published clients expect if documentIds is missing', async () => {
    const error = await customer.error(COUNT, { organizationId: 'acme', userId: 'ada' });
    expect(error).toEqual([400, 'INVALID_ARGUMENT', 'Document IDs are required']);
  });
});
