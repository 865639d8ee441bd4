import { beforeAll, describe, expect, test } from '@jest/globals';
import { acmeWorld } from '../../support/acmeWorld.ts';
import {
  buildContent,
  buildOrganization,
  differenceOf,
  type DocumentIds,
  documentIds,
  Fixture,
  folder,
  HANDBOOK,
  locationKeys,
  MONA,
  type PlannedChange,
  runChanges,
  statusIds,
  tableLines,
  userIds,
} from '../../support/fixture.ts';
import { withStillClock } from '../../support/stillClock.ts';
import { times } from '../../support/times.ts';

const THREADS = '/v2/commentannotations/get';
const COMMENTS = '/v2/commentannotations/comments/get';
const RECORDINGS = '/v2/recordings/get';
const NOTIFICATIONS = '/v2/notifications/get';
const ACTIVITIES = '/v2/activities/get';
const USER_DATA = '/v2/users/data/get';

const SEED = 20_261_121;
const MAX_ITEMS = 20_000;
const noDifference = { missing: [], unexpected: [] };

const { engine, customer } = acmeWorld({ table: 'memory', isShared: true });
let fixture: Fixture;
/** The number of items of each type before the test adds content. */
let initialCounts: Record<string, number>;

beforeAll(async () => {
  await buildOrganization(customer);
  initialCounts = (await tableLines(engine, customer)).others;
  fixture = new Fixture(customer, SEED);
  await buildContent(fixture);
});

const inAcme = (documentId: string): DocumentIds => ({ organizationId: 'acme', documentId });
/** The ids of all documents except the one that has the longest thread. */
const otherDocumentIds = documentIds.filter((id) => id !== HANDBOOK);
const ofAcme = <T extends { document: DocumentIds }>(records: readonly T[]) =>
  records.filter(({ document }) => document.organizationId === 'acme');
const longestThread = () => fixture.threads.find(({ comments }) => comments.length === 1_000)!;
const sortedIds = (records: readonly any[]): string[] =>
  records.map(({ annotationId, id }) => annotationId ?? id).sort();

/** Returns the pages of a listing. Calls `between` at the same time as it requests the next page. */
async function pages(
  path: string,
  data: object,
  between: (page: number) => Promise<unknown> = async () => undefined,
): Promise<any[]> {
  const listedPages: any[] = [];
  let pageToken: string | undefined;
  do {
    const beside = listedPages.length > 0 ? between(listedPages.length) : undefined;
    const { status, body } = await customer.call(path, { organizationId: 'acme', ...data, pageToken });
    await beside;
    expect({ status, error: body.error }).toEqual({ status: 200, error: undefined });
    expect(JSON.stringify(body).length).toBeLessThan(5_000_000);
    listedPages.push(body.result.data);
    pageToken = body.result.nextPageToken ?? body.result.pageToken ?? undefined;
  } while (pageToken !== undefined);
  return listedPages;
}

const listAll = async (path: string, data: object) => (await pages(path, data)).flat();

/**
 * Expects the table to match the ledger of the fixture. No orphans and no jobs may be left. Each change that asked for
 * an event has one. Items of other types are as many as at the start.
 */
async function expectTableToMatch(): Promise<void> {
  const {
    lines,
    events,
    payloads,
    // Records of changed access serve the push channel and expire.
    others: {
      Event: _,
      ThreadAccessChange: _accessChanges,
      HiddenCommentDeletion: _hiddenDeletions,
      EventPayload: _payloads,
      ThreadCounter: counters,
      ...others
    },
  } = await tableLines(engine, customer);
  expect(differenceOf(lines, fixture.ledgerLines())).toEqual(noDifference);
  expect(events).toEqual(Object.fromEntries(fixture.events));
  const expectedEvents = [...fixture.events.values()].reduce((sum, count) => sum + count, 0);
  // Each document has threads and therefore a counter of thread numbers.
  expect([payloads, counters, others]).toEqual([expectedEvents, initialCounts.Document, initialCounts]);
  expect(lines.length + 2 * expectedEvents).toBeLessThan(MAX_ITEMS);
}

describe('an organization with 300 threads, 2,000 comments and one thread of 1,000 comments', () => {
  test('contains at least the expected numbers of threads, comments, mentions, users and documents', () => {
    const threads = ofAcme(fixture.threads);
    const comments = threads.flatMap((thread) => thread.comments);
    expect(threads.length).toBeGreaterThanOrEqual(300);
    expect(Math.max(...threads.map((thread) => thread.comments.length))).toBe(1_000);
    expect(comments.length).toBeGreaterThanOrEqual(3_000);
    expect(comments.filter(({ mentions }) => mentions.includes(MONA))).toHaveLength(250);
    expect([userIds.length, documentIds.length]).toEqual([40, 5]);
  });

  test(
    'is stored without missing or extra items, and with one event per change with triggerNotification',
    expectTableToMatch,
  );

  test('returns for each user the content that the user created, is involved in and may read', async () => {
    const own = new Map<string, ReturnType<Fixture['dataOf']>>();
    await runChanges(
      userIds.map((userId): PlannedChange => async () => {
        const userDataPages = await pages(USER_DATA, { userId });
        const of = (kind: string) => userDataPages.flatMap((page) => page[kind]);
        own.set(userId, {
          comments: of('comments')
            .map(({ documentId, annotationId, commentId }) => `${documentId} ${annotationId}/${commentId}`)
            .sort(),
          reactions: sortedIds(of('reactions')),
          recordings: sortedIds(of('recordings')),
          notifications: sortedIds(of('notifications')),
        });
        if (userId === MONA) expect(userDataPages.map(({ comments }) => comments.length)).toEqual([100, 100, 50]);
      }),
    );
    for (const userId of userIds) expect([userId, own.get(userId)]).toEqual([userId, fixture.dataOf('acme', userId)]);
  });

  test.each(documentIds)('lists each thread of the document %s once with all of its fields', async (documentId) => {
    const threads = fixture.threadsOf(inAcme(documentId));
    const threadsById = new Map(
      (await listAll(THREADS, { documentId, pageSize: 25 })).map((thread: any) => [thread.annotationId, thread]),
    );
    expect([...threadsById.keys()].sort()).toEqual(sortedIds(threads));
    for (const { annotationId, from, comments, statusId, assignee, scope } of threads) {
      const { commentCount, comments: shownComments, hasMoreComments, ...thread } = threadsById.get(annotationId);
      expect([
        annotationId,
        thread.from.userId,
        thread.status.id,
        thread.assignedTo?.userId,
        thread.locationId,
      ]).toEqual([annotationId, from, statusId, assignee, scope ?? null]);
      expect([
        commentCount,
        hasMoreComments,
        shownComments.map(({ commentId, from: author }: any) => [commentId, author.userId]),
      ]).toEqual([comments.length, false, comments.map((comment) => [comment.commentId, comment.from])]);
      expect(thread.mentionedUserIds.toSorted()).toEqual(
        [...new Set(comments.flatMap(({ mentions }) => mentions))].sort(),
      );
      expect(thread.involvedUserIds.toSorted()).toEqual(
        [
          ...new Set([
            ...comments.flatMap((comment) => [comment.from, ...comment.mentions]),
            ...(assignee === undefined ? [] : [assignee]),
          ]),
        ].sort(),
      );
    }
  });

  test('counts the threads of documents by status for users with and without private threads', async () => {
    const users = [MONA, 'user-00', 'user-34', '__proto__', 'nobody'].map((userId) => ({
      userId,
      selectedStatusIds: undefined,
      documents: documentIds,
    }));
    const byStatus = [...statusIds.map((id) => [id]), ['OPEN', 'RESOLVED']].map((selectedStatusIds) => ({
      userId: 'user-01',
      selectedStatusIds,
      documents: otherDocumentIds,
    }));
    for (const { userId, selectedStatusIds, documents } of [...users, ...byStatus]) {
      const counts = await customer.ok('/v2/commentannotations/count/get', {
        organizationId: 'acme',
        documentIds: documents,
        userId,
        statusIds: selectedStatusIds,
      });
      const expected = documents.map((documentId) => {
        const seen = fixture
          .threadsOf(inAcme(documentId))
          .filter(
            (thread) => fixture.canRead(userId, thread) && (selectedStatusIds?.includes(thread.statusId) ?? true),
          );
        const unread = seen.filter(({ comments, added }) => {
          const takesPart = comments.some(({ from, mentions }) => [from, ...mentions].includes(userId));
          const own = takesPart ? added.filter(({ from }) => from === userId).map(({ call }) => call) : [];
          return comments.some(({ from, call }) => from !== userId && call > Math.max(0, ...own));
        });
        return [documentId, { total: seen.length, unread: unread.length }];
      });
      expect([userId, selectedStatusIds, counts]).toEqual([userId, selectedStatusIds, Object.fromEntries(expected)]);
    }
  });
});

describe('listings return each record exactly once during parallel changes', () => {
  const isVolatile = (id: string) => Number(/\d+$/.exec(id)?.[0]) % 3 === 0;
  const threadsIn = (documents: readonly string[]) =>
    ofAcme(fixture.threads).filter(({ document }) => documents.includes(document.documentId));
  const ids = (records: readonly { document: DocumentIds }[], documentId?: string) =>
    sortedIds(ofAcme(records).filter(({ document }) => documentId === undefined || document.documentId === documentId));

  type Listing = [
    title: string,
    path: string,
    data: () => object,
    pageSize: number,
    inLedger: () => string[],
    idsOf: (page: any) => string[],
  ];
  const threadsOf = (title: string, data: object, pageSize: number, ids: readonly string[]): Listing => [
    title,
    THREADS,
    () => data,
    pageSize,
    () => sortedIds(threadsIn(ids)),
    sortedIds,
  ];
  const recordsOf = (
    title: string,
    path: string,
    data: object,
    pageSize: number,
    inLedger: () => string[],
  ): Listing => [title, path, () => data, pageSize, inLedger, sortedIds];

  const listings: Listing[] = [
    [
      'the data of a user',
      USER_DATA,
      () => ({ userId: MONA }),
      100,
      () => fixture.dataOf('acme', MONA).comments,
      (page) =>
        page.comments.map(
          ({ documentId, annotationId, commentId }: any) => `${documentId} ${annotationId}/${commentId}`,
        ),
    ],
    threadsOf('the threads of a document', { documentId: 'nda' }, 14, ['nda']),
    threadsOf('the threads of a document, the oldest first', { documentId: 'nda', order: 'asc' }, 14, ['nda']),
    threadsOf('the threads of some documents', { documentIds: ['terms', 'nda', 'plan'] }, 45, ['nda', 'plan', 'terms']),
    threadsOf('the threads of a folder', { folderId: folder.folderId, order: 'asc' }, 30, folder.documentIds),
    threadsOf('the threads of an organization', {}, 90, documentIds),
    recordsOf(
      'the threads that mention a user',
      THREADS,
      { documentIds: otherDocumentIds, mentionedUserIds: [MONA], order: 'asc' },
      25,
      () =>
        sortedIds(
          threadsIn(otherDocumentIds).filter(({ comments }) =>
            comments.some(({ mentions }) => mentions.includes(MONA)),
          ),
        ),
    ),
    [
      'the comments of a thread',
      COMMENTS,
      () => ({ documentId: HANDBOOK, annotationId: longestThread().annotationId }),
      300,
      () => longestThread().comments.map(({ commentId }) => String(commentId)),
      (page) => page.map(({ commentId }: any) => String(commentId)),
    ],
    recordsOf('the recordings of a document', RECORDINGS, { documentId: 'nda' }, 4, () =>
      ids(fixture.recordings, 'nda'),
    ),
    recordsOf('the recordings of an organization', RECORDINGS, {}, 20, () => ids(fixture.recordings)),
    recordsOf('the activities of a document', ACTIVITIES, { documentId: 'nda', featureTypes: ['custom'] }, 12, () =>
      ids(fixture.activities, 'nda'),
    ),
    recordsOf('the activities of an organization', ACTIVITIES, { featureTypes: ['custom'], order: 'asc' }, 50, () =>
      ids(fixture.activities),
    ),
    recordsOf('the activities of a target', ACTIVITIES, { targetEntityId: 'target-1' }, 20, () =>
      ids(fixture.activities.filter(({ target }) => target === 'target-1')),
    ),
    recordsOf('the notifications of a document', NOTIFICATIONS, { documentId: 'nda' }, 7, () =>
      ids(fixture.notifications, 'nda'),
    ),
    recordsOf('the notifications of an organization', NOTIFICATIONS, { order: 'asc' }, 30, () =>
      ids(fixture.notifications),
    ),
    recordsOf('the notifications that name a user', NOTIFICATIONS, { userId: 'user-05' }, 3, () =>
      ids(
        fixture.notifications.filter(
          ({ notify, about }) => notify.includes('user-05') && (!about || fixture.canRead('user-05', about)),
        ),
      ),
    ),
  ];

  test.each(listings)('%s', async (_what, path, data, pageSize, inLedger, idsOf) => {
    const idsBefore = inLedger();
    const listedPages = await pages(path, { ...data(), ...(path === USER_DATA ? {} : { pageSize }) }, (page) =>
      runChanges(fixture.planConcurrentChanges(inAcme(['nda', 'terms', 'plan'][page % 3]!), isVolatile)),
    );
    const lastingIds = new Set(inLedger()).intersection(new Set(idsBefore));
    expect(listedPages.length).toBeGreaterThan(2);
    const seen: string[] = listedPages.flatMap(idsOf);
    expect(seen.filter((id) => seen.indexOf(id) !== seen.lastIndexOf(id))).toEqual([]);
    expect([...lastingIds].filter((id) => !seen.includes(id))).toEqual([]);
    expect(lastingIds.size).toBeGreaterThan(3);
  });

  test('the table contains exactly the records that the changes left', expectTableToMatch);
});

describe('deletions in a large organization', () => {
  test('of a location delete its records in all organizations, and no others', async () => {
    const [scope] = locationKeys as [string];
    const isAtLocation = (record: { document: DocumentIds; scope: string | undefined }) =>
      record.document.documentId === 'nda' && record.scope === scope;
    const kinds = [fixture.threads, fixture.reactions, fixture.recordings, fixture.notifications].map((records) =>
      records.filter(isAtLocation),
    );
    expect(kinds.filter((records) => records.length === 0)).toEqual([]);
    expect(new Set(kinds.flat().map(({ document }) => document.organizationId))).toEqual(new Set(['acme', 'labs']));
    fixture.removeFromLedger(fixture.threads.filter(isAtLocation));
    fixture.reactions = fixture.reactions.filter((reaction) => !isAtLocation(reaction));
    fixture.recordings = fixture.recordings.filter((recording) => !isAtLocation(recording));
    fixture.notifications = fixture.notifications.filter((notification) => !isAtLocation(notification));
    const { apiKey, authToken } = customer;
    await withStillClock(() =>
      customer.ok('/v1/organizations/documents/locations/data/delete', {
        apiKey,
        authToken,
        documentId: 'nda',
        location: { id: scope },
      }),
    );
    await expectTableToMatch();
  });

  test('of all threads of a document delete comments, ids, reactions and involvements, and no other records', async () => {
    const threads = fixture.threadsOf(inAcme(HANDBOOK));
    const slices = times(Math.ceil(threads.length / 30), (index) => threads.slice(index * 30, (index + 1) * 30));
    await runChanges(slices.map((slice) => fixture.removeThreads(slice)));
    await expectTableToMatch();
    expect(await listAll(THREADS, { documentId: HANDBOOK })).toEqual([]);
    expect(sortedIds(await listAll(RECORDINGS, { documentId: HANDBOOK }))).toEqual(
      sortedIds(fixture.recordings.filter(({ document }) => document.documentId === HANDBOOK)),
    );
  });
});
