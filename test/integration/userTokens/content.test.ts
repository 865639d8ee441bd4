import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { CommentEntity } from '../../../lib/comments/threads.ts';
import { Table } from '../../../lib/table/table.ts';
import { acmeWorld, forAllTests } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { restartFunctions } from '../../support/functionHandlers.ts';
import { startQueues } from '../../support/queues.ts';
import { times } from '../../support/times.ts';
import { newUser, type TestUser } from '../../support/userTokens.ts';

const threads = '/v2/commentannotations';
const comments = '/v2/commentannotations/comments';
const document = { type: 'document', id: 'nda', organizationId: 'acme' };

const { customer, emitted } = acmeWorld({ documents: ['nda'] });
forAllTests(startQueues);
let ada: TestUser;
let bob: TestUser;
beforeEach(async () => {
  restartFunctions();
  await customer.setAccess('restricted', ['nda']);
  ada = await newUser(customer, 'ada', [{ ...document, accessRole: 'viewer' }]);
  bob = await newUser(customer, 'bob', [{ ...document, accessRole: 'editor' }]);
});

const start = (user: TestUser, annotationId: string, fields: object = {}) =>
  user.ok(`${threads}/add`, {
    ...nda,
    commentAnnotations: [{ annotationId, commentData: [{ commentText: 'Too long.' }], ...fields }],
  });
const idsOf = async (user: TestUser) =>
  ((await user.ok(`${threads}/get`, nda)) as any[]).map(({ annotationId }) => annotationId).sort();
/** Runs `call`, and returns its result and the ids of the comments that it read from the table. */
async function readComments<T>(call: () => Promise<T>): Promise<[result: T, commentIds: number[]]> {
  const query = jest.spyOn(Table.prototype, 'query');
  const result = await call();
  const reads = query.mock.results.filter((_read, index) => query.mock.calls[index]?.[0] === CommentEntity);
  const read = await Promise.all(reads.map(({ value }) => value as ReturnType<Table['query']>));
  query.mockRestore();
  return [result, read.flatMap(({ values }) => values.map(({ commentId }: any) => commentId))];
}
const privateTo = (...userIds: string[]) => ({ visibility: { type: 'restricted', userIds } });

describe('comment threads with a user token', () => {
  test('have the user of the token as author, with the stored profile', async () => {
    await ada.ok(`${threads}/add`, {
      ...nda,
      commentAnnotations: [
        { annotationId: 't', commentData: [{ commentText: 'x', from: { userId: 'ada', name: 'The boss' } }] },
      ],
    });
    const [thread] = await customer.ok(`${threads}/get`, nda);
    expect(thread.from).toMatchObject({ userId: 'ada', name: 'ada of Acme', email: 'ada@example.com' });
  });

  test('have clean markup and http(s) URLs, whereas a server stores what it sends', async () => {
    const html =
      '<p onclick="x()">Hi <a data-id="bob">@Bob</a></p><script>x()</script><img src="https://evil.example/x.png">';
    const active = { commentHtml: html, attachments: [{ url: 'javascript:x()' }], from: { userId: 'ada' } };
    const thread = (comment: object, fields: object = {}) => ({
      ...nda,
      commentAnnotations: [{ annotationId: 't', commentData: [comment], ...fields }],
    });
    const issue = (path: (string | number)[]) => ({
      status: 400,
      body: { error: { status: 'INVALID_ARGUMENT', details: { issues: [{ path }] } } },
    });
    expect(await ada.call(`${threads}/add`, thread(active))).toMatchObject(
      issue(['commentAnnotations', 0, 'commentData', 0, 'attachments', 0, 'url']),
    );
    expect(
      await ada.call(`${threads}/add`, thread({ commentText: 'x' }, { pageInfo: { url: 'javascript:x()' } })),
    ).toMatchObject(issue(['commentAnnotations', 0, 'pageInfo', 'url']));
    expect(await ada.call(`${threads}/add`, thread({ commentHtml: '<script>x()</script>' }))).toMatchObject(
      issue(['commentAnnotations', 0, 'commentData', 0, 'commentText']),
    );
    const clean = '<p>Hi <a data-id="bob">@Bob</a></p>';
    await ada.ok(`${threads}/add`, thread({ commentHtml: html }, { metadata: { noteHtml: html } }));
    await ada.ok(`${comments}/add`, { ...nda, annotationId: 't', comments: [{ commentHtml: html }] });
    await ada.ok(`${comments}/add`, { ...nda, annotationId: 't', comments: [{ commentText: 'x' }] });
    await ada.ok(`${comments}/update`, {
      ...nda,
      annotationId: 't',
      commentIds: [3],
      updatedData: { commentHtml: html },
    });
    await ada.ok(`${threads}/update`, { ...nda, annotationIds: ['t'], updatedData: { targetElement: { html } } });
    const [stored] = await customer.ok(`${threads}/get`, nda);
    expect(stored).toMatchObject({ metadata: { noteHtml: clean }, targetElement: { html: clean } });
    expect(stored.comments.map(({ commentHtml }: { commentHtml: string }) => commentHtml)).toEqual([
      clean,
      clean,
      clean,
    ]);
    await ada.ok('/v2/livestate/broadcast', { ...nda, liveStateDataId: 's', data: { html } });
    expect(await customer.ok('/v2/livestate/get', nda)).toMatchObject({ states: [{ data: { html: clean } }] });
    await customer.ok(`${threads}/add`, {
      ...nda,
      commentAnnotations: [{ annotationId: 'server', commentData: [active], pageInfo: { url: 'javascript:x()' } }],
    });
    expect((await ada.ok(`${threads}/get`, { ...nda, annotationIds: ['server'] }))[0]).toMatchObject({
      pageInfo: { url: 'javascript:x()' },
      comments: [{ commentHtml: html, attachments: active.attachments }],
    });
  });

  test('show pictures of allowed domains', async () => {
    await customer.ok('/v2/workspace/domains/add', { domains: ['ok.example'] });
    const html = '<img src="https://ok.example/a.png">';
    await start(ada, 't', { metadata: { html, thumbnailUrl: 'https://ok.example/b.png' } });
    expect(await ada.ok(`${threads}/get`, nda)).toMatchObject([{ metadata: { html } }]);
    const foreign = {
      ...nda,
      annotationIds: ['t'],
      updatedData: { metadata: { thumbnailUrl: 'https://a.example/b.png' } },
    };
    expect(await ada.status(`${threads}/update`, foreign)).toBe('INVALID_ARGUMENT');
  });

  test('accept verifyUserPermissions from users who have access by their token only', async () => {
    const verified = { ...nda, verifyUserPermissions: true };
    const commentData = [{ commentText: 'x' }];
    const added = { t: expect.objectContaining({ success: true }) };
    expect(
      await ada.ok(`${threads}/add`, { ...verified, commentAnnotations: [{ annotationId: 't', commentData }] }),
    ).toEqual(added);
    expect(await ada.ok(`${comments}/add`, { ...verified, annotationId: 't', commentData })).toEqual([2]);
    const notification = { notificationId: 'n', displayHeadlineMessageTemplate: 'x', displayBodyMessage: 'y' };
    await customer.ok('/v2/notifications/add', {
      ...nda,
      ...notification,
      actionUser: { userId: 'bob' },
      notifyUsers: [],
    });
    const update = { organizationId: 'acme', verifyUserPermissions: true };
    await ada.ok('/v2/notifications/update', { ...update, notifications: [{ id: 'n', readByUserIds: ['ada'] }] });
    expect(await ada.ok('/v2/notifications/get', nda)).toMatchObject([{ id: 'n', readByUserIds: ['ada'] }]);
  });

  test('are hidden from users whom a private thread excludes', async () => {
    await customer.addUsers(['grace']);
    await start(ada, 'open');
    await start(ada, 'secret', privateTo('grace'));
    expect(await idsOf(ada)).toEqual(['open', 'secret']);
    expect(await idsOf(bob)).toEqual(['open']);
    const secret = { ...nda, annotationId: 'secret' };
    const unknown = { ...nda, annotationId: 'unknown' };
    expect((await bob.call(`${comments}/get`, secret)).body).toEqual((await bob.call(`${comments}/get`, unknown)).body);
    expect(await bob.ok(`${threads}/get`, { ...nda, annotationIds: ['secret'] })).toEqual([null]);
    for (const [path, data] of [
      [`${comments}/get`, secret],
      [`${comments}/add`, { ...secret, commentData: [{ commentText: 'x' }] }],
      [`${comments}/update`, { ...secret, commentIds: [1], updatedData: { commentText: 'y' } }],
      [`${comments}/delete`, { ...secret, commentIds: [1] }],
      [`${threads}/update`, { ...nda, annotationIds: ['secret'], updatedData: { status: 'RESOLVED' } }],
      ['/v2/reactions/add', { ...nda, reactions: [{ icon: '👍', commentAnnotationId: 'secret', commentId: 1 }] }],
    ] as const)
      expect([path, await bob.status(path, data)]).toEqual([path, 'PERMISSION_DENIED']);
    expect(await bob.ok(`${threads}/count/get`, { organizationId: 'acme', documentIds: ['nda'] })).toEqual({
      nda: { total: 1, unread: expect.any(Number) },
    });
  });

  test('are hidden from users without the access context of the comment', async () => {
    await start(ada, 't');
    const context = { access: { region: 'eu' } };
    await customer.ok(`${comments}/add`, {
      ...nda,
      annotationId: 't',
      commentData: [
        { commentText: 'for the EU', from: { userId: 'grace' }, taggedUserContacts: [{ userId: 'carl' }], context },
      ],
    });
    const textsOf = async (user: TestUser) =>
      ((await user.ok(`${comments}/get`, { ...nda, annotationId: 't' })) as any[]).map(
        ({ commentText }) => commentText,
      );
    expect(await textsOf(bob)).toEqual(['Too long.']);
    const [thread] = await bob.ok(`${threads}/get`, nda);
    expect(thread.comments).toHaveLength(1);
    expect(thread).toMatchObject({ commentCount: 1, involvedUserIds: ['ada'], mentionedUserIds: [] });
    const counted = await ada.ok(`${threads}/count/get`, { organizationId: 'acme', documentIds: ['nda'] });
    expect(counted).toEqual({ nda: { total: 1, unread: 0 } });
    for (const filter of [{ userIds: ['grace'] }, { mentionedUserIds: ['carl'] }])
      expect(await bob.ok(`${threads}/get`, { ...nda, ...filter })).toEqual([]);
    const reactTo = async (commentId: number) => {
      const reactions = [{ annotationId: 'up', icon: '👍', commentAnnotationId: 't', commentId }];
      return (await bob.ok('/v2/reactions/add', { ...nda, reactions })).up.success;
    };
    expect(await Promise.all([2, 3].map(reactTo))).toEqual([false, false]);
    await customer.grant('bob', { ...document, context });
    restartFunctions();
    expect(await textsOf(bob)).toEqual(['Too long.', 'for the EU']);
    expect(await reactTo(2)).toBe(true);
  });

  test('do not count or name users of hidden comments that are beyond the comments of the answer', async () => {
    await start(ada, 't');
    const from = { userId: 'ada' };
    const attachments = times(4, () => ({ text: 'x'.repeat(50_000) }));
    const hidden = { commentText: 'y', from: { userId: 'grace' }, context: { access: { region: 'eu' } } };
    const commentData = [...times(6, () => ({ attachments, from })), { ...hidden, to: [{ userId: 'carl' }] }];
    await customer.ok(`${comments}/add`, { ...nda, annotationId: 't', commentData });
    const shown = { commentCount: 7, hasMoreComments: true, involvedUserIds: ['ada'], mentionedUserIds: [] };
    const [read, commentIds] = await readComments(() => bob.ok(`${threads}/get`, nda));
    expect(read).toMatchObject([shown]);
    expect(commentIds).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(await bob.ok(`${threads}/get`, { ...nda, userIds: ['grace'] })).toEqual([]);
  });

  test('read at most 4 MB of the comments beyond the answer, and do not count comments that were not read', async () => {
    await start(ada, 't');
    const attachments = times(4, () => ({ text: 'x'.repeat(50_000) }));
    for (let i = 0; i < 4; i++)
      await ada.ok(`${comments}/add`, { ...nda, annotationId: 't', commentData: times(10, () => ({ attachments })) });
    const [[thread], { length: count }] = await readComments(() =>
      bob.ok(`${threads}/get`, { ...nda, annotationIds: ['t'] }),
    );
    expect([thread.commentCount, thread.involvedUserIds, thread.hasMoreComments]).toEqual([count, ['ada'], true]);
    expect(count * 200_000).toBeLessThan(6_500_000);
    expect((await customer.ok(`${threads}/get`, { ...nda, annotationIds: ['t'] }))[0].commentCount).toBe(41);
  });

  test('name their users in the same order with and without hidden comments', async () => {
    const add = (annotationId: string, userId: string, fields: object = {}) =>
      customer.ok(`${comments}/add`, {
        ...nda,
        annotationId,
        commentData: [{ commentText: 'x', from: { userId }, ...fields }],
      });
    for (const annotationId of ['plain', 'mixed']) {
      await start(bob, annotationId);
      if (annotationId === 'mixed') await add(annotationId, 'eve', { context: { access: { department: 'legal' } } });
      await add(annotationId, 'carl');
      await add(annotationId, 'eve');
    }
    const rows = (await bob.ok(`${threads}/get`, nda)) as any[];
    expect(rows.map(({ involvedUserIds }) => involvedUserIds)).toEqual([
      ['bob', 'carl', 'eve'],
      ['bob', 'carl', 'eve'],
    ]);
  });

  test('can be resolved by their author or by an editor', async () => {
    const resolve = { ...nda, annotationIds: ['t'], updatedData: { status: 'RESOLVED' } };
    await start(bob, 't');
    expect(await ada.status(`${threads}/update`, resolve)).toBe('PERMISSION_DENIED');
    expect(await bob.status(`${threads}/update`, resolve)).toBe('OK');
    await start(ada, 'u');
    expect(await ada.status(`${threads}/update`, { ...resolve, annotationIds: ['u'] })).toBe('OK');
    expect(await bob.status(`${threads}/update`, { ...resolve, annotationIds: ['u'] })).toBe('OK');
    const rewrite = { ...nda, annotationIds: ['u'], updatedData: { metadata: { a: 1 } } };
    expect(await bob.status(`${threads}/update`, rewrite)).toBe('PERMISSION_DENIED');
  });

  test('can be deleted by their author only, and only by ids', async () => {
    await start(ada, 't');
    expect(await bob.status(`${threads}/delete`, { ...nda, annotationIds: ['t'] })).toBe('PERMISSION_DENIED');
    expect(await ada.status(`${threads}/delete`, nda)).toBe('PERMISSION_DENIED');
    expect(await ada.status(`${threads}/delete`, { ...nda, annotationIds: ['unknown'] })).toBe('PERMISSION_DENIED');
    expect(await ada.status(`${threads}/delete`, { ...nda, annotationIds: ['t'] })).toBe('OK');
    expect(await idsOf(bob)).toEqual([]);
  });
});

describe('comments with a user token', () => {
  test('can be changed and deleted by their author only', async () => {
    await start(ada, 't');
    await bob.ok(`${comments}/add`, { ...nda, annotationId: 't', commentData: [{ commentText: 'Agreed.' }] });
    const update = { ...nda, annotationId: 't', commentIds: [1, 2], updatedData: { commentText: 'changed' } };
    expect(await bob.ok(`${comments}/update`, update)).toMatchObject({ 1: { success: false }, 2: { success: true } });
    expect(await bob.ok(`${comments}/delete`, { ...nda, annotationId: 't' })).toEqual({
      2: expect.objectContaining({ success: true }),
    });
    expect(await bob.status(`${comments}/delete`, { ...nda, annotationId: 't', userIds: ['ada'] })).toBe(
      'PERMISSION_DENIED',
    );
  });

  test('cannot have fields of an imported comment, such as agent and createdAt', async () => {
    await start(ada, 't');
    for (const field of [{ agent: { agentSource: 'external' } }, { createdAt: 1 }])
      expect(
        await ada.status(`${comments}/add`, {
          ...nda,
          annotationId: 't',
          commentData: [{ commentText: 'x', ...field }],
        }),
      ).toBe('PERMISSION_DENIED');
  });
});

describe('reactions with a user token', () => {
  const react = (user: TestUser) =>
    user.ok('/v2/reactions/add', {
      ...nda,
      reactions: [{ annotationId: 'up', icon: '👍', commentAnnotationId: 't', commentId: 1 }],
    });
  const reactors = async () => {
    const [comment] = await customer.ok(`${comments}/get`, { ...nda, annotationId: 't' });
    return comment.reactionAnnotations.flatMap(({ fromUsers }: any) => fromUsers.map(({ from }: any) => from.userId));
  };

  test('can be removed only by the user who reacted', async () => {
    await start(ada, 't');
    await react(ada);
    await react(bob);
    expect(await reactors()).toEqual(['ada', 'bob']);
    await ada.ok('/v2/reactions/delete', { ...nda, annotationIds: ['up'] });
    expect(await reactors()).toEqual(['bob']);
    const removal = (await emitted()).find(({ event }) => event === 'comment.reaction_delete')!;
    const [{ fromUsers }] = removal.data.targetComment.reactionAnnotations;
    expect([removal.audience.actorId, fromUsers.map(({ from }: any) => from.userId)]).toEqual(['ada', ['ada']]);
    expect(await ada.status('/v2/reactions/delete', { ...nda, annotationIds: ['up'] })).toBe('PERMISSION_DENIED');
    await bob.ok('/v2/reactions/delete', { ...nda, annotationIds: ['up'] });
    expect(await reactors()).toEqual([]);
  });

  test('cannot be added to a comment whose access context the user does not have', async () => {
    await start(ada, 't');
    await customer.ok(`${comments}/add`, {
      ...nda,
      annotationId: 't',
      commentData: [{ commentText: 'x', from: { userId: 'grace' }, context: { access: { department: 'legal' } } }],
    });
    const hidden = { icon: '👍', commentAnnotationId: 't', commentId: 2 };
    await customer.addReactions([{ ...hidden, annotationId: 'old', from: { userId: 'grace' } }]);
    const result = { success: false, message: 'Comment does not exist.' };
    expect(
      await bob.ok('/v2/reactions/add', {
        ...nda,
        reactions: [
          { ...hidden, annotationId: 'new' },
          { annotationId: 'old', icon: '👍' },
        ],
      }),
    ).toMatchObject({ new: result, old: result });
  });
});

describe('activities with a user token', () => {
  beforeEach(() => customer.ok('/v2/workspace/activityconfig/update', { activityServiceConfig: { isEnabled: true } }));
  const add = (annotationId: string, fields: object = {}) =>
    customer.ok(`${threads}/add`, {
      ...nda,
      commentAnnotations: [
        {
          annotationId,
          commentData: [{ commentText: 'x', from: { userId: 'grace' }, triggerActivities: true }],
          ...fields,
        },
      ],
    });
  const targets = async (user: TestUser) =>
    ((await user.ok('/v2/activities/get', nda)) as any[]).map(({ targetEntityId }) => targetEntityId).sort();

  test('do not contain activities about threads that the user may not read', async () => {
    await add('open');
    await add('secret', privateTo('ada'));
    expect(await targets(ada)).toEqual(['open', 'secret']);
    expect(await targets(bob)).toEqual(['open']);
  });

  test('do not contain activities about a deleted thread whose id is used again', async () => {
    await add('t', privateTo('ada'));
    await customer.ok(`${threads}/delete`, { ...nda, annotationIds: ['t'] });
    await add('t');
    expect(await targets(bob)).toEqual(['t']);
  });

  test('do not count or name users of comments that the user may not read', async () => {
    await add('t');
    const comment = {
      commentText: 'y',
      from: { userId: 'eve' },
      taggedUserContacts: [{ userId: 'carl' }],
      context: { access: { team: 1 } },
    };
    await customer.ok(`${comments}/add`, { ...nda, annotationId: 't', commentData: [comment] });
    const change = { annotationIds: ['t'], updatedData: { priority: 'high' }, triggerActivities: true };
    await customer.ok(`${threads}/update`, { ...nda, ...change });
    const [{ entityData }] = await bob.ok('/v2/activities/get', nda);
    expect(entityData).toMatchObject({ annotationId: 't', priority: 'high', from: { userId: 'grace' } });
    for (const field of ['commentCount', 'involvedUserIds', 'mentionedUserIds'])
      expect(entityData).not.toHaveProperty(field);
    expect((await customer.ok('/v2/activities/get', nda))[0].entityData).toMatchObject({ commentCount: 2 });
  });

  test('do not contain the former text of a comment that lost its access context with this text', async () => {
    await add('t');
    const hidden = { commentText: 'secret', from: { userId: 'grace' }, context: { access: { team: 1 } } };
    await customer.ok(`${comments}/add`, { ...nda, annotationId: 't', commentData: [hidden] });
    const update = async (updatedData: object) => {
      const change = { annotationId: 't', commentIds: [2], triggerActivities: true, updatedData };
      await customer.ok(`${comments}/update`, { ...nda, ...change });
      return (await bob.ok('/v2/activities/get', nda))[0].changes;
    };
    expect(await update({ commentText: 'open', context: { access: {} } })).toEqual({ commentText: { to: 'open' } });
    expect(await update({ commentText: 'new' })).toEqual({ commentText: { from: 'open', to: 'new' } });
  });

  test('do not contain activities about comments that were hidden or deleted afterwards', async () => {
    await add('t');
    const reply = { commentText: 'y', from: { userId: 'grace' }, triggerActivities: true };
    const added = { annotationId: 't', commentData: [reply, reply, reply] };
    await customer.ok(`${comments}/add`, { ...nda, ...added });
    const read = async (fields: object = {}) => {
      const activities = (await bob.ok('/v2/activities/get', { ...nda, ...fields })) as any[];
      return activities.map(({ targetSubEntityId }) => targetSubEntityId).sort();
    };
    expect(await read()).toEqual(['1', '2', '3', '4']);
    const activityIds = (await customer.ok('/v2/activities/get', nda)).map(({ id }: any) => id);
    const hiding = { commentIds: [2], updatedData: { context: { access: { team: 1 } } } };
    await customer.ok(`${comments}/update`, { ...nda, annotationId: 't', ...hiding });
    await customer.ok(`${comments}/delete`, { ...nda, annotationId: 't', commentIds: [3] });
    expect(await read()).toEqual(['1', '4']);
    expect(await read({ activityIds })).toEqual(['1', '4']);
    const showing = { commentIds: [2], updatedData: { context: { access: {} } } };
    await customer.ok(`${comments}/update`, { ...nda, annotationId: 't', ...showing });
    expect(await read()).toEqual(['1', '2', '4']);
  });

  test('do not contain activities about deleted comments with the smallest and the largest ids', async () => {
    await add('t');
    const reply = { commentText: 'y', from: { userId: 'grace' }, triggerActivities: true };
    const replies = [{ ...reply, commentId: 0 }, { ...reply, commentId: 999_999_999_999_999 }, reply];
    const thread = { ...nda, annotationId: 't' };
    const [smallest, , largest] = await customer.ok(`${comments}/add`, { ...thread, commentData: replies });
    await customer.ok(`${comments}/delete`, { ...thread, commentIds: [smallest, largest] });
    const activities = (await bob.ok('/v2/activities/get', nda)) as any[];
    expect(activities.map(({ targetSubEntityId }) => targetSubEntityId).sort()).toEqual(['1', '999999999999999']);
  });

  test('do not contain activities about a deleted comment whose id is used again', async () => {
    await add('t');
    const thread = { ...nda, annotationId: 't' };
    const reply = { commentId: 5, from: { userId: 'grace' }, triggerActivities: true };
    await customer.ok(`${comments}/add`, { ...thread, commentData: [{ ...reply, commentText: 'y', createdAt: 1 }] });
    await customer.ok(`${comments}/delete`, { ...thread, commentIds: [5] });
    await customer.ok(`${comments}/add`, { ...thread, commentData: [{ ...reply, commentText: 'z' }] });
    const activities = (await bob.ok('/v2/activities/get', nda)) as any[];
    expect(activities.map(({ entityTargetData }) => entityTargetData.commentText).sort()).toEqual(['x', 'z']);
  });

  test('contain activities whose sub-entity is not a comment of the service', async () => {
    await add('t');
    const own = { featureType: 'comment', actionType: 'read', actionUser: { userId: 'grace' }, targetEntityId: 't' };
    await customer.untyped('/v2/activities/add', {
      ...nda,
      activities: [{ ...own, id: 'own', targetSubEntityId: 'line-3', displayMessageTemplate: 'Read' }],
    });
    expect(((await bob.ok('/v2/activities/get', nda)) as any[]).map(({ id }) => id)).toContain('own');
  });
});

describe('notifications with a user token', () => {
  const notify = (id: string, userId: string) =>
    customer.ok('/v2/notifications/add', {
      ...nda,
      actionUser: { userId: 'grace' },
      notificationId: id,
      displayHeadlineMessageTemplate: 'Hello',
      displayBodyMessage: 'Sign',
      notifyUsers: [{ userId }],
      notifyAll: false,
    });

  test('are only those of the user, and the user can mark them as read', async () => {
    await notify('mine', 'ada');
    await notify('theirs', 'bob');
    const organization = { organizationId: 'acme' };
    const own = (await ada.ok('/v2/notifications/get', organization)) as any[];
    expect(own.map(({ id }) => id)).toEqual(['mine']);
    const read = (id: string, userId: string) => ({
      ...organization,
      notifications: [{ id, readByUserIds: [userId] }],
    });
    expect(await ada.status('/v2/notifications/update', read('mine', 'ada'))).toBe('OK');
    expect(await ada.status('/v2/notifications/update', read('theirs', 'ada'))).toBe('PERMISSION_DENIED');
  });

  test('keep persistReadForUsers, which holds for all readers', async () => {
    await notify('n', 'ada');
    const change = (user: Pick<TestUser, 'status'>, persistReadForUsers: boolean) =>
      user.status('/v2/notifications/update', {
        organizationId: 'acme',
        notifications: [{ id: 'n', persistReadForUsers }],
      });
    expect(await change(ada, true)).toBe('PERMISSION_DENIED');
    await customer.ok('/v2/notifications/update', {
      organizationId: 'acme',
      notifications: [{ id: 'n', persistReadForUsers: true }],
    });
    expect(await change(ada, false)).toBe('OK');
    expect(await ada.ok('/v2/notifications/get', nda)).toMatchObject([{ id: 'n', persistReadForUsers: true }]);
  });

  test.each(['hidden', 'unknown'])('are PERMISSION_DENIED for a document that is %s', async (documentId) => {
    await customer.addDocuments(['hidden']);
    await customer.setAccess('restricted', ['hidden']);
    const scope = { organizationId: 'acme', documentId };
    expect(await ada.status('/v2/notifications/get', scope)).toBe('PERMISSION_DENIED');
    const notifications = [{ id: 'n', readByUserIds: ['ada'] }];
    expect(await ada.status('/v2/notifications/update', { ...scope, notifications })).toBe('PERMISSION_DENIED');
  });

  test('have settings that the user can change', async () => {
    const set = { ...{ organizationId: 'acme', documentIds: ['nda'] }, config: { inbox: 'NONE' } };
    await ada.ok('/v2/notifications/config/set', set);
    const [settings] = await ada.ok('/v2/notifications/config/get', { organizationId: 'acme', documentIds: ['nda'] });
    expect(settings).toMatchObject({ config: { inbox: 'NONE' }, metadata: { userId: 'ada' } });
  });
});

describe('editors with a user token', () => {
  test('can be read by viewers and changed by editors, who act in their own name', async () => {
    const editor = { ...nda, editorId: 'summary' };
    await customer.ok('/v2/crdt/add', { ...editor, type: 'text', data: 'one' });
    const { update } = await ada.ok('/v2/crdt/updates/get', editor);
    expect(await ada.status('/v2/crdt/updates/push', { ...editor, update })).toBe('PERMISSION_DENIED');
    expect(await bob.status('/v2/crdt/updates/push', { ...editor, update })).toBe('OK');
    expect(await ada.ok('/v2/crdt/get', nda)).toMatchObject([{ id: 'summary', data: 'one' }]);
  });
});
