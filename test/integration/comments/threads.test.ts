import { describe, expect, test } from '@jest/globals';
import { acmeWorld, invalid } from '../../support/acmeWorld.ts';
import { enableActivities } from '../../support/activities.ts';
import { nda } from '../../support/content.ts';
import { deleteItem, everyItem } from '../../support/items.ts';
import { withStillClock } from '../../support/stillClock.ts';
import { ada, addThreads, comment, contentOf, getThread, involvementsOf, thread } from '../../support/threads.ts';
import { times } from '../../support/times.ts';

const ADD = '/v2/commentannotations/add';

const { engine, customer, emitted } = acmeWorld({ isCleared: true });

/** Sends a call that must fail. Returns its error. */
const refusal = (data: object) =>
  customer.error(ADD, { ...nda, createOrganization: true, createDocument: true, ...data });

describe('POST /v2/commentannotations/add', () => {
  test('returns a result per thread with the ids of its comments', async () => {
    const { status, body } = await customer.call(ADD, {
      ...nda,
      createOrganization: true,
      createDocument: true,
      commentAnnotations: [
        thread('a', { commentData: [comment(), comment({ commentId: 9 })] }),
        { commentData: [comment()] },
      ],
    });
    expect(status).toBe(200);
    const { a, ...others } = body.result.data;
    expect({ message: body.result.message, a }).toEqual({
      message: 'Comment Annotation(s) added successfully.',
      a: { success: true, annotationId: 'a', commentIds: [10, 9], message: 'Added Successfully' },
    });
    const [[id, generated]] = Object.entries<any>(others) as [[string, any]];
    expect(id).toMatch(/^ann_[0-9A-Za-z]{27}$/);
    expect(generated).toEqual({ success: true, annotationId: id, commentIds: [1], message: 'Added Successfully' });
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
        {
          ...said,
          commentId: 1,
          type: 'text',
          status: 'added',
          commentText: 'hi',
          from: ada,
          context: { access: { team: 'x' }, accessFields: ['team:x'] },
          isEdited: false,
          reactionAnnotationIds: [],
          isDraft: false,
          toOrganizationUserGroup: [],
          recorders: [],
          customList: [],
          isCommentTextAvailable: true,
          createdAt: 5,
          lastUpdated: '1970-01-01T00:00:00.005Z',
          metadata,
        },
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
    const progress = {
      state: 'active',
      steps: [
        {
          label: 'Read',
          id: 's1',
          state: 'completed',
          startedAt: 5,
          completedAt: '2026-01-01T00:00:00Z',
          metadata: { n: 1 },
        },
        { label: 'Write', state: 'pending' },
      ],
      visibleToUserIds: ['bob'],
      startedAt: 5,
    };
    const actions = [
      { id: 'retry', label: 'Retry', icon: 'redo', disabled: false, hidden: true, metadata: { n: 1 } },
      { id: 'stop' },
    ];
    await addThreads(customer, [
      thread('a', { ...page, progress, actions, commentData: [comment({ progress, actions })] }),
    ]);
    expect(await getThread(customer, 'a')).toMatchObject({
      ...page,
      progress,
      actions,
      comments: [{ progress, actions }],
    });
    await customer.ok('/v2/commentannotations/update', {
      ...nda,
      annotationIds: ['a'],
      updatedData: { actions: [], progress: { state: 'completed' }, positionX: 13, pageInfo: { url: 'x' } },
    });
    expect(await getThread(customer, 'a')).toMatchObject({
      ...page,
      positionX: 13,
      pageInfo: { url: 'x' },
      actions: [],
      progress: { state: 'completed' },
    });
    expect((await getThread(customer, 'a')).progress).toEqual({ state: 'completed' });
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

  test('allows the same thread id in another document', async () => {
    await addThreads(customer, ['a']);
    await addThreads(customer, [thread('a', { commentData: [comment({ commentText: 'elsewhere' })] })], {
      documentId: 'other',
    });
    expect((await getThread(customer, 'a')).comments[0].commentText).toBe('hi');
    expect(
      await customer.ok('/v2/commentannotations/get', { organizationId: 'acme', annotationIds: ['a'] }),
    ).toHaveLength(2);
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
      '😀'.repeat(256),
      `${'😀'.repeat(255)}x`,
      '~',
      '%7e',
    ];
    const added = await addThreads(
      customer,
      awkward.map((id, index) =>
        thread(id, {
          createdAt: 1_000,
          commentData: [comment({ commentText: String(index) }), comment({ commentText: `${index}!` })],
        }),
      ),
    );
    expect(Object.keys(added).toSorted()).toEqual(awkward.toSorted());
    for (const order of ['asc', 'desc']) {
      const threads = await customer.untyped('/v2/commentannotations/get', { ...nda, order });
      expect(
        new Map(
          threads.map(({ annotationId, comments }: any) => [
            annotationId,
            comments.map(({ commentText }: any) => commentText),
          ]),
        ),
      ).toEqual(new Map(awkward.map((id, index) => [id, [String(index), `${index}!`]])));
    }
    const named = await customer.ok('/v2/commentannotations/get', { ...nda, annotationIds: awkward });
    expect(named.map(({ annotationId }: any) => annotationId)).toEqual(awkward);
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
    // Removes only the item of the document. The threads stay in the table, under keys that contain the internal id of
    // the old document.
    const document = (await everyItem(engine)).find(
      (item) => item._t === 'Document' && item.PK.includes(customer.apiKey),
    )!;
    await deleteItem(engine, document);
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
  test('accepts 49 comments of one author, the most that the schema takes', async () => {
    const commentData = times(49, () => comment());
    expect((await addThreads(customer, [thread('a', { commentData })])).a.success).toBe(true);
    await expect(addThreads(customer, [thread('b', { commentData: [...commentData, comment()] })])).rejects.toThrow(
      'must have at most 49 items',
    );
  });

  // A transaction has at most 100 operations: 2 for the thread and its id, 2 for an event, 2 for an activity, 1 for an
  // assignee, 1 for each comment, and 1 for each user whom a comment names.
  test.each<[string, number, object, object]>([
    ['comments that notify', 48, { triggerNotification: true }, {}],
    ['comments that notify and are logged', 47, { triggerNotification: true, triggerActivities: true }, {}],
    ['comments and an assignee', 48, {}, { assignedTo: { userId: 'zoe' } }],
    ['comments that mention somebody', 32, { to }, {}],
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
      { Thread: 1, Comment: 1, RecordId: 1, Involvement: 1 },
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

describe('verifyUserPermissions', () => {
  const DENIED = { success: false, message: 'User does not have access to document' };

  test('rejects only the threads with an author who has no access to the document', async () => {
    await customer.addUsers(['ada']);
    await customer.addDocuments(['nda']);
    await customer.setAccess('organizationPrivate', ['nda']);
    const added = await addThreads(
      customer,
      [
        'a',
        thread('b', { commentData: [comment(), comment({ from: { userId: 'stranger' }, triggerNotification: true })] }),
      ],
      { verifyUserPermissions: true },
    );
    expect(added).toMatchObject({ a: { success: true }, b: DENIED });
    expect(await contentOf(engine, customer)).toEqual({ Thread: 1, Comment: 1, RecordId: 1, Involvement: 1 });
    expect(await emitted()).toEqual([]);
    expect(
      await addThreads(customer, [thread('b', { commentData: [comment({ from: { userId: 'stranger' } })] })]),
    ).toMatchObject({ b: { success: true } });
  });

  test('considers grants on the document and its folders, and the access type', async () => {
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
    const authors = ['on-document', 'on-top', 'ended', 'member', 'unknown'];
    const added = await addThreads(
      customer,
      authors.map((userId) => thread(userId, { commentData: [comment({ from: { userId } })] })),
      { verifyUserPermissions: true },
    );
    expect(authors.map((userId) => added[userId].success)).toEqual([true, true, false, false, false]);
  });
});

describe('POST /v2/commentannotations/add: events and activities', () => {
  test('emits one comment_annotation.add per thread, only if a comment has triggerNotification', async () => {
    await addThreads(customer, ['quiet']);
    expect(await emitted()).toEqual([]);
    await addThreads(customer, [
      thread('a', {
        location: { id: 'page-1' },
        commentData: [
          comment(),
          comment({ from: { userId: 'bob' }, taggedUserContacts: [{ userId: 'eve' }], triggerNotification: true }),
        ],
      }),
    ]);
    expect(await emitted()).toMatchObject([
      {
        event: 'comment_annotation.add',
        data: {
          actionUser: ada,
          commentAnnotation: { annotationId: 'a', commentCount: 2, comments: [{ commentId: 1 }, { commentId: 2 }] },
          targetComment: { commentId: 1 },
          metadata: {
            apiKey: customer.apiKey,
            organization: { organizationId: 'acme' },
            document: { documentId: 'nda' },
            locations: [{ id: 'page-1' }],
          },
        },
        audience: {
          actorId: 'ada',
          addressed: ['eve', 'ada'],
          following: ['bob'],
          thread: { annotationId: 'a', organizationId: 'acme', authorId: 'ada' },
        },
      },
    ]);
  });

  test('reduces an event of more than 256 KB to ids, and still adds the thread', async () => {
    const commentData = times(10, () => comment({ commentText: 'x'.repeat(32_000), triggerNotification: true }));
    expect(await addThreads(customer, [thread('a', { commentData })])).toMatchObject({ a: { success: true } });
    const [only] = await emitted();
    expect(only!.data).toMatchObject({
      truncated: true,
      commentAnnotation: { annotationId: 'a', commentCount: 10 },
      targetComment: { commentId: 1 },
    });
    expect(JSON.stringify(only)).not.toContain('xxx');
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
      'an unknown organization',
      { createOrganization: false },
      invalid('organizationId: the organization does not exist; send createOrganization: true to create it'),
    ],
    ['an unknown document', { createDocument: false }, [404, 'NOT_FOUND', 'Document does not exist']],
  ])('rejects %s unless the call creates it', async (_what, flags, expected) => {
    expect(await refusal({ commentAnnotations: [thread('a')], ...flags })).toEqual(expected);
  });

  async function expectInvalid(commentAnnotations: readonly object[], message: string) {
    expect(await refusal({ commentAnnotations })).toEqual(invalid(expect.stringContaining(message)));
    expect(await customer.ok('/v2/organizations/get', {})).toEqual([]);
  }

  test('rejects a call with no thread or with more than 500', async () => {
    await expectInvalid([], 'commentAnnotations must not be empty');
    await expectInvalid(
      times(501, (index) => thread(`t${index}`)),
      'commentAnnotations must have at most 500 items',
    );
  });

  test.each<[string, object, string]>([
    ['a thread without comments', { commentData: [] }, 'commentData must not be empty'],
    [
      'a thread with neither commentData nor comments',
      { commentData: undefined },
      'commentData must be given, or comments, and not both',
    ],
    [
      'a thread with commentData and comments',
      { comments: [comment()] },
      'commentData must be given, or comments, and not both',
    ],
    [
      'a comment without author under the alias',
      { commentData: undefined, comments: [{ commentText: 'x' }] },
      'comments[0].from is required',
    ],
    [
      'an unknown state of progress',
      { commentData: [comment({ progress: { state: 'done' } })] },
      'commentData[0].progress.state must be "active" or "completed" or "failed" or "cancelled"',
    ],
    ['progress without a state', { progress: {} }, 'progress.state is required'],
    [
      'a step without a label',
      { progress: { state: 'active', steps: [{ id: 's' }] } },
      'progress.steps[0].label is required',
    ],
    [
      '101 steps',
      { progress: { state: 'active', steps: times(101, () => ({ label: 's' })) } },
      'progress.steps must have at most 100 items',
    ],
    [
      '21 actions',
      {
        commentData: [comment({ actions: times(21, (index) => ({ id: `a${index}` })) })],
      },
      'commentData[0].actions must have at most 20 items',
    ],
    ['an action without id', { actions: [{ label: 'x' }] }, 'actions[0].id is required'],
    ['a position that is a text', { positionX: '5' }, 'positionX must be a number'],
    ['a position that the table cannot store', { positionX: 1e200 }, 'positionX must be at most 9007199254740991'],
    ['more than 49 comments', { commentData: times(50, () => comment()) }, 'commentData must have at most 49 items'],
    ['a comment without author', { commentData: [{ commentText: 'x' }] }, 'commentData[0].from is required'],
    ['a status without id', { status: { name: 'Open' } }, 'status.id is required'],
    [
      'restricted without named users',
      { visibility: { type: 'restricted' } },
      'visibility.userIds is required for restricted visibility',
    ],
    [
      'an empty location',
      { location: { locationName: '' } },
      'location must have an id, a locationName or another key',
    ],
    [
      'a version whose id is an object',
      { location: { version: { id: {} } } },
      'location.version.id must be a string or a number',
    ],
    ['an invalid time', { createdAt: 'yesterday' }, 'createdAt'],
    [
      'a suggestion with an unknown status',
      { suggestion: { status: 'maybe' } },
      'suggestion.status must be "pending" or "accepted" or "rejected"',
    ],
  ])('rejects %s with INVALID_ARGUMENT and stores nothing', (_what, changes, message) =>
    expectInvalid([thread('a', changes)], `commentAnnotations[0].${message}`),
  );
});
