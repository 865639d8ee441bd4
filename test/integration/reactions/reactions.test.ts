import { describe, expect, jest, test } from '@jest/globals';
import { ReactionEntity } from '../../../lib/reactions/reactions.ts';
import { Table } from '../../../lib/table/table.ts';
import { acmeWorld } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { deleteItem, putItem } from '../../support/items.ts';
import { nextMillisecond } from '../../support/nextMillisecond.ts';
import { ada, addThreads, comment, commentCalls, thread } from '../../support/threads.ts';
import { times } from '../../support/times.ts';

const { engine, customer, itemsOf, emitted, involvements } = acmeWorld({
  table: 'memory',
  documents: [{ documentId: 'nda', documentName: 'NDA' }],
});

const bob = { userId: 'bob' };
const onComment = { commentAnnotationId: 'thread', commentId: 1 };

const react = (...reactions: object[]) => customer.addReactions(reactions);
const thumb = (changes: object = {}) => ({ annotationId: 'thumb', icon: '👍', from: ada, ...changes });
const unreact = (...annotationIds: string[]) => customer.ok('/v2/reactions/delete', { ...nda, annotationIds });
const added = (annotationId: string) => ({ success: true, annotationId, message: 'Reaction added.' });
const refused = (annotationId: string, message: string) => ({ success: false, annotationId, message });
const addThread = (changes: object = {}) =>
  addThreads(customer, [thread('thread', { commentData: [comment({ from: bob }), comment()], ...changes })]);
const { get: getComments, remove: deleteComments } = commentCalls(customer, 'thread');

describe('lastUpdated of a thread with reactions', () => {
  const since = async (updatedAfter: number) =>
    (await customer.ok('/v2/commentannotations/get', { ...nda, updatedAfter })).map(
      ({ annotationId }: any) => annotationId,
    );
  const longAgo = { createdAt: 1_000, lastUpdated: 1_000 };
  const old = (annotationId: string) => ({
    annotationId,
    ...longAgo,
    commentData: ['First', 'Second'].map((commentText) => ({ commentText, from: bob, ...longAgo })),
  });
  const on = (annotationId: string, id: string, commentId = 1, from: object = ada) => ({
    annotationId: id,
    icon: '+',
    from,
    commentAnnotationId: annotationId,
    commentId,
  });

  test('changes if users react or delete reactions, so that polling clients find the thread', async () => {
    await addThreads(customer, ['thread', 'other', 'quiet'].map(old));
    const start = Date.now();
    expect(await since(start)).toEqual([]);
    await react(on('thread', 'r1'), on('thread', 'r2', 2), on('other', 'r3'));
    expect((await since(start)).sort()).toEqual(['other', 'thread']);
    const later = nextMillisecond();
    await react(on('thread', 'r1', 1, bob));
    expect(await since(later)).toEqual(['thread']);
    expect(await unreact('r3', 'r2')).toMatchObject({ r3: { success: true }, r2: { success: true } });
    expect((await since(later)).sort()).toEqual(['other', 'thread']);
  });

  test('stays the same if a reaction is repeated', async () => {
    await addThreads(customer, [old('thread')]);
    await react(on('thread', 'r1'));
    const later = nextMillisecond();
    await react(on('thread', 'r1'));
    expect(await since(later)).toEqual([]);
  });

  test('changes for parallel reactions without losing one of them', async () => {
    await addThreads(customer, [old('thread')]);
    const users = times(6, (index) => ({ userId: `u${index}` }));
    await Promise.all(users.map((from, index) => react(on('thread', `r${index}`, 1 + (index % 2), from))));
    const comments = await getComments();
    expect(comments.flatMap(({ reactionAnnotationIds }: any) => reactionAnnotationIds).sort()).toEqual(
      users.map((_user, index) => `r${index}`),
    );
  });
});

describe('POST /v2/reactions/add on the document', () => {
  test('returns a map by reaction id', async () => {
    const { status, body } = await customer.call('/v2/reactions/add', {
      ...nda,
      reactions: [thumb(), thumb({ annotationId: '__proto__', icon: '🎉' })],
    });
    expect(status).toBe(200);
    expect(body.result).toMatchObject({ status: 'success', message: 'Reaction(s) added successfully.' });
    expect(Object.entries(body.result.data)).toEqual([
      ['thumb', added('thumb')],
      ['__proto__', added('__proto__')],
    ]);
  });

  test('generates ids that sort by time', async () => {
    const results = Object.entries(await react(thumb({ annotationId: undefined }), thumb({ annotationId: undefined })));
    expect(results).toHaveLength(2);
    for (const [id, result] of results) {
      expect(id).toMatch(/^rct_[0-9A-Za-z]{27}$/);
      expect(result).toEqual(added(id));
    }
  });

  test('stores the reaction as user data of its users', async () => {
    await react(thumb(), thumb({ from: bob }));
    expect(await involvements('ada')).toEqual([['reaction', 'thumb', true]]);
    expect(await involvements('bob')).toEqual([['reaction', 'thumb', true]]);
  });

  test('indexes only a reaction with a location', async () => {
    const location = JSON.parse('{"id":7,"locationName":"Page 7","__proto__":{"deep":[1]}}');
    await react(thumb({ location }), thumb({ annotationId: 'elsewhere' }));
    const indexedReactions = (await itemsOf('Reaction')).filter(({ gsi2pk }) => gsi2pk !== undefined);
    expect(indexedReactions.map(({ annotationId, gsi2pk }) => [annotationId, gsi2pk])).toEqual([
      ['thumb', `T#${customer.apiKey}#LOCATION#nda#7`],
    ]);
    expect(indexedReactions[0]!.location).toBe('{"id":7,"locationName":"Page 7","__proto__":{"deep":[1]}}');
  });

  test('emits no event, and neither does a deletion', async () => {
    await react(thumb());
    await unreact('thumb');
    expect(await emitted()).toEqual([]);
  });
});

describe('POST /v2/reactions/add with an existing id', () => {
  test('adds another user to the reaction, and changes nothing for a user who has reacted', async () => {
    for (const from of [ada, bob, { ...ada, name: 'Ada Lovelace' }])
      expect(await react(thumb({ from }))).toEqual({ thumb: added('thumb') });
    const [reaction, ...others] = await itemsOf('Reaction');
    expect(others).toEqual([]);
    expect(reaction!.fromUsers.map(({ from }: any) => from)).toEqual([ada, bob]);
    expect(reaction!._r).toBe(2);
  });

  test('rejects an icon other than the stored one', async () => {
    await react(thumb());
    expect(await react(thumb({ icon: '👎', from: bob }), thumb({ annotationId: 'other' }))).toEqual({
      thumb: refused('thumb', 'Reaction has another icon.'),
      other: added('other'),
    });
    expect((await itemsOf('Reaction')).map(({ icon, fromUsers }) => [icon, fromUsers.length])).toEqual([
      ['👍', 1],
      ['👍', 1],
    ]);
  });

  test('accepts 50 users per reaction and rejects one more', async () => {
    const users = times(51, (index) => ({ userId: `user-${index}` }));
    expect(await react(...users.map((from) => thumb({ from })))).toEqual({
      thumb: refused('thumb', 'Reaction can have at most 50 users.'),
    });
    expect(await itemsOf('Reaction')).toEqual([]);
    expect(await react(...users.slice(0, 50).map((from) => thumb({ from })))).toEqual({ thumb: added('thumb') });
    expect(await react(thumb({ from: users[50] }))).toEqual({
      thumb: refused('thumb', 'Reaction can have at most 50 users.'),
    });
    const [reaction] = await itemsOf('Reaction');
    expect(reaction!.fromUsers.map(({ from }: any) => from.userId)).toEqual(
      users.slice(0, 50).map(({ userId }) => userId),
    );
    expect(await itemsOf('Involvement')).toHaveLength(50);
  });

  test('accepts the id of a deleted reaction', async () => {
    await react(thumb());
    await unreact('thumb');
    expect(await react(thumb({ icon: '🎉', from: bob }))).toEqual({ thumb: added('thumb') });
    expect(await involvements('ada')).toEqual([]);
  });

  test('creates a separate reaction with the same id in another document', async () => {
    await customer.addDocuments(['other']);
    await react(thumb());
    expect(await customer.addReactions([thumb({ icon: '🎉' })], { documentId: 'other' })).toEqual({
      thumb: added('thumb'),
    });
    expect(await customer.ok('/v2/reactions/delete', { ...nda, annotationIds: ['thumb'] })).toMatchObject({
      thumb: { success: true },
    });
    expect((await itemsOf('Reaction')).map(({ icon }) => icon)).toEqual(['🎉']);
  });
});

describe('POST /v2/reactions/add on a comment', () => {
  test('makes get endpoints return the reaction with its comment', async () => {
    await addThread();
    const before = Date.now();
    expect(
      await react(
        thumb(onComment),
        thumb({ ...onComment, from: bob }),
        thumb({ ...onComment, annotationId: 'party', icon: '🎉' }),
      ),
    ).toEqual({ thumb: added('thumb'), party: added('party') });
    const [first, second] = await getComments();
    expect(first.reactionAnnotationIds).toEqual(['thumb', 'party']);
    expect(second).toMatchObject({ reactionAnnotationIds: [], reactionAnnotations: [] });
    const [{ createdAt, ...reaction }, party] = first.reactionAnnotations;
    expect(createdAt).toBeGreaterThanOrEqual(before);
    expect(reaction).toEqual({
      annotationId: 'thumb',
      type: 'reaction',
      icon: '👍',
      commentAnnotationId: 'thread',
      commentId: 1,
      fromUsers: [
        { from: ada, lastUpdated: createdAt },
        { from: bob, lastUpdated: createdAt },
      ],
      lastUpdated: createdAt,
      metadata: { apiKey: customer.apiKey, ...nda },
    });
    expect(party).toMatchObject({ annotationId: 'party', icon: '🎉', fromUsers: [{ from: ada }] });
    expect(first.isEdited).toBe(false);
  });

  test.each([
    ['an unknown thread', { commentAnnotationId: 'nothing', commentId: 1 }],
    ['an unknown comment', { commentAnnotationId: 'thread', commentId: 3 }],
  ])('fails only for a reaction on %s', async (_what, where) => {
    await addThread();
    expect(await react(thumb(where), thumb({ annotationId: 'other', ...onComment }))).toEqual({
      thumb: refused('thumb', 'Comment does not exist.'),
      other: added('other'),
    });
    expect((await itemsOf('Reaction')).map(({ annotationId }) => annotationId)).toEqual(['other']);
  });

  test('rejects another comment for an existing id, and accepts a request without a comment', async () => {
    await addThread();
    await react(thumb(onComment));
    expect(await react(thumb({ ...onComment, commentId: 2, from: bob }))).toEqual({
      thumb: refused('thumb', 'Reaction belongs to another comment or document.'),
    });
    expect(await react(thumb({ from: bob }))).toEqual({ thumb: added('thumb') });
    const [first] = await getComments();
    expect(
      first.reactionAnnotations.map(({ fromUsers }: any) => fromUsers.map(({ from }: any) => from.userId)),
    ).toEqual([['ada', 'bob']]);
    expect((await emitted()).map(({ data }) => data.actionUser.userId).toSorted()).toEqual(['ada', 'bob']);
  });

  test('adds users to several reactions of a thread if the request names no comments', async () => {
    await addThread();
    await react(thumb(onComment), thumb({ ...onComment, annotationId: 'heart' }));
    expect(
      await react(
        thumb({ from: bob }),
        thumb({ annotationId: 'heart', from: bob }),
        thumb({ ...onComment, annotationId: 'star' }),
      ),
    ).toEqual({ thumb: added('thumb'), heart: added('heart'), star: added('star') });
    const [{ reactionAnnotations }] = await getComments();
    expect(reactionAnnotations.map(({ fromUsers }: any) => fromUsers.length)).toEqual([2, 2, 1]);
  });

  test('stores the location of the thread for a reaction without a location', async () => {
    await addThread({ location: { id: 'page-1' } });
    await react(thumb(onComment), thumb({ ...onComment, annotationId: 'own', location: { id: 'page-2' } }));
    const [first] = await getComments();
    expect(first.reactionAnnotations.map(({ location, locationId }: any) => [location, locationId])).toEqual([
      [{ id: 'page-1' }, 'page-1'],
      [{ id: 'page-2' }, 'page-2'],
    ]);
  });

  test('stores all reactions, users and events of parallel requests', async () => {
    await addThread();
    const users = times(12, (index) => ({ userId: `user-${index}` }));
    const answers = await Promise.all(
      users.map((from) => react(thumb({ ...onComment, annotationId: undefined, from }), thumb({ ...onComment, from }))),
    );
    expect(answers.flatMap((answer) => Object.values(answer)).filter(({ success }: any) => !success)).toEqual([]);
    const [{ reactionAnnotationIds, reactionAnnotations }] = await getComments();
    expect(reactionAnnotationIds.toSorted()).toEqual(
      [...new Set(answers.flatMap((answer) => Object.keys(answer)))].toSorted(),
    );
    const all = users.map(({ userId }) => userId).toSorted();
    const usersOf = (id: string) =>
      reactionAnnotations
        .find(({ annotationId }: any) => annotationId === id)
        .fromUsers.map(({ from }: any) => from.userId)
        .toSorted();
    expect(usersOf('thumb')).toEqual(all);
    expect((await emitted()).map(({ event, data }) => `${event} ${data.actionUser.userId}`).toSorted()).toEqual(
      all.flatMap((userId) => [`comment.reaction_add ${userId}`, `comment.reaction_add ${userId}`]),
    );
    expect(await involvements('user-3')).toHaveLength(2);
  });

  test('adds reactions that are deleted with their comment or thread', async () => {
    await addThread();
    await react(
      thumb(onComment),
      thumb({ ...onComment, commentId: 2, annotationId: 'second' }),
      thumb({ annotationId: 'loose' }),
    );
    await deleteComments({ commentIds: [1] });
    expect((await itemsOf('Reaction')).map(({ annotationId }) => annotationId).toSorted()).toEqual(['loose', 'second']);
    expect(await involvements('ada')).toEqual([
      ['comment', 'thread', 2, true],
      ['reaction', 'loose', true],
      ['reaction', 'second', true],
    ]);
    await customer.ok('/v2/commentannotations/delete', { ...nda, annotationIds: ['thread'] });
    expect(await involvements('ada')).toEqual([['reaction', 'loose', true]]);
    expect(await react(thumb({ icon: '🎉' }))).toEqual({ thumb: added('thumb') });
  });
});

describe('comment.reaction_add', () => {
  test('is emitted once per user and reaction on a comment', async () => {
    await addThread();
    await react(thumb(onComment), thumb({ ...onComment, from: bob }));
    await react(thumb({ ...onComment, from: bob }));
    const events = (await emitted()).toSorted((a, b) => (a.data.actionUser.userId < b.data.actionUser.userId ? -1 : 1));
    expect(events.map(({ event, data }) => [event, data.actionUser])).toEqual([
      ['comment.reaction_add', ada],
      ['comment.reaction_add', bob],
    ]);
    const [{ data, audience }] = events as [any];
    expect(data.commentAnnotation).toMatchObject({
      annotationId: 'thread',
      commentCount: 2,
      comments: [{ commentId: 1 }],
    });
    expect(data.targetComment).toMatchObject({
      commentId: 1,
      commentText: 'hi',
      reactionAnnotationIds: ['thumb'],
      reactionAnnotations: [{ annotationId: 'thumb', icon: '👍' }],
    });
    expect(
      events.map((event) => event.data.targetComment.reactionAnnotations[0].fromUsers.map(({ from }: any) => from)),
    ).toEqual([[ada], [bob]]);
    expect(data.metadata).toMatchObject({
      apiKey: customer.apiKey,
      organization: { organizationId: 'acme' },
      document: { documentId: 'nda', documentName: 'NDA' },
    });
    expect(data.visibility).toBeUndefined();
    expect(audience).toMatchObject({
      actorId: 'ada',
      addressed: ['bob'],
      following: ['ada'],
      thread: { annotationId: 'thread', authorId: 'bob' },
    });
  });

  test('includes the visibility of a private thread', async () => {
    await addThread({ visibility: { type: 'restricted', userIds: ['ada'] } });
    await react(thumb(onComment));
    await unreact('thumb');
    expect(
      (await emitted())
        .map(({ event, data, audience }) => [event, data.visibility, audience.thread.visibility])
        .toSorted(),
    ).toEqual([
      ['comment.reaction_add', { type: 'restricted', userIds: ['ada'] }, { type: 'restricted', userIds: ['ada'] }],
      ['comment.reaction_delete', { type: 'restricted', userIds: ['ada'] }, { type: 'restricted', userIds: ['ada'] }],
    ]);
  });

  test('contains only ids and the icon if the comment is large', async () => {
    const attachments = [1, 2, 3].map((attachmentId) => ({ attachmentId, data: 'x'.repeat(60_000) }));
    await addThread({ commentData: [{ commentText: 'x'.repeat(30_000), attachments, from: bob }] });
    expect(await react(thumb(onComment))).toEqual({ thumb: added('thumb') });
    expect((await emitted()).map(({ data }) => data)).toMatchObject([
      {
        truncated: true,
        actionUser: { userId: 'ada' },
        commentAnnotation: { annotationId: 'thread' },
        targetComment: { commentId: 1, reactionAnnotations: [{ annotationId: 'thumb', icon: '👍' }] },
      },
    ]);
    expect((await getComments())[0].reactionAnnotationIds).toEqual(['thumb']);
  });

  test('is not emitted if nothing is written', async () => {
    await addThread();
    await react(thumb({ commentAnnotationId: 'thread', commentId: 9 }));
    expect(await emitted()).toEqual([]);
  });
});

test('POST /v2/reactions/add accepts a reaction id that remained from a deleted document', async () => {
  await react(thumb());
  const [name] = await itemsOf('RecordId');
  for (const type of ['Reaction', 'Involvement'])
    for (const item of await itemsOf(type)) await deleteItem(engine, item);
  await putItem(engine, { ...name, documentKey: 'doc_gone' });
  expect(await unreact('thumb')).toEqual({ thumb: { success: false, message: 'Reaction does not exist.' } });
  expect(await react(thumb({ icon: '🎉' }))).toEqual({ thumb: added('thumb') });
  expect(await react(thumb({ icon: '🎉', from: bob }))).toEqual({ thumb: added('thumb') });
  expect((await itemsOf('Reaction')).map(({ fromUsers }) => fromUsers.length)).toEqual([2]);
});

describe('POST /v2/reactions/delete', () => {
  test('returns a result per id, with success: false for an unknown id', async () => {
    await react(thumb(), thumb({ annotationId: '__proto__' }));
    const { body } = await customer.call('/v2/reactions/delete', {
      ...nda,
      annotationIds: ['thumb', 'nothing', 'thumb', '__proto__'],
    });
    expect(body.result.message).toBe('Reaction(s) deleted successfully.');
    expect(Object.entries(body.result.data)).toEqual([
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
      ...['a', 'b', 'c'].map((annotationId) => thumb({ ...onComment, annotationId })),
      thumb({ ...onComment, annotationId: 'second', commentId: 2 }),
    );
    expect(Object.values(await unreact('thumb', 'a', 'second', 'b')).every(({ success }: any) => success)).toBe(true);
    await customer.ok('/v2/reactions/delete', { ...nda, annotationIds: ['c'], actionUser: { userId: 'moderator' } });
    expect((await getComments()).map(({ reactionAnnotationIds }: any) => reactionAnnotationIds)).toEqual([[], []]);
    const events = (await emitted()).filter(({ event }) => event === 'comment.reaction_delete');
    expect(
      events
        .map(
          ({ data: { actionUser, targetComment } }) =>
            `${actionUser.userId} ${targetComment.commentId} ${targetComment.reactionAnnotations[0].annotationId}`,
        )
        .toSorted(),
    ).toEqual(['ada 1 a', 'ada 1 b', 'ada 1 thumb', 'ada 2 second', 'moderator 1 c']);
    expect(await involvements('bob')).toEqual([['comment', 'thread', 1, true]]);
  });

  test('stores the result of the last of parallel additions and deletions', async () => {
    await addThread();
    const ids = times(8, (index) => `r${index}`);
    await react(...ids.map((annotationId) => thumb({ ...onComment, annotationId })));
    const answers = await Promise.all(
      ids.map((id, index) =>
        index % 2 === 0 ? unreact(id) : react(thumb({ ...onComment, annotationId: id, from: bob })),
      ),
    );
    expect(answers.flatMap((answer) => Object.values(answer)).every(({ success }: any) => success)).toBe(true);
    const [{ reactionAnnotations }] = await getComments();
    expect(reactionAnnotations.map(({ annotationId, fromUsers }: any) => [annotationId, fromUsers.length])).toEqual(
      ids.filter((_id, index) => index % 2 === 1).map((id) => [id, 2]),
    );
  });
});

test('a parallel addition and deletion of a reaction keep reactions and user data consistent', async () => {
  const ids = times(10, (index) => `r${index}`);
  await react(...ids.map((annotationId) => thumb({ annotationId })));
  await Promise.all(ids.flatMap((id) => [unreact(id), react(thumb({ annotationId: id, from: bob }))]));
  const there = (await itemsOf('Reaction')).filter(({ fromUsers }) =>
    fromUsers.some(({ from }: any) => from.userId === 'bob'),
  );
  expect((await involvements('bob')).map(([, id]) => id)).toEqual(
    there.map(({ annotationId }) => annotationId).toSorted(),
  );
  expect(await involvements('ada')).toEqual([]);
});

test('a repeated reaction that is deleted in the meantime leaves no reference in its comment', async () => {
  await addThread();
  await react(thumb(onComment));
  const { getMany } = Table.prototype;
  let isDeleted = false;
  const spy = jest.spyOn(Table.prototype, 'getMany').mockImplementation(async function (this: Table, ...read) {
    const values = await getMany.apply(this, read);
    if (read[0] === ReactionEntity && !isDeleted) {
      isDeleted = true;
      await unreact('thumb');
    }
    return values;
  });
  await react(thumb(onComment));
  spy.mockRestore();
  expect(isDeleted).toBe(true);
  expect((await getComments())[0]).toMatchObject({ reactionAnnotationIds: [], reactionAnnotations: [] });
  nextMillisecond();
  await react(thumb(onComment));
  expect((await getComments())[0].reactionAnnotations).toHaveLength(1);
});

test('a comment has at most 200 reactions, and further reactions fail', async () => {
  await addThread();
  const results = Object.values(
    await react(...times(250, (index) => thumb({ ...onComment, annotationId: `r${index}` }))),
  );
  expect(results.filter(({ success }: any) => success)).toHaveLength(200);
  expect(results.at(-1)).toEqual(refused('r249', 'Comment has too many reactions.'));
  const [{ reactionAnnotationIds, reactionAnnotations }] = await getComments();
  expect([reactionAnnotationIds.length, reactionAnnotations.length]).toEqual([200, 200]);
  const deleted = Object.values(await unreact(...reactionAnnotationIds));
  expect(deleted.filter(({ success }: any) => success)).toHaveLength(200);
  expect((await getComments())[0].reactionAnnotationIds).toEqual([]);
  expect(await itemsOf('Reaction')).toEqual([]);
});

describe('POST /v2/reactions/add: validation', () => {
  test.each([
    ['no organizationId', { organizationId: undefined }, 400, 'organizationId is required'],
    [
      'an organization that does not exist',
      { organizationId: 'nowhere' },
      400,
      'organizationId: the organization does not exist',
    ],
    ['an unknown document', { documentId: 'nothing' }, 404, 'Document does not exist'],
    ['no reactions', { reactions: [] }, 400, 'reactions must not be empty'],
    ['more than 500 reactions', { reactions: times(501, () => thumb()) }, 400, 'reactions must have at most 500 items'],
    ['no icon', { reactions: [thumb({ icon: undefined })] }, 400, 'reactions[0].icon is required'],
    ['no user', { reactions: [thumb({ from: undefined })] }, 400, 'reactions[0].from is required'],
    [
      'a thread without a comment',
      { reactions: [thumb({ commentAnnotationId: 'thread' })] },
      400,
      'reactions[0].commentId must be present if commentAnnotationId is present, and absent otherwise',
    ],
    [
      'a comment without a thread',
      { reactions: [thumb({ commentId: 1 })] },
      400,
      'reactions[0].commentId must be present if commentAnnotationId is present, and absent otherwise',
    ],
    [
      'a comment id that is a text',
      { reactions: [thumb({ commentAnnotationId: 'thread', commentId: '1' })] },
      400,
      'reactions[0].commentId must be a number',
    ],
    [
      'an empty location',
      { reactions: [thumb({ location: {} })] },
      400,
      'reactions[0].location must have an id, a locationName or another key',
    ],
  ])('%s', async (_what, data, status, message) => {
    const { status: answered, body } = await customer.call('/v2/reactions/add', {
      ...nda,
      reactions: [thumb()],
      ...data,
    });
    expect({ status: answered, message: body.error.message }).toEqual({ status, message });
  });
});
