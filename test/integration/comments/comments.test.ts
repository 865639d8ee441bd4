import { AsyncLocalStorage } from 'node:async_hooks';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { ThreadEntity } from '../../../lib/comments/threads.ts';
import { Table } from '../../../lib/table/table.ts';
import { acmeWorld, invalid, table } from '../../support/acmeWorld.ts';
import { beforeWrite } from '../../support/beforeWrite.ts';
import { nda } from '../../support/content.ts';
import { storedDocumentScope } from '../../support/storedScope.ts';
import { ada, addThreads, comment, commentCalls, getThread, thread } from '../../support/threads.ts';
import { times } from '../../support/times.ts';

const { customer, itemsOf, emitted, involvements } = acmeWorld({ table: 'memory', documents: ['nda'] });

const bob = { userId: 'bob' };
const eve = { userId: 'eve' };

const { add, get, update, remove, error } = commentCalls(customer, 'thread');
const reply = (commentText: string, changes: object = {}) => ({ commentText, from: bob, ...changes });
const stored = () => getThread(customer, 'thread');
const texts = async (): Promise<string[]> => (await get()).map(({ commentText }: any) => commentText);
/** Returns the ids of the comments that `get` returns, or null for a comment that does not exist. */
const ids = async (data: object = {}) => (await get(data)).map((comment: any) => comment?.commentId ?? null);
const UNKNOWN = [404, 'NOT_FOUND', 'Annotation does not exist'];

beforeEach(() => addThreads(customer, [thread('thread', { commentData: [comment({ commentText: 'First' })] })]));

test.each(['add', 'get', 'update', 'delete'])('%s refuses an unknown annotation', async (verb) => {
  const more = { add: { commentData: [comment()] }, update: { updatedData: { commentText: 'x' } } }[verb];
  expect(await error(verb, { annotationId: 'nothing', ...more })).toEqual(UNKNOWN);
});

test.each([
  ['get', {}, 'Comments retrieved successfully.'],
  ['update', { updatedData: { commentText: 'x' } }, 'Comment updated successfully.'],
  ['delete', {}, 'Comments(s) deleted successfully.'],
])('%s returns the documented message', async (verb, more, expected) => {
  const data = { ...nda, annotationId: 'thread', ...more };
  expect((await customer.result(`/v2/commentannotations/comments/${verb}`, data)).message).toBe(expected);
});

describe('POST /v2/commentannotations/comments/add', () => {
  test('returns ids in the order of the request. Comments without an id get the next one', async () => {
    const largest = 999_999_999_999_999;
    expect(await add(reply('a'), reply('b'))).toEqual([2, 3]);
    expect(await add(reply('c', { commentId: 10 }), reply('d'))).toEqual([10, 11]);
    expect(await add(reply('e', { commentId: largest }), reply('f'))).toEqual([largest, largest + 1]);
    expect(await texts()).toEqual(['First', 'a', 'b', 'c', 'd', 'e', 'f']);
    expect(await get({ commentIds: [largest + 1] })).toMatchObject([{ commentText: 'f' }]);
    expect(await remove({ commentIds: [largest + 1] })).toMatchObject({ [largest + 1]: { success: true } });
  });

  test('updates the thread, and the user data of authors and mentioned users', async () => {
    const before = await stored();
    await add(reply('a', { taggedUserContacts: [{ contact: eve }], to: [ada] }));
    const after = await stored();
    expect(after).toMatchObject({
      commentCount: 2,
      involvedUserIds: ['ada', 'bob', 'eve'],
      mentionedUserIds: ['ada', 'eve'],
      createdAt: before.createdAt,
    });
    expect(after.lastUpdated).toBeGreaterThanOrEqual(before.lastUpdated);
    expect(await involvements('bob')).toEqual([['comment', 'thread', 2, true]]);
    expect(await involvements('eve')).toEqual([['comment', 'thread', 2, false]]);
  });

  test('rejects authors without access to the document with verifyUserPermissions', async () => {
    await customer.setAccess('restricted', ['nda']);
    await customer.addUsers(['bob'], nda);
    const send = (...comments: object[]) => error('add', { verifyUserPermissions: true, comments });
    expect(await send(reply('a'))).toEqual([200]);
    expect(await send(reply('b'), reply('c', { from: eve }))).toEqual([
      403,
      'PERMISSION_DENIED',
      'User does not have access to document',
    ]);
    expect(await texts()).toEqual(['First', 'a']);
  });

  test.each([
    [
      'an empty comment',
      { commentData: [{ from: bob }] },
      'commentData[0].commentText must be given, or commentHtml, an attachment or isCommentResolverUsed',
    ],
    [
      'a repeated id',
      { commentData: [reply('a', { commentId: 5 }), reply('b', { commentId: 5 })] },
      'commentData[1].commentId is given twice',
    ],
  ])('rejects %s', async (_what, data, message) => {
    expect(await error('add', data)).toEqual(invalid(message));
  });
});

describe('POST /v2/commentannotations/comments/get', () => {
  test('returns comments as they were sent, with lists and flags even if they are empty or false', async () => {
    const open = JSON.parse('{"__proto__":{"deep":[1]},"n":1e2}');
    const sent = {
      commentText: 'Text',
      commentHtml: '<b>Text</b>',
      to: [ada],
      taggedUserContacts: [{ userId: 'eve', contact: { userId: 'eve' }, ...open }],
      attachments: [{ attachmentId: 1, ...open }],
      isCommentTextAvailable: true,
    };
    const lists = {
      isDraft: false,
      isEdited: false,
      toOrganizationUserGroup: [],
      recorders: [],
      customList: [],
      reactionAnnotationIds: [],
      reactionAnnotations: [],
    };
    await add(
      reply('', {
        ...sent,
        context: { access: { region: ['eu', 7] } },
        metadata: { mine: open, apiKey: 'not mine' },
        createdAt: '2026-01-02T03:04:05Z',
        lastUpdated: 1_767_323_046_000,
      }),
      reply('', { commentText: undefined, isCommentResolverUsed: true }),
    );
    const [added] = await get({ commentIds: [2] });
    expect(added).toEqual({
      ...sent,
      ...lists,
      commentId: 2,
      type: 'text',
      status: 'added',
      from: bob,
      context: { access: { region: ['eu', 7] }, accessFields: ['region:7', 'region:eu'] },
      createdAt: 1_767_323_045_000,
      lastUpdated: '2026-01-02T03:04:06.000Z',
      metadata: { mine: open, apiKey: customer.apiKey, ...nda },
    });
    expect(Object.keys(added.attachments[0])).toContain('__proto__');
    const empty = { ...lists, to: [], attachments: [], taggedUserContacts: [] };
    expect(await get()).toMatchObject([
      { ...empty, isCommentTextAvailable: true },
      lists,
      { ...empty, isCommentTextAvailable: false },
    ]);
  });

  test('returns comments by authors and in the order of the ids, with null for an unknown id', async () => {
    await add(
      reply('a', { taggedUserContacts: [{ userId: 'ada' }] }),
      reply('b', { from: eve }),
      reply('c', { from: ada }),
    );
    expect(await ids({ commentIds: [3, 99, 1, 3] })).toEqual([3, null, 1]);
    expect(await ids({ userIds: ['ada', 'eve'] })).toEqual([1, 3, 4]);
    expect(await ids({ userIds: ['ada'], commentIds: [2, 4] })).toEqual([null, 4]);
    expect(await get({ userIds: ['nobody'] })).toEqual([]);
  });

  test('returns NOT_FOUND for a thread that is being deleted and has only comments left', async () => {
    const { annotationId, createdAt } = await stored();
    await table.removeKeys([ThreadEntity.key({ ...(await storedDocumentScope(customer)), annotationId, createdAt })]);
    for (const data of [{}, { commentIds: [1] }]) expect(await error('get', data)).toEqual(UNKNOWN);
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
    const { createdAt } = before[1];
    expect(after[1]).toMatchObject({ commentText: 'changed', status: 'updated', isEdited: true, createdAt });
    expect(Date.parse(after[1].lastUpdated)).toBeGreaterThanOrEqual(Date.parse(before[1].lastUpdated));
    expect([after[0], after[2]]).toEqual([before[0], before[2]]);
  });

  test('changes all comments without ids, more than fit into one transaction, including their author', async () => {
    await add(...times(30, () => reply('x')));
    const results = Object.values<any>(await update({ updatedData: { from: eve } }));
    expect(results.map(({ success }) => success)).toEqual(times(31, () => true));
    expect(await get({ userIds: ['eve'] })).toHaveLength(31);
  });

  test('moves a comment to the user data of its new author and newly mentioned users', async () => {
    await add(reply('a', { taggedUserContacts: [{ userId: 'eve' }] }));
    await update({ commentIds: [2], updatedData: { taggedUserContacts: [{ userId: 'ada' }], from: eve } });
    expect(await Promise.all(['ada', 'eve', 'bob'].map((userId) => involvements(userId)))).toEqual([
      [
        ['comment', 'thread', 1, true],
        ['comment', 'thread', 2, false],
      ],
      [['comment', 'thread', 2, true]],
      [],
    ]);
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
  });

  test('emits comment.update with the thread as it is after the update', async () => {
    await add(reply('a'));
    await update({
      updatedData: { taggedUserContacts: [{ userId: 'eve' }] },
      triggerNotification: true,
      actionUser: { userId: 'editor' },
    });
    const { lastUpdated, involvedUserIds } = await stored();
    expect((await emitted()).map(({ data }) => data)).toMatchObject(
      times(2, () => ({
        actionUser: { userId: 'editor' },
        commentAnnotation: { lastUpdated, involvedUserIds, mentionedUserIds: ['eve'] },
      })),
    );
  });

  test('replaces progress and actions as a whole', async () => {
    const actions = [{ id: 'stop', label: 'Stop', metadata: { n: 1 } }];
    const progress = { state: 'active', steps: [{ label: 'Read', state: 'active' }], startedAt: 5 };
    const read = async () => {
      const [comment] = await get({ commentIds: [2] });
      return [comment.progress, comment.actions];
    };
    await add(reply('a', { progress, actions }));
    expect(await read()).toEqual([progress, actions]);
    await update({ commentIds: [2], updatedData: { progress: { state: 'failed' } } });
    expect(await read()).toEqual([{ state: 'failed' }, actions]);
    await update({ commentIds: [2], updatedData: { actions: [{ id: 'retry' }] } });
    expect(await read()).toEqual([{ state: 'failed' }, [{ id: 'retry' }]]);
  });

  test('rejects an update only for those comments that would become empty', async () => {
    await add(reply('a', { commentHtml: '<i>a</i>' }));
    expect(await update({ updatedData: { commentText: '' } })).toEqual({
      1: { success: false, id: 1, message: 'Comment would be empty.' },
      2: { success: true, id: 2, message: 'Updated successfully' },
    });
  });

  test('rejects an empty change', async () => {
    expect(await error('update', { updatedData: {} })).toEqual(
      invalid('updatedData must have at least one field that can be changed'),
    );
  });
});

describe('POST /v2/commentannotations/comments/delete', () => {
  test('returns a result per id, updates counts and users of the thread, and never reuses an id', async () => {
    await add(reply('a', { from: eve }), reply('b', { taggedUserContacts: [{ userId: 'eve' }] }));
    expect(await remove({ commentIds: [3, 99] })).toEqual({
      3: { success: true, id: 3, message: 'Deleted successfully' },
      99: { success: false, id: 99, message: 'Not found' },
    });
    expect(await ids()).toEqual([1, 2]);
    expect(await stored()).toMatchObject({ commentCount: 2, involvedUserIds: ['ada', 'eve'], mentionedUserIds: [] });
    expect([await involvements('bob'), await involvements('eve')]).toEqual([[], [['comment', 'thread', 2, true]]]);
    expect(await add(reply('c'))).toEqual([4]);
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
  });

  test.each([
    ['all comments', {}],
    ['those of all authors', { userIds: ['ada', 'bob'] }],
  ])('deletes the annotation with %s, so that its id can be used again', async (_what, selection) => {
    await add(...times(30, () => reply('x')));
    await customer.addReactions([
      { annotationId: 'thumb', icon: '👍', from: eve, commentAnnotationId: 'thread', commentId: 7 },
    ]);
    expect(Object.keys(await remove(selection))).toHaveLength(31);
    expect(await stored()).toBeNull();
    for (const type of ['Thread', 'Comment', 'Reaction', 'Involvement', 'RecordId', 'Job'])
      expect(await itemsOf(type)).toEqual([]);
    await addThreads(customer, ['thread']);
    expect(await texts()).toEqual(['hi']);
  });

  test('deletes a comment with more reactions than a transaction takes, and no reaction to another comment', async () => {
    await add(reply('liked'));
    const react = (commentId: number, count: number) =>
      customer.addReactions(
        times(count, (index) => ({
          annotationId: `r${commentId}-${index}`,
          icon: '+',
          from: { userId: `fan${index}` },
          commentAnnotationId: 'thread',
          commentId,
        })),
      );
    await react(1, 2);
    await react(2, 60);
    expect(await remove({ commentIds: [2] })).toMatchObject({ 2: { success: true } });
    const reactions = await itemsOf('Reaction');
    expect(reactions.map(({ annotationId }) => annotationId).sort()).toEqual(['r1-0', 'r1-1']);
    expect(await itemsOf('Job')).toEqual([]);
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
    expect(await emitted()).toEqual([]);
  });
});
