import { AsyncLocalStorage } from 'node:async_hooks';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Table } from '../../../lib/table/table.ts';
import { acmeWorld, invalid } from '../../support/acmeWorld.ts';
import { beforeWrite } from '../../support/beforeWrite.ts';
import { nda } from '../../support/content.ts';
import { deleteItem } from '../../support/items.ts';
import { ada, addThreads, comment, commentCalls, getThread, thread } from '../../support/threads.ts';
import { times } from '../../support/times.ts';

const { engine, customer, itemsOf, emitted, involvements } = acmeWorld({ table: 'memory', documents: ['nda'] });

const bob = { userId: 'bob' };
const eve = { userId: 'eve' };
const COMMENTS = '/v2/commentannotations/comments';
const inThread = { ...nda, annotationId: 'thread' };

const { add, get, update, remove, error } = commentCalls(customer, 'thread');
const reply = (commentText: string, changes: object = {}) => ({ commentText, from: bob, ...changes });
const addThread = (...commentData: object[]) => addThreads(customer, [thread('thread', { commentData })]);
const stored = () => getThread(customer, 'thread');
const texts = async (): Promise<string[]> => (await get()).map(({ commentText }: any) => commentText);
/** Returns the ids of the comments that `get` returns, or null for a comment that does not exist. */
const ids = async (data: object = {}) => (await get(data)).map((comment: any) => comment?.commentId ?? null);
const events = async () =>
  (await emitted())
    .map(({ event, data }) => [event, data.targetComment?.commentId, data.actionUser.userId])
    .toSorted((a, b) => (String(a) < String(b) ? -1 : 1));
const notFound = (what: string) => [404, 'NOT_FOUND', `${what} does not exist`];

beforeEach(() => addThread(comment({ commentText: 'First' })));

describe('POST /v2/commentannotations/comments/add', () => {
  test('returns ids in the order of the request. Comments without an id get the next one', async () => {
    expect(await add(reply('a'), reply('b'))).toEqual([2, 3]);
    expect(await add(reply('c', { commentId: 10 }), reply('d'))).toEqual([10, 11]);
    expect(await add(reply('e'))).toEqual([12]);
    expect((await get()).map(({ commentId, commentText }: any) => [commentId, commentText])).toEqual([
      [1, 'First'],
      [2, 'a'],
      [3, 'b'],
      [10, 'c'],
      [11, 'd'],
      [12, 'e'],
    ]);
  });

  test('generates an id after the largest id that a request can choose, and finds the comment by it', async () => {
    const largest = 999_999_999_999_999;
    expect(await add(reply('a', { commentId: largest }), reply('b'))).toEqual([largest, largest + 1]);
    expect(await get({ commentIds: [largest + 1] })).toMatchObject([{ commentText: 'b' }]);
    expect(await remove({ commentIds: [largest + 1] })).toMatchObject({ [largest + 1]: { success: true } });
  });

  test('requires exactly one of commentData and comments', async () => {
    expect(await customer.ok(`${COMMENTS}/add`, { ...inThread, comments: [reply('alias')] })).toEqual([2]);
    for (const data of [{}, { comments: [reply('a')], commentData: [reply('b')] }]) {
      expect(await error('add', data)).toEqual(invalid('commentData must be given, or comments, and not both'));
    }
    expect(await texts()).toEqual(['First', 'alias']);
  });

  test('updates the comment count, participants and lastUpdated of the thread', async () => {
    const before = await stored();
    await add(reply('a', { taggedUserContacts: [{ userId: 'eve', text: '@eve' }] }));
    const after = await stored();
    expect(after).toMatchObject({ commentCount: 2, involvedUserIds: ['ada', 'bob', 'eve'], mentionedUserIds: ['eve'] });
    expect(after.lastUpdated).toBeGreaterThanOrEqual(before.lastUpdated);
    expect(after.createdAt).toBe(before.createdAt);
  });

  test('stores comments as user data of their authors and mentioned users', async () => {
    await add(reply('a', { taggedUserContacts: [{ contact: eve }], to: [ada] }));
    expect(await involvements('bob')).toEqual([['comment', 'thread', 2, true]]);
    expect(await involvements('eve')).toEqual([['comment', 'thread', 2, false]]);
    expect(await involvements('ada')).toEqual([
      ['comment', 'thread', 1, true],
      ['comment', 'thread', 2, false],
    ]);
  });

  test('rejects a taken id and writes no comment of the call', async () => {
    expect(
      await error('add', { commentData: [reply('a'), reply('b', { commentId: 1, triggerNotification: true })] }),
    ).toEqual([409, 'ALREADY_EXISTS', 'Comment 1 already exists']);
    expect(await get()).toHaveLength(1);
    expect(await stored()).toMatchObject({ commentCount: 1, involvedUserIds: ['ada'] });
    expect(await involvements('bob')).toEqual([]);
    expect(await events()).toEqual([]);
  });

  test('emits comment.add only for comments with triggerNotification', async () => {
    await add(
      reply('quiet'),
      reply('loud', { triggerNotification: true, taggedUserContacts: [{ userId: 'eve' }] }),
      reply('loud too', { from: eve, triggerNotification: true }),
    );
    expect(await events()).toEqual([
      ['comment.add', 3, 'bob'],
      ['comment.add', 4, 'eve'],
    ]);
    const { data, audience } = (await emitted()).find((event) => event.data.targetComment.commentId === 3)!;
    expect(data).toMatchObject({
      commentAnnotation: { annotationId: 'thread', commentCount: 4, comments: [{ commentId: 3 }] },
      targetComment: { commentText: 'loud' },
    });
    expect(audience).toMatchObject({ actorId: 'bob', addressed: ['eve', 'ada'] });
  });

  test('accepts eight comments with ten mentioned users each and rejects nine', async () => {
    const mentioned = times(10, (index) => ({ userId: `user-${index}` }));
    const replies = (count: number) => times(count, () => reply('a', { taggedUserContacts: mentioned }));
    expect((await error('add', { commentData: replies(9) })).slice(0, 2)).toEqual([400, 'INVALID_ARGUMENT']);
    for (let i = 0; i < 6; i++) expect(await add(...replies(8))).toHaveLength(8);
    expect(await stored()).toMatchObject({
      commentCount: 49,
      involvedUserIds: ['ada', 'bob', ...mentioned.map(({ userId }) => userId)],
    });
    expect(await involvements('user-7')).toHaveLength(48);
    expect(await involvements('bob')).toHaveLength(48);
  });

  test('stores every comment under its own id when requests run in parallel', async () => {
    const answers = await Promise.all(times(8, (index) => add(reply(`a${index}`), reply(`b${index}`))));
    expect(answers.flat().toSorted((a, b) => a - b)).toEqual(times(16, (index) => index + 2));
    expect(await get()).toHaveLength(17);
    expect((await stored()).commentCount).toBe(17);
  });

  test('rejects authors without access to the document with verifyUserPermissions', async () => {
    await customer.setAccess('restricted', ['nda']);
    await customer.addUsers(['bob'], nda);
    expect(
      await customer.ok(`${COMMENTS}/add`, { ...inThread, verifyUserPermissions: true, commentData: [reply('a')] }),
    ).toEqual([2]);
    expect(
      await error('add', { verifyUserPermissions: true, commentData: [reply('b'), reply('c', { from: eve })] }),
    ).toEqual([403, 'PERMISSION_DENIED', 'User does not have access to document']);
    expect(await get()).toHaveLength(2);
  });

  test.each([
    ['an unknown annotation', { annotationId: 'nothing' }, notFound('Annotation')],
    ['an unknown document', { documentId: 'nothing' }, notFound('Document')],
    ['no comments', { commentData: [] }, invalid('commentData must not be empty')],
    [
      'a comment without an author',
      { commentData: [{ commentText: 'a' }] },
      invalid('commentData[0].from is required'),
    ],
    [
      'an empty comment',
      { commentData: [{ from: bob }] },
      invalid('commentData[0].commentText must be given, or commentHtml, an attachment or isCommentResolverUsed'),
    ],
    [
      'a repeated id',
      { commentData: [reply('a', { commentId: 5 }), reply('b', { commentId: 5 })] },
      invalid('commentData[1].commentId is given twice'),
    ],
  ])('rejects %s', async (_what, data, expected) => {
    expect(await error('add', { commentData: [reply('a')], ...data })).toEqual(expected);
  });
});

describe('POST /v2/commentannotations/comments/get', () => {
  test('returns comments as they were sent', async () => {
    const open = JSON.parse('{"__proto__":{"deep":[1]},"n":1e2}');
    const sent = {
      commentText: 'Text',
      commentHtml: '<b>Text</b>',
      to: [ada],
      taggedUserContacts: [{ userId: 'eve', contact: { userId: 'eve' }, ...open }],
      attachments: [{ attachmentId: 1, ...open }],
      context: { access: { region: ['eu', 7] } },
      isCommentTextAvailable: true,
      metadata: { mine: open, apiKey: 'not mine' },
      createdAt: '2026-01-02T03:04:05Z',
      lastUpdated: 1_767_323_046_000,
    };
    await add(reply('', sent));
    const [added] = await get({ commentIds: [2] });
    expect(added).toEqual({
      commentId: 2,
      type: 'text',
      status: 'added',
      commentText: 'Text',
      commentHtml: '<b>Text</b>',
      from: bob,
      to: [ada],
      taggedUserContacts: sent.taggedUserContacts,
      attachments: sent.attachments,
      context: { access: { region: ['eu', 7] }, accessFields: ['region:7', 'region:eu'] },
      isCommentTextAvailable: true,
      isEdited: false,
      reactionAnnotationIds: [],
      reactionAnnotations: [],
      isDraft: false,
      toOrganizationUserGroup: [],
      recorders: [],
      customList: [],
      createdAt: 1_767_323_045_000,
      lastUpdated: '2026-01-02T03:04:06.000Z',
      metadata: { mine: open, apiKey: customer.apiKey, ...nda },
    });
    expect(Object.getOwnPropertyDescriptor(added.attachments[0], '__proto__')?.value).toEqual({ deep: [1] });
  });

  test('returns lists and flags even if they are empty or false', async () => {
    await add(reply('', { commentText: undefined, isCommentResolverUsed: true }));
    const empty = {
      isDraft: false,
      to: [],
      toOrganizationUserGroup: [],
      recorders: [],
      customList: [],
      attachments: [],
      taggedUserContacts: [],
    };
    expect(await get()).toMatchObject([
      { ...empty, isCommentTextAvailable: true },
      { ...empty, isCommentTextAvailable: false },
    ]);
    expect(await get({ commentIds: [1] })).toMatchObject([empty]);
  });

  test('returns the documented message, as update and delete do', async () => {
    const said = async (path: string, data: object) =>
      (await customer.call(`${COMMENTS}/${path}`, { ...inThread, ...data })).body.result.message;
    expect(await said('get', {})).toBe('Comments retrieved successfully.');
    expect(await said('update', { updatedData: { commentText: 'x' } })).toBe('Comment updated successfully.');
    expect(await said('delete', {})).toBe('Comments(s) deleted successfully.');
  });

  test('returns comments in the order of the ids, with null for an unknown id', async () => {
    await add(reply('a'), reply('b'));
    expect(await ids({ commentIds: [3, 99, 1, 3] })).toEqual([3, null, 1]);
  });

  test('filters by author, not by mentioned users', async () => {
    await add(
      reply('a', { taggedUserContacts: [{ userId: 'ada' }] }),
      reply('b', { from: eve }),
      reply('c', { from: ada }),
    );
    expect(await ids({ userIds: ['ada', 'eve'] })).toEqual([1, 3, 4]);
    expect(await ids({ userIds: ['ada'], commentIds: [2, 4] })).toEqual([null, 4]);
    expect(await get({ userIds: ['nobody'] })).toEqual([]);
  });

  test('returns NOT_FOUND for a thread that is being deleted and has only comments left', async () => {
    const [head] = (await itemsOf('Thread')) as [any];
    await deleteItem(engine, head);
    for (const data of [{}, { commentIds: [1] }]) expect(await error('get', data)).toEqual(notFound('Annotation'));
  });

  test.each([
    ['an unknown annotation', { annotationId: 'nothing' }, notFound('Annotation')],
    ['an unknown document', { documentId: 'nothing' }, notFound('Document')],
    ['more than 30 ids', { commentIds: times(31, (index) => index) }, invalid('commentIds must have at most 30 items')],
    ['an id that is a text', { commentIds: ['1'] }, invalid('commentIds[0] must be a number')],
    ['an invalid page token', { pageToken: 'x' }, invalid('pageToken is not a token of this listing, or has expired')],
  ])('rejects %s', async (_what, data, expected) => {
    expect(await error('get', data)).toEqual(expected);
  });
});

describe('POST /v2/commentannotations/comments/update', () => {
  test('returns a result per id and marks changed comments as edited', async () => {
    await add(reply('a'), reply('b'));
    const before = await get();
    expect(await update({ commentIds: [2, 99, 2], updatedData: { commentText: 'changed' } })).toEqual({
      2: { success: true, id: 2, message: 'Updated successfully' },
      99: { success: false, id: 99, message: 'Not found' },
    });
    const after = await get();
    expect(after[1]).toMatchObject({
      commentText: 'changed',
      status: 'updated',
      isEdited: true,
      createdAt: before[1].createdAt,
    });
    expect(Date.parse(after[1].lastUpdated)).toBeGreaterThanOrEqual(Date.parse(before[1].lastUpdated));
    expect([after[0], after[2]]).toEqual([before[0], before[2]]);
  });

  test('changes all comments without ids', async () => {
    await add(...times(30, () => reply('x')));
    expect(Object.keys(await update({ updatedData: { commentHtml: '<i>x</i>' } }))).toHaveLength(31);
    expect((await get()).every(({ commentHtml, isEdited }: any) => commentHtml === '<i>x</i>' && isEdited)).toBe(true);
  });

  test('moves a comment to the user data of its new author and newly mentioned users', async () => {
    await add(reply('a', { taggedUserContacts: [{ userId: 'eve' }] }));
    await update({ commentIds: [2], updatedData: { taggedUserContacts: [{ userId: 'ada' }], from: eve } });
    expect(await involvements('ada')).toEqual([
      ['comment', 'thread', 1, true],
      ['comment', 'thread', 2, false],
    ]);
    expect(await involvements('eve')).toEqual([['comment', 'thread', 2, true]]);
    expect(await involvements('bob')).toEqual([]);
    expect(await stored()).toMatchObject({ involvedUserIds: ['ada', 'eve'], mentionedUserIds: ['ada'] });
  });

  test('changes only comments of the given authors', async () => {
    await add(reply('a'), reply('b', { from: eve }), reply('c'));
    expect(Object.keys(await update({ userIds: ['bob'], updatedData: { commentText: 'changed' } }))).toEqual([
      '2',
      '4',
    ]);
    expect(
      await update({ userIds: ['bob', 'eve'], commentIds: [1, 3], updatedData: { commentText: 'again' } }),
    ).toMatchObject({ 1: { success: false }, 3: { success: true } });
    expect(await texts()).toEqual(['First', 'changed', 'again', 'changed']);
    expect(await update({ userIds: ['nobody'], updatedData: { commentText: 'x' } })).toEqual({});
    expect(await stored()).toMatchObject({ commentCount: 4 });
  });

  test('changes more comments of the given authors than fit into one transaction, including their author', async () => {
    await add(...times(30, () => reply('x')));
    expect(
      Object.values(await update({ userIds: ['bob'], updatedData: { from: eve } })).every(
        ({ success }: any) => success,
      ),
    ).toBe(true);
    expect(await get({ userIds: ['eve'] })).toHaveLength(30);
  });

  test('emits comment.update for each selected comment with triggerNotification, also for a repeated call', async () => {
    await add(reply('a'), reply('b'));
    await update({ commentIds: [1], updatedData: { commentText: 'quiet' } });
    await update({
      commentIds: [2, 3],
      updatedData: { commentText: 'b' },
      triggerNotification: true,
      actionUser: { userId: 'editor' },
    });
    await update({
      commentIds: [2],
      updatedData: { commentText: 'b' },
      triggerNotification: true,
      actionUser: { userId: 'editor' },
    });
    await update({ commentIds: [3], updatedData: { context: { access: { a: 1 } } } });
    expect(await events()).toEqual([
      ['comment.update', 2, 'editor'],
      ['comment.update', 2, 'editor'],
      ['comment.update', 3, 'editor'],
    ]);
  });

  test('emits comment.update with the thread as it is after the update', async () => {
    await add(reply('a'));
    await update({ updatedData: { taggedUserContacts: [{ userId: 'eve' }] }, triggerNotification: true });
    const { lastUpdated, involvedUserIds } = await stored();
    const threads = (await emitted()).map(({ data }) => data.commentAnnotation);
    expect(threads).toHaveLength(2);
    for (const sent of threads) expect(sent).toMatchObject({ lastUpdated, involvedUserIds, mentionedUserIds: ['eve'] });
  });

  test('replaces progress and actions as a whole', async () => {
    const actions = [{ id: 'stop', label: 'Stop', metadata: { n: 1 } }];
    await add(
      reply('a', { progress: { state: 'active', steps: [{ label: 'Read', state: 'active' }], startedAt: 5 }, actions }),
    );
    expect((await get({ commentIds: [2] }))[0]).toMatchObject({
      progress: { state: 'active', steps: [{ label: 'Read', state: 'active' }], startedAt: 5 },
      actions,
    });
    await update({ commentIds: [2], updatedData: { progress: { state: 'failed' } } });
    const [comment] = await get({ commentIds: [2] });
    expect([comment.progress, comment.actions]).toEqual([{ state: 'failed' }, actions]);
    await update({ commentIds: [2], updatedData: { actions: [{ id: 'retry' }] } });
    expect((await get({ commentIds: [2] }))[0].actions).toEqual([{ id: 'retry' }]);
    expect(await error('update', { updatedData: { progress: { state: 'done' } } })).toEqual(
      invalid('updatedData.progress.state must be "active" or "completed" or "failed" or "cancelled"'),
    );
  });

  test('keeps the reactions of a changed comment', async () => {
    await customer.addReactions([
      { annotationId: 'thumb', icon: '👍', from: bob, commentAnnotationId: 'thread', commentId: 1 },
    ]);
    await update({ updatedData: { commentText: 'changed' } });
    expect((await get())[0]).toMatchObject({ commentText: 'changed', reactionAnnotationIds: ['thumb'] });
  });

  test('keeps reactions and replies that are added in parallel', async () => {
    await add(reply('a'));
    await Promise.all([
      ...['x', 'y', 'z'].map((commentText) => update({ commentIds: [2], updatedData: { commentText } })),
      ...[ada, bob, eve].map((from) =>
        customer.addReactions([
          { annotationId: `of-${from.userId}`, icon: '👍', from, commentAnnotationId: 'thread', commentId: 2 },
        ]),
      ),
      ...['b', 'c'].map((text) => add(reply(text))),
    ]);
    const [, comment, ...replies] = await get();
    expect(['x', 'y', 'z']).toContain(comment.commentText);
    expect(comment.reactionAnnotationIds.toSorted()).toEqual(['of-ada', 'of-bob', 'of-eve']);
    expect(replies).toHaveLength(2);
  });

  test('rejects an update only for those comments that would become empty', async () => {
    await add(reply('a', { commentHtml: '<i>a</i>' }));
    expect(await update({ updatedData: { commentText: '' } })).toEqual({
      1: { success: false, id: 1, message: 'Comment would be empty.' },
      2: { success: true, id: 2, message: 'Updated successfully' },
    });
  });

  test.each([
    ['an unknown annotation', { annotationId: 'nothing' }, notFound('Annotation')],
    ['an empty change', { updatedData: {} }, invalid('updatedData must have at least one field that can be changed')],
    ['no updatedData', { updatedData: undefined }, invalid('updatedData is required')],
    ['an empty list of ids', { commentIds: [] }, invalid('commentIds must not be empty')],
    ['an empty list of authors', { userIds: [] }, invalid('userIds must not be empty')],
  ])('rejects %s', async (_what, data, expected) => {
    expect(await error('update', { updatedData: { commentText: 'x' }, ...data })).toEqual(expected);
  });
});

describe('POST /v2/commentannotations/comments/delete', () => {
  test('returns a result per id and updates the counts and users of the thread', async () => {
    await add(reply('a', { taggedUserContacts: [{ userId: 'eve' }] }), reply('b', { from: eve }));
    expect(await remove({ commentIds: [2, 99] })).toEqual({
      2: { success: true, id: 2, message: 'Deleted successfully' },
      99: { success: false, id: 99, message: 'Not found' },
    });
    expect(await ids()).toEqual([1, 3]);
    expect(await stored()).toMatchObject({ commentCount: 2, involvedUserIds: ['ada', 'eve'], mentionedUserIds: [] });
    expect(await involvements('bob')).toEqual([]);
    expect(await involvements('eve')).toEqual([['comment', 'thread', 3, true]]);
  });

  test('deletes only comments of the given authors', async () => {
    await add(reply('a'), reply('b', { from: eve }), reply('c'));
    expect(await remove({ userIds: ['eve'], commentIds: [1, 2, 3] })).toMatchObject({
      1: { success: false },
      2: { success: false },
      3: { success: true },
    });
    expect(Object.keys(await remove({ userIds: ['bob', 'nobody'] }))).toEqual(['2', '4']);
    expect(await texts()).toEqual(['First']);
    expect(await remove({ userIds: ['bob'] })).toEqual({});
    expect(await stored()).toMatchObject({ commentCount: 1, involvedUserIds: ['ada'] });
  });

  test('deletes the annotation if the given authors wrote all of its comments', async () => {
    await add(...times(30, () => reply('x', { from: ada })));
    expect(Object.keys(await remove({ userIds: ['ada'] }))).toHaveLength(31);
    expect(await stored()).toBeNull();
    for (const type of ['Thread', 'Comment', 'Involvement', 'RecordId', 'Job']) expect(await itemsOf(type)).toEqual([]);
  });

  test('never reuses the id of a deleted comment', async () => {
    await add(reply('a'), reply('b'));
    await remove({ commentIds: [3] });
    expect(await add(reply('c'))).toEqual([4]);
  });

  test('emits comment.delete when the call asks for it', async () => {
    await add(reply('a'), reply('b'));
    await remove({ commentIds: [2] });
    await remove({ commentIds: [3], triggerNotification: true, actionUser: { userId: 'moderator' } });
    expect(await events()).toEqual([['comment.delete', 3, 'moderator']]);
  });

  test('deletes the annotation with its last comment, so that its id can be used again', async () => {
    await add(...times(30, () => reply('x')));
    await customer.addReactions([
      { annotationId: 'thumb', icon: '👍', from: eve, commentAnnotationId: 'thread', commentId: 7 },
    ]);
    expect(Object.keys(await remove())).toHaveLength(31);
    expect(await stored()).toBeNull();
    expect(await error('get')).toEqual(notFound('Annotation'));
    for (const type of ['Thread', 'Comment', 'Reaction', 'Involvement', 'RecordId', 'Job'])
      expect(await itemsOf(type)).toEqual([]);
    await addThread(reply('new'));
    expect(await texts()).toEqual(['new']);
  });

  test('reports an unknown comment when a deletion is repeated', async () => {
    await add(reply('a'));
    await remove({ commentIds: [2] });
    expect(await remove({ commentIds: [2] })).toEqual({ 2: { success: false, id: 2, message: 'Not found' } });
  });

  test('deletes all comments with the thread, or keeps comments that are added in parallel', async () => {
    await Promise.allSettled([remove(), ...['a', 'b', 'c'].map((text) => add(reply(text)))]);
    const remainingComments = await customer.call(`${COMMENTS}/get`, inThread);
    const count = remainingComments.status === 404 ? 0 : remainingComments.body.result.data.length;
    expect(await itemsOf('Comment')).toHaveLength(count);
    if (count > 0) expect((await stored()).commentCount).toBe(count);
  });

  test('keeps a comment that it does not name if a named one is deleted while the thread is read', async () => {
    await add(reply('named'), reply('kept'));
    const { batchGet } = Table.prototype;
    const removeAsTest = AsyncLocalStorage.bind(remove);
    // A read of several items returns them as they were at different moments.
    const spy = jest.spyOn(Table.prototype, 'batchGet').mockImplementation(async function (this: Table, ...reads) {
      const [head, ...comments] = (await batchGet.apply(this, reads)) as any[];
      if (comments.length !== 2 || comments[1]?.commentId !== 2) return [head, ...comments] as never;
      spy.mockRestore();
      await removeAsTest({ commentIds: [2] });
      return [...(await this.batchGet(reads[0])), ...comments] as never;
    });
    expect(await remove({ commentIds: [1, 2] })).toMatchObject({ 1: { success: true }, 2: { success: false } });
    expect(await ids()).toEqual([3]);
  });

  test.each([[{ commentIds: [1] }], [{ userIds: ['ada'] }]])(
    'keeps a comment that is added while %j deletes the only other one',
    async (selection) => {
      beforeWrite(() => add(reply('kept')));
      expect(await remove(selection)).toEqual({ 1: { success: true, id: 1, message: 'Deleted successfully' } });
      expect(await texts()).toEqual(['kept']);
      expect(await stored()).toMatchObject({ commentCount: 1, involvedUserIds: [bob.userId] });
    },
  );

  test('reports an unknown comment if another call deletes the last comment first', async () => {
    beforeWrite(() => remove({ commentIds: [1] }));
    expect(await remove({ commentIds: [1], triggerNotification: true })).toEqual({
      1: { success: false, id: 1, message: 'Not found' },
    });
    expect(await events()).toEqual([]);
  });

  test.each([
    ['an unknown annotation', { annotationId: 'nothing' }, notFound('Annotation')],
    ['an empty list of ids', { commentIds: [] }, invalid('commentIds must not be empty')],
    ['an empty list of authors', { userIds: [] }, invalid('userIds must not be empty')],
  ])('rejects %s', async (_what, data, expected) => {
    expect(await error('delete', data)).toEqual(expected);
  });
});
