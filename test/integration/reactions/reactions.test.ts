import { describe, expect, jest, test } from '@jest/globals';
import { ReactionEntity } from '../../../lib/reactions/reactions.ts';
import { Table } from '../../../lib/table/table.ts';
import { acmeWorld, invalid } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { deleteItem, putItem } from '../../support/items.ts';
import { nextMillisecond } from '../../support/nextMillisecond.ts';
import { ada, addThreads, comment, commentCalls, idsIn, thread } from '../../support/threads.ts';
import { times } from '../../support/times.ts';

const { engine, customer, itemsOf, emitted, involvements } = acmeWorld({ table: 'memory', documents: ['nda'] });

const bob = { userId: 'bob' };
const onComment = { commentAnnotationId: 'thread', commentId: 1 };

const react = (...reactions: object[]) => customer.addReactions(reactions);
const thumb = (changes: object = {}) => ({ annotationId: 'thumb', icon: '👍', from: ada, ...changes });
const unreact = (...annotationIds: string[]) => customer.ok('/v2/reactions/delete', { ...nda, annotationIds });
const added = (annotationId: string) => ({ success: true, annotationId, message: 'Reaction added.' });
const refused = (annotationId: string, message: string) => ({ success: false, annotationId, message });
const addThread = (changes: object = {}) =>
  addThreads(customer, [thread('thread', { commentData: [comment({ from: bob }), comment()], ...changes })]);
const { get: getComments } = commentCalls(customer, 'thread');
const reactionsOfComments = async () =>
  (await getComments()).map(({ reactionAnnotations }: any) =>
    reactionAnnotations.map(({ annotationId, fromUsers }: any) => [
      annotationId,
      ...fromUsers.map(({ from }: any) => from.userId),
    ]),
  );

test('lastUpdated of a thread changes if users react or delete reactions, but not if a reaction is repeated', async () => {
  const since = async (updatedAfter: number) =>
    idsIn(await customer.ok('/v2/commentannotations/get', { ...nda, updatedAfter })).sort();
  const on = (commentAnnotationId: string, annotationId: string, changes: object = {}) =>
    thumb({ commentAnnotationId, commentId: 1, annotationId, ...changes });
  const longAgo = { createdAt: 1_000, lastUpdated: 1_000 };
  const commentData = times(2, () => comment(longAgo));
  await addThreads(
    customer,
    ['thread', 'other', 'quiet'].map((id) => thread(id, { ...longAgo, commentData })),
  );
  const start = Date.now();
  expect(await since(start)).toEqual([]);
  await react(on('thread', 'r1'), on('thread', 'r2', { commentId: 2 }), on('other', 'r3'));
  expect(await since(start)).toEqual(['other', 'thread']);
  const later = nextMillisecond();
  await react(on('thread', 'r1'));
  expect(await since(later)).toEqual([]);
  await react(on('thread', 'r1', { from: bob }));
  expect(await since(later)).toEqual(['thread']);
  expect(await unreact('r3', 'r2')).toMatchObject({ r3: { success: true }, r2: { success: true } });
  expect(await since(later)).toEqual(['other', 'thread']);
});

describe('POST /v2/reactions/add', () => {
  test('returns a map by reaction id, generates ids, and emits no event for reactions on the document', async () => {
    const { message, data } = await customer.result('/v2/reactions/add', {
      ...nda,
      reactions: [thumb(), thumb({ annotationId: '__proto__' }), thumb({ annotationId: undefined })],
    });
    expect(message).toBe('Reaction(s) added successfully.');
    const generated = Object.keys(data).at(-1)!;
    expect(generated).toMatch(/^rct_[0-9A-Za-z]{27}$/);
    expect(Object.entries(data)).toEqual(['thumb', '__proto__', generated].map((id) => [id, added(id)]));
    await unreact('thumb');
    expect(await emitted()).toEqual([]);
  });

  test('makes get endpoints return the reaction with its comment, at the location of the thread by default', async () => {
    await addThread({ location: { id: 'page-1' } });
    const before = Date.now();
    await react(
      thumb(onComment),
      thumb({ ...onComment, from: bob }),
      thumb({ ...onComment, annotationId: 'own', location: { id: 'page-2' } }),
    );
    const [first, second] = await getComments();
    const [{ createdAt, ...reaction }, own] = first.reactionAnnotations;
    expect(createdAt).toBeGreaterThanOrEqual(before);
    expect(reaction).toEqual({
      annotationId: 'thumb',
      type: 'reaction',
      icon: '👍',
      commentAnnotationId: 'thread',
      commentId: 1,
      fromUsers: [ada, bob].map((from) => ({ from, lastUpdated: createdAt })),
      location: { id: 'page-1' },
      locationId: 'page-1',
      lastUpdated: createdAt,
      metadata: { apiKey: customer.apiKey, ...nda },
    });
    expect(own).toMatchObject({ locationId: 'page-2', fromUsers: [{ from: ada }] });
    expect([first, second]).toMatchObject([
      { isEdited: false, reactionAnnotationIds: ['thumb', 'own'] },
      { reactionAnnotationIds: [], reactionAnnotations: [] },
    ]);
  });

  test('fails only for reactions on unknown threads and comments, and emits no event for them', async () => {
    await addThread();
    expect(
      await react(
        thumb({ ...onComment, commentAnnotationId: 'nothing' }),
        thumb({ ...onComment, annotationId: 'third', commentId: 3 }),
        thumb({ ...onComment, annotationId: 'other' }),
      ),
    ).toEqual({
      thumb: refused('thumb', 'Comment does not exist.'),
      third: refused('third', 'Comment does not exist.'),
      other: added('other'),
    });
    expect((await itemsOf('Reaction')).map(({ annotationId }) => annotationId)).toEqual(['other']);
    expect(await emitted()).toHaveLength(1);
  });

  test('adds users to several reactions of a thread without naming their comments, but not to other comments', async () => {
    await addThread();
    await react(thumb(onComment), thumb({ ...onComment, annotationId: 'heart' }));
    expect(
      await react(
        thumb({ from: bob }),
        thumb({ annotationId: 'heart', from: bob }),
        thumb({ ...onComment, annotationId: 'star' }),
      ),
    ).toEqual({ thumb: added('thumb'), heart: added('heart'), star: added('star') });
    expect(await react(thumb({ ...onComment, commentId: 2 }))).toEqual({
      thumb: refused('thumb', 'Reaction belongs to another comment or document.'),
    });
    expect(await reactionsOfComments()).toEqual([
      [
        ['thumb', 'ada', 'bob'],
        ['heart', 'ada', 'bob'],
        ['star', 'ada'],
      ],
      [],
    ]);
  });

  test('stores 50 users of one call, and none of 51', async () => {
    const users = times(51, (index) => ({ userId: `user-${index}` }));
    const send = (count: number) => react(...users.slice(0, count).map((from) => thumb({ from })));
    expect(await send(51)).toEqual({ thumb: refused('thumb', 'Reaction can have at most 50 users.') });
    expect(await itemsOf('Reaction')).toEqual([]);
    expect(await send(50)).toEqual({ thumb: added('thumb') });
    const [reaction] = await itemsOf('Reaction');
    expect(reaction!.fromUsers.map(({ from }: any) => from)).toEqual(users.slice(0, 50));
    expect(await itemsOf('Involvement')).toHaveLength(50);
  });

  test('accepts 200 reactions of a comment, and no further ones', async () => {
    await addThread();
    const results = await react(...times(250, (index) => thumb({ ...onComment, annotationId: `r${index}` })));
    expect(Object.values(results).filter(({ success }: any) => success)).toHaveLength(200);
    expect(results.r249).toEqual(refused('r249', 'Comment has too many reactions.'));
    const [{ reactionAnnotationIds, reactionAnnotations }] = await getComments();
    expect([reactionAnnotationIds.length, reactionAnnotations.length]).toEqual([200, 200]);
    await unreact(...reactionAnnotationIds);
    expect([await reactionsOfComments(), await itemsOf('Reaction')]).toEqual([[[], []], []]);
  });

  test('creates a separate reaction with the same id in another document', async () => {
    await customer.addDocuments(['other']);
    await react(thumb());
    expect(await customer.addReactions([thumb({ icon: '🎉' })], { documentId: 'other' })).toEqual({
      thumb: added('thumb'),
    });
    await unreact('thumb');
    expect((await itemsOf('Reaction')).map(({ icon }) => icon)).toEqual(['🎉']);
  });

  test('accepts a reaction id that remained from a deleted document', async () => {
    await react(thumb());
    const [name] = await itemsOf('RecordId');
    for (const type of ['Reaction', 'Involvement'])
      for (const item of await itemsOf(type)) await deleteItem(engine, item);
    await putItem(engine, { ...name, documentKey: 'doc_gone' });
    expect(await unreact('thumb')).toEqual({ thumb: { success: false, message: 'Reaction does not exist.' } });
    await react(thumb({ icon: '🎉' }));
    expect(await react(thumb({ icon: '🎉', from: bob }))).toEqual({ thumb: added('thumb') });
    expect((await itemsOf('Reaction')).map(({ fromUsers }) => fromUsers.length)).toEqual([2]);
  });

  test('leaves no reference in the comment if a repeated reaction is deleted in the meantime', async () => {
    await addThread();
    await react(thumb(onComment));
    const { getMany } = Table.prototype;
    const spy = jest.spyOn(Table.prototype, 'getMany').mockImplementation(async function (this: Table, ...read) {
      const values = await getMany.apply(this, read);
      if (read[0] === ReactionEntity) {
        spy.mockRestore();
        await unreact('thumb');
      }
      return values;
    });
    await react(thumb(onComment));
    expect((await getComments())[0]).toMatchObject({ reactionAnnotationIds: [], reactionAnnotations: [] });
    nextMillisecond();
    await react(thumb(onComment));
    expect(await reactionsOfComments()).toEqual([[['thumb', 'ada']], []]);
  });

  test.each([
    ['a thread without a comment', { commentAnnotationId: 'thread' }],
    ['a comment without a thread', { commentId: 1 }],
  ])('rejects %s', async (_what, on) => {
    expect(await customer.error('/v2/reactions/add', { ...nda, reactions: [thumb(on)] })).toEqual(
      invalid('reactions[0].commentId must be present if commentAnnotationId is present, and absent otherwise'),
    );
  });
});

test('parallel additions and deletions of reactions keep all others, with their user data and one event each', async () => {
  await addThread();
  const users = times(6, (index) => ({ userId: `user-${index}` }));
  await react(...users.map(({ userId }) => thumb({ ...onComment, annotationId: `of ${userId}` })));
  const answers = await Promise.all([
    ...users.map((from) => react(thumb({ ...onComment, from }))),
    ...users.map(({ userId }) => unreact(`of ${userId}`)),
  ]);
  expect(answers.flatMap((answer) => Object.values<any>(answer)).filter(({ success }) => !success)).toEqual([]);
  const [[[id, ...userIds], ...others]] = await reactionsOfComments();
  expect([id, userIds.toSorted(), others]).toEqual(['thumb', users.map(({ userId }) => userId), []]);
  expect(await emitted()).toHaveLength(18);
  expect(await involvements('user-3')).toEqual([['reaction', 'thumb', true]]);
});

test('comment.reaction_add is emitted once per user, and names only this user', async () => {
  await addThread();
  await react(thumb(onComment), thumb({ ...onComment, from: bob }));
  await react(thumb({ ...onComment, from: bob }));
  const events = (await emitted()).toSorted((a, b) => (a.data.actionUser.userId < b.data.actionUser.userId ? -1 : 1));
  expect(events).toMatchObject(
    [ada, bob].map((from) => ({
      event: 'comment.reaction_add',
      data: {
        actionUser: from,
        commentAnnotation: { annotationId: 'thread', commentCount: 2, comments: [{ commentId: 1 }] },
        targetComment: {
          commentId: 1,
          reactionAnnotationIds: ['thumb'],
          reactionAnnotations: [{ annotationId: 'thumb', icon: '👍', fromUsers: [{ from }] }],
        },
      },
      audience: { actorId: from.userId, thread: { annotationId: 'thread', authorId: 'bob' } },
    })),
  );
});

describe('POST /v2/reactions/delete', () => {
  test('returns a result per id, with success: false for an unknown id', async () => {
    await react(thumb(), thumb({ annotationId: '__proto__' }));
    const { message, data } = await customer.result('/v2/reactions/delete', {
      ...nda,
      annotationIds: ['thumb', 'nothing', 'thumb', '__proto__'],
    });
    expect(message).toBe('Reaction(s) deleted successfully.');
    expect(Object.entries(data)).toEqual([
      ['thumb', { success: true, message: 'Reaction deleted.' }],
      ['nothing', { success: false, message: 'Reaction does not exist.' }],
      ['__proto__', { success: true, message: 'Reaction deleted.' }],
    ]);
    for (const type of ['Reaction', 'Involvement', 'RecordId']) expect(await itemsOf(type)).toEqual([]);
  });

  test('removes reactions from comments and emits an event each, with actionUser or the first user', async () => {
    await addThread();
    await react(
      thumb(onComment),
      thumb({ ...onComment, from: bob }),
      thumb({ ...onComment, annotationId: 'a' }),
      thumb({ ...onComment, annotationId: 'second', commentId: 2 }),
    );
    await unreact('thumb', 'second');
    await customer.ok('/v2/reactions/delete', { ...nda, annotationIds: ['a'], actionUser: { userId: 'moderator' } });
    expect(await reactionsOfComments()).toEqual([[], []]);
    const events = (await emitted()).filter(({ event }) => event === 'comment.reaction_delete');
    expect(
      events
        .map(
          ({ data: { actionUser, targetComment } }) =>
            `${actionUser.userId} ${targetComment.commentId} ${targetComment.reactionAnnotations[0].annotationId}`,
        )
        .toSorted(),
    ).toEqual(['ada 1 thumb', 'ada 2 second', 'moderator 1 a']);
    expect(await involvements('bob')).toEqual([['comment', 'thread', 1, true]]);
  });
});
