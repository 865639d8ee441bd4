import { describe, expect, test } from '@jest/globals';
import { acmeWorld, invalid } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { ada, addThreads, commentCalls } from '../../support/threads.ts';
import { times } from '../../support/times.ts';

const GET = '/v2/users/data/get';

const { customer } = acmeWorld({ table: 'memory', documents: ['nda', 'offer'] });

const grace = { userId: 'grace' };
const mention = (userId: string) => ({ taggedUserContacts: [{ userId, text: `@${userId}` }] });

const thread = (annotationId: string, commentData: readonly object[], more: object = {}) =>
  addThreads(customer, [{ annotationId, commentData, ...more }]);
const comment = (annotationId: string, commentData: readonly object[]) =>
  commentCalls(customer, annotationId).add(...commentData);
const notify = (notificationId: string, more: object = {}) =>
  customer.ok('/v2/notifications/add', {
    ...nda,
    notificationId,
    actionUser: ada,
    notifyUsers: [grace],
    notifyAll: false,
    displayHeadlineMessageTemplate: 'x',
    displayBodyMessage: 'y',
    ...more,
  });
const react = (annotationId: string, from: object, more: object = {}) =>
  customer.addReactions([{ annotationId, icon: 'heart', from, ...more }]);
const record = (annotationId: string, from: object) =>
  customer.addRecordings([{ annotationId, recordingType: 'audio', from }]);

interface Data {
  readonly comments: any[];
  readonly reactions: any[];
  readonly recordings: any[];
  readonly notifications: any[];
}
const data = (userId: string): Promise<Data> => customer.ok(GET, { organizationId: 'acme', userId });

/** Returns all pages. Calls `between` after each page. */
async function pages(userId: string, between?: (count: number) => Promise<unknown>): Promise<Data[]> {
  const dataPages = await customer.pages(GET, { organizationId: 'acme', userId }, between);
  for (const list of dataPages.flatMap<unknown[]>(Object.values)) expect(list.length).toBeLessThanOrEqual(100);
  return dataPages;
}

const annotationIds = (items: readonly any[]) => items.map(({ annotationId }) => annotationId);

describe('POST /v2/users/data/get', () => {
  test('returns empty arrays and no page token for an unknown user or a user without data', async () => {
    const { body } = await customer.call(GET, { organizationId: 'acme', userId: 'nobody' });
    expect(body.result).toEqual({
      status: 'success',
      message: 'Data fetched successfully.',
      data: { comments: [], reactions: [], recordings: [], notifications: [] },
      nextPageToken: null,
    });
  });

  test('returns INVALID_ARGUMENT for an unknown organization', async () => {
    expect(await customer.error(GET, { organizationId: 'nowhere', userId: 'ada' })).toEqual(
      invalid('organizationId: the organization does not exist'),
    );
  });

  test('returns content that the user created, is mentioned in, is assigned to or was notified of', async () => {
    await thread(
      't1',
      [
        { commentText: 'by Ada', from: ada },
        { commentText: 'by Grace', from: grace, ...mention('lin') },
      ],
      { assignedTo: { userId: 'max' } },
    );
    await react('r1', ada, { commentAnnotationId: 't1', commentId: 1 });
    await react('r1', grace);
    await record('rec1', ada);
    await notify('n1');
    const [ofAda, ofGrace, ofLin, ofMax] = (await Promise.all(['ada', 'grace', 'lin', 'max'].map(data))) as [
      Data,
      Data,
      Data,
      Data,
    ];
    expect(ofAda.comments).toMatchObject([
      {
        annotationId: 't1',
        documentId: 'nda',
        commentId: 1,
        commentText: 'by Ada',
        from: ada,
        metadata: { apiKey: customer.apiKey, ...nda },
      },
    ]);
    expect([
      annotationIds(ofAda.reactions),
      annotationIds(ofAda.recordings),
      ofAda.notifications.map(({ id }) => id),
    ]).toEqual([['r1'], ['rec1'], ['n1']]);
    expect(ofGrace.comments.map(({ commentText }) => commentText)).toEqual(['by Grace']);
    expect([annotationIds(ofGrace.reactions), ofGrace.recordings, ofGrace.notifications.map(({ id }) => id)]).toEqual([
      ['r1'],
      [],
      ['n1'],
    ]);
    expect(ofLin.comments.map(({ commentText }) => commentText)).toEqual(['by Grace']);
    expect(ofMax.comments.map(({ commentText }) => commentText)).toEqual(['by Ada']);
  });

  test('returns no notifications that are for all users', async () => {
    await customer.addUsers([grace]);
    await notify('n1', { notifyUsers: [], notifyAll: true });
    expect((await data('grace')).notifications).toEqual([]);
  });

  test("hides a private thread's comments from users who may not read the thread, except from the author", async () => {
    await thread(
      'secret',
      [
        { commentText: 'by Ada', from: ada, ...mention('lin') },
        { commentText: 'by Grace', from: grace, ...mention('lin') },
      ],
      { visibility: { type: 'restricted', userIds: ['max'] } },
    );
    await notify('n1', {
      notifyUsers: [grace, { userId: 'lin' }],
      notificationSource: 'comment',
      notificationSourceData: { annotationId: 'secret' },
    });
    expect(await data('lin')).toMatchObject({ comments: [], notifications: [] });
    expect((await data('grace')).comments.map(({ commentText }) => commentText)).toEqual(['by Grace']);
    expect((await data('grace')).notifications).toEqual([]);
    expect((await data('ada')).notifications).toHaveLength(1);
    await customer.ok('/v2/commentannotations/update', {
      ...nda,
      annotationIds: ['secret'],
      updatedData: { visibility: { type: 'public' } },
    });
    expect(await data('lin')).toMatchObject({
      comments: [{ commentText: 'by Ada' }, { commentText: 'by Grace' }],
      notifications: [{ id: 'n1' }],
    });
  });

  test('hides mentions if the user lacks the access context or document access, but not own comments', async () => {
    const eu = { context: { access: { region: 'eu' } } };
    await thread(
      'by thread',
      [
        { commentText: 'in eu', from: ada, ...mention('grace') },
        { commentText: 'by Grace', from: grace },
      ],
      eu,
    );
    await thread('by comment', [
      { commentText: 'all', from: ada, ...mention('grace') },
      { commentText: 'in eu too', from: ada, ...mention('grace'), ...eu },
    ]);
    await notify('n1', eu);
    await notify('n2', { notificationSource: 'comment', notificationSourceData: { annotationId: 'by thread' } });
    await notify('n3');
    const dataOfGrace = async () => {
      const { comments, notifications } = await data('grace');
      return [comments.map(({ commentText }) => commentText), notifications.map(({ id }) => id)];
    };
    expect(await dataOfGrace()).toEqual([['by Grace', 'all'], ['n3']]);
    await customer.grant('grace', { type: 'document', id: 'offer', organizationId: 'acme', ...eu });
    expect(await dataOfGrace()).toEqual([
      ['in eu', 'by Grace', 'all', 'in eu too'],
      ['n1', 'n2', 'n3'],
    ]);
    await customer.setAccess('restricted', ['nda']);
    expect(await dataOfGrace()).toEqual([['by Grace'], ['n1', 'n3']]);
  });

  test('hides all earlier data as soon as the user is removed from the document, folder or organization', async () => {
    await customer.addFolders(['outer', { folderId: 'inner', parentFolderId: 'outer' }]);
    await customer.addDocuments(['filed'], { folderId: 'inner' });
    await customer.addUsers([ada]);
    const write = async (when: string) => {
      for (const documentId of ['nda', 'offer', 'filed']) {
        await addThreads(customer, [`${when} in ${documentId}`], { documentId });
      }
    };
    const threadsOfAda = async () => annotationIds((await data('ada')).comments).sort();
    await write('before');
    await customer.ok('/v2/users/delete', { ...nda, userIds: ['ada'] });
    expect(await threadsOfAda()).toEqual(['before in filed', 'before in offer']);
    await customer.ok('/v2/users/delete', { organizationId: 'acme', folderId: 'outer', userIds: ['ada'] });
    expect(await threadsOfAda()).toEqual(['before in offer']);
    await customer.ok('/v2/users/delete', { organizationId: 'acme', userIds: ['ada'] });
    expect(await threadsOfAda()).toEqual([]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    await write('after');
    expect(await threadsOfAda()).toEqual(['after in filed', 'after in nda', 'after in offer']);
  });

  test('returns each of 250 mentions once, in pages of at most 100, during parallel writes', async () => {
    const numbered = times(250, (i) => `mention ${i}`);
    await thread(
      't0',
      numbered.slice(0, 25).map((commentText) => ({ commentText, from: ada, ...mention('grace') })),
    );
    for (let i = 25; i < 250; i += 25)
      await comment(
        't0',
        numbered.slice(i, i + 25).map((commentText) => ({ commentText, from: ada, ...mention('grace') })),
      );
    for (let i = 0; i < 3; i++) await notify(`n${i}`);
    const dataPages = await pages('grace', async (page) => {
      await comment('t0', [{ commentText: `new ${page}`, from: ada, ...mention('grace') }]);
      await commentCalls(customer, 't0').update({ commentIds: [10, 110, 210], updatedData: { metadata: { page } } });
      await notify(`new${page}`);
    });
    const texts = dataPages.flatMap(({ comments }) => comments.map(({ commentText }) => commentText));
    expect(texts.filter((text) => text.startsWith('mention')).sort()).toEqual(numbered.sort());
    expect(new Set(texts).size).toBe(texts.length);
    expect(dataPages[0]!.comments).toHaveLength(100);
    expect(dataPages.flatMap(({ notifications }) => notifications.map(({ id }) => id))).toEqual(['n0', 'n1', 'n2']);
  });

  test('returns comments, reactions and notifications page by page until each list ends', async () => {
    for (let i = 0; i < 220; i += 10) await Promise.all(times(10, (j) => notify(`n${i + j}`)));
    await react('r1', grace);
    const half = times(25, () => ({ commentText: 'x', from: grace }));
    await thread('t1', half);
    await comment('t1', half);
    const dataPages = await pages('grace');
    expect(
      dataPages.map(({ comments, reactions, notifications }) => [
        comments.length,
        reactions.length,
        notifications.length,
      ]),
    ).toEqual([
      [50, 1, 100],
      [0, 0, 100],
      [0, 0, 20],
    ]);
    expect(dataPages[0]!.comments.map(({ commentId }) => commentId)).toEqual(times(50, (i) => i + 1));
    expect(new Set(dataPages.flatMap(({ notifications }) => notifications.map(({ id }) => id))).size).toBe(220);
  });

  test('divides a page of less than 5 MB fairly between comments, reactions and notifications', async () => {
    const large = { metadata: { x: 'x'.repeat(60_000) } };
    await thread('t1', [{ commentText: 'first', from: grace }]);
    for (let i = 0; i < 60; i++) await comment('t1', [{ commentText: `${i}`, from: grace, ...large }]);
    // Ids of equal length, because notifications of the same millisecond are ordered by their ids.
    const notificationIds = times(60, (i) => `n${100 + i}`);
    for (const id of notificationIds) await notify(id, { ...large, notificationSourceData: large.metadata });
    await react('r1', grace);
    const dataPages = await pages('grace');
    expect(dataPages.length).toBeGreaterThan(1);
    expect(dataPages[0]!.reactions).toHaveLength(1);
    expect(Math.min(dataPages[0]!.comments.length, dataPages[0]!.notifications.length)).toBeGreaterThan(12);
    expect(dataPages.flatMap(({ comments }) => comments.map(({ commentId }) => commentId))).toEqual(
      times(61, (i) => i + 1),
    );
    expect(dataPages.flatMap(({ notifications }) => notifications.map(({ id }) => id))).toEqual(notificationIds);
  });
});
