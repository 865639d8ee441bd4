import { describe, expect, test } from '@jest/globals';
import { DocumentEntity } from '../../../lib/directory/documents.ts';
import { acmeWorld, invalid, table } from '../../support/acmeWorld.ts';
import { enableActivities } from '../../support/activities.ts';
import { nda } from '../../support/content.ts';
import { involvementsOf } from '../../support/involvements.ts';
import { withStillClock } from '../../support/stillClock.ts';
import { storedOrganizationScope } from '../../support/storedScope.ts';
import { ada, addThreads, comment, contentOf, getThread, idsIn, thread } from '../../support/threads.ts';
import { times } from '../../support/times.ts';

const ADD = '/v2/commentannotations/add';

const { engine, customer, emitted } = acmeWorld({ isCleared: true });

const ONLY_ONE = { Thread: 1, Comment: 1, RecordId: 1, Involvement: 1 };

describe('POST /v2/commentannotations/add', () => {
  test('returns a result per thread with the ids of its comments', async () => {
    const { message, data } = await customer.result(ADD, {
      ...nda,
      createOrganization: true,
      createDocument: true,
      commentAnnotations: [
        thread('a', { commentData: [comment(), comment({ commentId: 9 })] }),
        { commentData: [comment()] },
      ],
    });
    expect(message).toBe('Comment Annotation(s) added successfully.');
    const id = Object.keys(data).at(-1)!;
    expect(id).toMatch(/^ann_[0-9A-Za-z]{27}$/);
    const added = { success: true, message: 'Added Successfully' };
    expect(data).toEqual({
      a: { ...added, annotationId: 'a', commentIds: [10, 9] },
      [id]: { ...added, annotationId: id, commentIds: [1] },
    });
    expect((await getThread(customer, 'a')).comments.map(({ commentId }: any) => commentId)).toEqual([9, 10]);
  });

  test('stores threads as they were sent and adds generated fields', async () => {
    const own = JSON.parse('{"__proto__":{"a":1},"constructor":null,"big":1e200}');
    const sent = {
      location: { id: 3, ...own },
      targetElement: own,
      priority: { id: 'P1', ...own },
      status: { id: 'MINE', ...own },
      context: { access: { team: ['x'] } },
      commentType: 'chart',
      metadata: own,
      customList: [own],
      visibility: { type: 'restricted', userIds: ['bob'] },
      assignedTo: { userId: 'zoe', email: 'zoe@example.com' },
      subscribedUsers: [{ userId: 'eve' }],
      createdAt: '2020-01-02T03:04:05.006Z',
      lastUpdated: 1_600_000_000_000,
    };
    const said = {
      commentHtml: '<b>hi</b>',
      taggedUserContacts: [{ userId: 'bob', text: '@bob', contact: { userId: 'bob', name: 'Bob' } }],
      to: [{ userId: 'eve' }],
      attachments: [own],
      context: { access: { team: 'x' } },
      metadata: own,
    };
    await addThreads(customer, [thread('a', { ...sent, commentData: [comment({ ...said, createdAt: 5 })] })]);
    const metadata = { ...own, apiKey: customer.apiKey, ...nda };
    const storedThread = await getThread(customer, 'a');
    expect(storedThread).toEqual({
      ...sent,
      annotationId: 'a',
      annotationNumber: 1,
      annotationIndex: 0,
      type: 'comment',
      sourceType: 'rest-api',
      visibilityConfig: sent.visibility,
      unsubscribedUsers: [],
      subscribedGroups: [],
      hasDraftComments: false,
      pageInfo: {},
      commentCount: 1,
      hasMoreComments: false,
      from: ada,
      context: { access: { team: ['x'] }, accessFields: ['team:x'] },
      locationId: '3',
      involvedUserIds: ['ada', 'bob', 'eve', 'zoe'],
      mentionedUserIds: ['bob', 'eve'],
      createdAt: Date.UTC(2020, 0, 2, 3, 4, 5, 6),
      metadata,
      comments: [
        expect.objectContaining({
          ...said,
          context: { access: { team: 'x' }, accessFields: ['team:x'] },
          createdAt: 5,
          lastUpdated: '1970-01-01T00:00:00.005Z',
          metadata,
        }),
      ],
    });
    expect(Object.keys(storedThread.targetElement)).toContain('__proto__');
  });

  test('stores page information, positions, progress and actions', async () => {
    const page = {
      pageInfo: { url: 'https://app.example/nda', title: 'NDA', deviceInfo: { deviceType: 'desktop' } },
      isPageAnnotation: true,
      positionX: 12.5,
      positionY: 0,
      screenWidth: 1280,
      screenHeight: 720,
      screenScrollHeight: 4000,
      screenScrollTop: 100,
    };
    const step = { label: 'Read', id: 's1', state: 'completed', startedAt: 5, metadata: { n: 1 } };
    const progress = {
      state: 'active',
      steps: [
        { ...step, completedAt: '2026-01-01T00:00:00Z' },
        { label: 'Write', state: 'pending' },
      ],
      visibleToUserIds: ['bob'],
      startedAt: 5,
    };
    const actions = [
      { id: 'retry', label: 'Retry', icon: 'redo', disabled: false, hidden: true, metadata: { n: 1 } },
      { id: 'stop' },
    ];
    const both = { progress, actions };
    await addThreads(customer, [thread('a', { ...page, ...both, commentData: [comment(both)] })]);
    expect(await getThread(customer, 'a')).toMatchObject({ ...page, ...both, comments: [both] });
    await customer.ok('/v2/commentannotations/update', {
      ...nda,
      annotationIds: ['a'],
      updatedData: { actions: [], progress: { state: 'completed' }, positionX: 13, pageInfo: { url: 'x' } },
    });
    const changed = await getThread(customer, 'a');
    expect(changed).toMatchObject({ ...page, positionX: 13, pageInfo: { url: 'x' }, actions: [] });
    expect(changed.progress).toEqual({ state: 'completed' });
  });

  test('accepts comments as commentData or as comments', async () => {
    expect(
      await addThreads(customer, [{ annotationId: 'a', comments: [comment({ commentText: 'alias' }), comment()] }]),
    ).toMatchObject({ a: { success: true, commentIds: [1, 2] } });
    expect((await getThread(customer, 'a')).comments[0].commentText).toBe('alias');
  });

  test('rejects only the thread whose id exists, and adds a repeated id once', async () => {
    await addThreads(customer, ['a']);
    const again = { commentData: [comment({ commentText: 'other' }), comment()] };
    expect(await addThreads(customer, [thread('a', again), 'b', thread('b', again)])).toEqual({
      a: { success: false, annotationId: 'a', commentIds: [], message: 'Annotation already exists.' },
      b: expect.objectContaining({ success: true, commentIds: [1] }),
    });
    expect((await getThread(customer, 'a')).comments).toMatchObject([{ commentText: 'hi' }]);
    expect(await contentOf(engine, customer)).toEqual({ Thread: 2, Comment: 2, RecordId: 2, Involvement: 2 });
  });

  test('stores threads with similar ids separately, each with its own comments', async () => {
    const awkward = [
      'a',
      'a!',
      'a ',
      'a"',
      'a#COMMENT',
      'a#',
      'A',
      '__proto__',
      'constructor',
      'é',
      'e\u0301',
      '~',
      '%7e',
    ];
    const all = [...awkward, '😀'.repeat(256), `${'😀'.repeat(255)}x`];
    await addThreads(
      customer,
      all.map((id, index) => {
        const commentData = [`${index}`, `${index}!`].map((commentText) => comment({ commentText }));
        return thread(id, { createdAt: 1_000, commentData });
      }),
    );
    for (const order of ['asc', 'desc'] as const) {
      const threads: any[] = await customer.ok('/v2/commentannotations/get', { ...nda, order });
      const texts = threads.map(({ annotationId, comments }) => [
        annotationId,
        ...comments.map(({ commentText }: any) => commentText),
      ]);
      expect(texts.toSorted()).toEqual(all.map((id, index) => [id, `${index}`, `${index}!`]).toSorted());
    }
    expect(idsIn(await customer.ok('/v2/commentannotations/get', { ...nda, annotationIds: all }))).toEqual(all);
  });

  test('stores comments as user data of authors and mentioned users, and the first one of the assignee', async () => {
    await addThreads(customer, [
      thread('a', {
        assignedTo: { userId: 'zoe' },
        commentData: [
          comment({ taggedUserContacts: [{ userId: 'bob' }, { userId: 'ada' }] }),
          comment({ from: { userId: 'bob' }, to: [{ userId: 'zoe' }] }),
        ],
      }),
    ]);
    expect(await involvementsOf(engine, customer)).toEqual([
      'ada made a/1',
      'bob in a/1',
      'bob made a/2',
      'zoe in a/1',
      'zoe in a/2',
    ]);
  });

  test('adds threads of more than 4 MB in one call', async () => {
    const commentData = times(10, () => comment({ commentText: 'x'.repeat(32_000), commentHtml: 'y'.repeat(32_000) }));
    const added = await addThreads(
      customer,
      times(7, (index) => thread(`t${index}`, { commentData })),
    );
    expect(Object.values<any>(added).every(({ success }) => success)).toBe(true);
    expect(await contentOf(engine, customer)).toMatchObject({ Thread: 7, Comment: 70 });
  });

  test('adds a thread under the id of an old one after its document was deleted and created again', async () => {
    await addThreads(customer, ['a']);
    // The threads stay in the table, under keys that contain the internal id of the old document.
    const scope = await storedOrganizationScope(customer);
    await table.removeKeys([DocumentEntity.key({ ...scope, documentId: nda.documentId })]);
    expect(await addThreads(customer, [thread('a', { commentData: [comment({ commentText: 'new' })] })])).toMatchObject(
      { a: { success: true } },
    );
    expect((await getThread(customer, 'a')).comments.map(({ commentText }: any) => commentText)).toEqual(['new']);
    expect(
      await customer.ok('/v2/commentannotations/get', { organizationId: 'acme', annotationIds: ['a'] }),
    ).toHaveLength(1);
  });
});

describe('POST /v2/commentannotations/add: size of one thread', () => {
  const to = [{ userId: 'bob' }];
  const large = {
    commentText: 'x'.repeat(32_000),
    commentHtml: 'y'.repeat(32_000),
    attachments: [{ note: 'z'.repeat(40_000) }],
  };
  // A transaction has at most 100 operations: 2 for the thread and its id, 2 for an event, 2 for an activity, 1 for an
  // assignee, 1 for each comment, and 1 for each user whom a comment names.
  test.each<[string, number, object, object]>([
    ['comments that notify', 48, { triggerNotification: true }, {}],
    ['comments and an assignee', 48, {}, { assignedTo: { userId: 'zoe' } }],
    [
      'comments that mention somebody, notify and are logged',
      31,
      { to, triggerNotification: true, triggerActivities: true },
      {},
    ],
    [
      'comments that mention 49 users and notify',
      1,
      { to: times(49, (index) => ({ userId: `u${index}` })), triggerNotification: true },
      {},
    ],
    ['comments of 104 KB', 36, large, {}],
  ])('with %s accepts %s and rejects one more without writing any', async (_what, most, changes, more) => {
    await enableActivities(customer);
    const of = (count: number) =>
      thread('a', {
        ...more,
        commentData: times(count, (index) => comment({ commentId: index + 1, ...changes })),
      });
    const { a, small } = await addThreads(customer, [of(most + 1), 'small']);
    expect(a).toEqual({
      success: false,
      annotationId: 'a',
      commentIds: [],
      message:
        'Annotation is too large for one call: send some of its comments with /v2/commentannotations/comments/add. A call takes 100 items and 3.8 MB of an annotation: 2 items for itself, 1 for each comment, and 1 for each user in a comment. Notifications, activities, an assignee and agents take more.',
    });
    expect([small.success, await getThread(customer, 'a'), await contentOf(engine, customer)]).toEqual([
      true,
      null,
      ONLY_ONE,
    ]);
    expect([await emitted(), await customer.ok('/v2/activities/get', nda)]).toEqual([[], []]);
    expect((await addThreads(customer, [of(most)])).a).toMatchObject({
      success: true,
      commentIds: times(most, (index) => index + 1),
    });
    expect(await getThread(customer, 'a')).toMatchObject({ commentCount: most });
    expect(await contentOf(engine, customer)).toMatchObject({ Thread: 2, Comment: most + 1 });
  });
});

test('verifyUserPermissions rejects only threads with an author without access to the document or its folders', async () => {
  await customer.addOrganizations(['acme']);
  await customer.addFolders([
    { folderId: 'top', accessType: 'restricted' },
    { folderId: 'sub', parentFolderId: 'top' },
  ]);
  await customer.addDocuments(['nda'], { folderId: 'sub' });
  const document = { type: 'document', id: 'nda', organizationId: 'acme' };
  await customer.grant('on-document', document);
  await customer.grant('on-top', { type: 'folder', id: 'top', organizationId: 'acme' });
  await withStillClock(() => customer.grant('ended', { ...document, expiresAt: 2 }), 1_000);
  await customer.addUsers(['member']);
  const by = (...authors: string[]) =>
    thread(authors.join(), {
      commentData: authors.map((userId) => comment({ from: { userId }, triggerNotification: true })),
    });
  const DENIED = { success: false, message: 'User does not have access to document' };
  expect(
    await addThreads(customer, [by('on-document'), by('on-top'), by('ended'), by('member'), by('on-top', 'unknown')], {
      verifyUserPermissions: true,
    }),
  ).toMatchObject({
    'on-document': { success: true },
    'on-top': { success: true },
    ended: DENIED,
    member: DENIED,
    'on-top,unknown': DENIED,
  });
  expect(await contentOf(engine, customer)).toMatchObject({ Thread: 2, Comment: 2 });
  expect(await emitted()).toHaveLength(2);
});

describe('POST /v2/commentannotations/add: events and activities', () => {
  test('emits one comment_annotation.add per thread by the author of its first comment', async () => {
    const reply = comment({ from: { userId: 'bob' }, triggerNotification: true });
    await addThreads(customer, [thread('a', { commentData: [comment(), reply] })]);
    expect(await emitted()).toMatchObject([
      {
        event: 'comment_annotation.add',
        data: {
          actionUser: ada,
          commentAnnotation: { annotationId: 'a', commentCount: 2, comments: [{ commentId: 1 }, { commentId: 2 }] },
          targetComment: { commentId: 1 },
        },
      },
    ]);
  });

  test('writes an activity only with triggerActivities and if activities of the type are enabled', async () => {
    const noisy = (id: string) => thread(id, { commentData: [comment({ triggerActivities: true })] });
    await addThreads(customer, [noisy('off')]);
    await enableActivities(customer);
    await addThreads(customer, [noisy('on'), 'unasked']);
    await enableActivities(customer, { triggers: { comment: { newlyAdded: false } } });
    await addThreads(customer, [noisy('not-this-verb')]);
    const activities = await customer.ok('/v2/activities/get', nda);
    expect(activities).toMatchObject([
      {
        featureType: 'comment',
        actionType: 'comment_annotation.add',
        actionUser: ada,
        targetEntityId: 'on',
        targetSubEntityId: '1',
        entityData: { annotationId: 'on' },
      },
    ]);
  });
});

describe('POST /v2/commentannotations/add: validation', () => {
  test.each([
    [
      'an unknown organization unless the call creates it',
      { createOrganization: false },
      invalid('organizationId: the organization does not exist; send createOrganization: true to create it'),
    ],
    [
      'an unknown document unless the call creates it',
      { createDocument: false },
      [404, 'NOT_FOUND', 'Document does not exist'],
    ],
    ...[
      [
        'an empty comment under the alias',
        { commentData: undefined, comments: [{ from: ada }] },
        'comments[0].commentText must be given, or commentHtml',
      ],
      [
        'restricted without named users',
        { visibility: { type: 'restricted' } },
        'visibility.userIds is required for restricted visibility',
      ],
    ].map(([what, changes, message]) => [
      what,
      { commentAnnotations: [thread('a', changes as object)] },
      invalid(expect.stringContaining(`commentAnnotations[0].${message as string}`)),
    ]),
  ] as [string, object, unknown[]][])('rejects %s', async (_what, data, expected) => {
    const creating = { ...nda, createOrganization: true, createDocument: true, commentAnnotations: [thread('a')] };
    expect(await customer.error(ADD, { ...creating, ...data })).toEqual(expected);
    expect(await contentOf(engine, customer)).toEqual({});
  });
});
