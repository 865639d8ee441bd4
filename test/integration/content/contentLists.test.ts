import { beforeAll, describe, expect, test } from '@jest/globals';
import { acmeWorld } from '../../support/acmeWorld.ts';
import { addThreads, numbered } from '../../support/threads.ts';

const MEGABYTE = 1_000_000;
/** The number of records of each kind. Each record has about 120 KB. */
const COUNT = 42;

const { customer } = acmeWorld({ table: 'memory', isShared: true });

/** Adds records of each kind to two documents in a folder. All have the same author, recipient and location. */
beforeAll(async () => {
  await customer.ok('/v2/workspace/activityconfig/update', { activityServiceConfig: { isEnabled: true } });
  await customer.addDocuments(['nda', 'tos'], { folderId: 'contracts', createFolder: true });
  await customer.addUsers(['ada', 'bob']);
  const [ada, bob] = [{ userId: 'ada' }, { userId: 'bob' }];
  const [text, object, location] = ['ü'.repeat(15_000), { note: 'x'.repeat(60_000) }, { id: 'page-1' }];
  const ids = numbered('x', COUNT);
  for (let i = 0; i < COUNT; i += 14) {
    const batchIds = ids.slice(i, i + 14);
    // The records of `tos` come between those of `nda` in time.
    const document = { organizationId: 'acme', documentId: i === 14 ? 'tos' : 'nda' };
    const commentData = [{ commentText: text, commentHtml: text, metadata: object, from: ada, to: [bob] }];
    await addThreads(
      customer,
      batchIds.map((annotationId) => ({ annotationId, location, metadata: object, commentData })),
      document,
    );
    await customer.addRecordings(
      batchIds.map((annotationId) => ({
        annotationId,
        recordingType: 'audio',
        from: ada,
        transcription: object,
        metadata: object,
        location,
      })),
      document,
    );
    await customer.ok('/v2/activities/add', {
      ...document,
      activities: batchIds.map((id) => ({
        id,
        featureType: 'comment' as const,
        actionType: 'comment.add',
        actionUser: ada,
        targetEntityId: 't',
        entityData: object,
        entityTargetData: object,
      })),
    });
    for (const notificationId of batchIds) {
      await customer.ok('/v2/notifications/add', {
        ...document,
        notificationId,
        actionUser: ada,
        notifyUsers: [bob],
        notifyAll: true,
        displayHeadlineMessageTemplate: text,
        displayBodyMessage: text,
        notificationSourceData: object,
        location,
      });
    }
    await customer.ok('/v2/commentannotations/comments/add', {
      organizationId: 'acme',
      documentId: 'nda',
      annotationId: 'x000',
      commentData: batchIds.map(() => ({ commentText: text, commentHtml: text, metadata: object, from: bob })),
    });
  }
});

const [THREADS, RECORDINGS, ACTIVITIES, NOTIFICATIONS] = [
  '/v2/commentannotations/get',
  '/v2/recordings/get',
  '/v2/activities/get',
  '/v2/notifications/get',
];
const nda = { documentId: 'nda' };
const [IN_NDA, REPLIES] = [28, 1 + COUNT];

/** Every list with each of its filters. The last entry is the number of its records. */
const lists: [string, string, object, number][] = [
  ['the threads of a document', THREADS, nda, IN_NDA],
  ['the threads of a document, the oldest first', THREADS, { ...nda, order: 'asc' }, IN_NDA],
  ['the threads of some documents', THREADS, { documentIds: ['tos', 'nda'] }, COUNT],
  ['the threads of a folder', THREADS, { folderId: 'contracts' }, COUNT],
  ['the threads of an organization', THREADS, {}, COUNT],
  ['the threads of a location', THREADS, { locationIds: ['page-1'] }, COUNT],
  ['the threads that mention a user', THREADS, { mentionedUserIds: ['bob'] }, COUNT],
  ['the comments of a thread', '/v2/commentannotations/comments/get', { ...nda, annotationId: 'x000' }, REPLIES],
  [
    'the comments of a thread by a user',
    '/v2/commentannotations/comments/get',
    { ...nda, annotationId: 'x000', userIds: ['bob'] },
    COUNT,
  ],
  ['the recordings of a document', RECORDINGS, nda, IN_NDA],
  ['the recordings of an organization', RECORDINGS, {}, COUNT],
  ['the activities of a document', ACTIVITIES, nda, IN_NDA],
  ['the activities of an organization', ACTIVITIES, { order: 'asc' }, COUNT],
  ['the activities of a target', ACTIVITIES, { targetEntityId: 't' }, COUNT],
  ['the activities of a user', ACTIVITIES, { userId: 'ada' }, COUNT],
  ['the notifications of a document', NOTIFICATIONS, nda, IN_NDA],
  ['the notifications of an organization', NOTIFICATIONS, {}, COUNT],
  ['the notifications of a location', NOTIFICATIONS, { locationId: 'page-1' }, COUNT],
  ['the notifications of a user', NOTIFICATIONS, { userId: 'bob' }, COUNT],
  ['the notifications of a user in a document', NOTIFICATIONS, { ...nda, userId: 'bob', order: 'asc' }, IN_NDA],
];

const pages = (path: string, data: object) => customer.pages(path, { organizationId: 'acme', ...data });

const idOf = ({ annotationId, id, commentId }: any): unknown =>
  id ?? (annotationId === undefined ? commentId : annotationId);

describe('a list of several pages and more than 1 MB', () => {
  test.each(lists)('has responses below 5 MB and returns each record once for %s', async (_what, path, data, count) => {
    const whole = (await pages(path, data)).flat();
    expect(Buffer.byteLength(JSON.stringify(whole))).toBeGreaterThan(1.5 * MEGABYTE);
    expect([whole.length, new Set(whole.map(idOf)).size]).toEqual([count, count]);
    const parts = await pages(path, { ...data, pageSize: 10 });
    expect(parts.length).toBeGreaterThan(2);
    expect(parts.flat().map(idOf)).toEqual(whole.map(idOf));
  });

  test('of user data contains each record once, in responses below 5 MB, without a pageSize', async () => {
    for (const [userId, counts] of [
      ['ada', [COUNT, 0, COUNT, COUNT]],
      ['bob', [2 * COUNT, 0, 0, COUNT]],
    ] as const) {
      const userDataPages = await pages('/v2/users/data/get', { userId });
      expect(userDataPages.length).toBeGreaterThan(2);
      const kinds = ['comments', 'reactions', 'recordings', 'notifications'].map((kind) =>
        userDataPages.flatMap((page) => page[kind]),
      );
      expect(kinds.map((records) => records.length)).toEqual(counts);
      expect(
        kinds.map(
          (records) =>
            new Set(records.map(({ annotationId, id, commentId }: any) => `${id ?? annotationId}/${commentId}`)).size,
        ),
      ).toEqual(counts);
    }
  });

  test('of v1/notifications/get contains the latest notifications that fit into the response', async () => {
    const { status, body } = await customer.call('/v1/notifications/get', {
      organizationId: 'acme',
      documentId: 'nda',
    });
    expect([status, Buffer.byteLength(JSON.stringify(body)) < 5 * MEGABYTE]).toEqual([200, true]);
    const latest = numbered('x', COUNT)
      .filter((_id, index) => index < 14 || index >= 28)
      .toReversed();
    const listedIds = body.result.data.map(idOf);
    expect(listedIds).toEqual(latest.slice(0, listedIds.length));
    expect(listedIds.length).toBeGreaterThan(20);
  });
});
