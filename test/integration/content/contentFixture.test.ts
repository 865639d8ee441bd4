import { beforeAll, describe, expect, test } from '@jest/globals';
import { acmeWorld } from '../../support/acmeWorld.ts';
import {
  buildContent,
  buildOrganization,
  documentIds,
  Fixture,
  folder,
  HANDBOOK,
  inAcme,
  locationKeys,
  MONA,
  type Place,
  runChanges,
  statusIds,
  tableLines,
  userIds,
} from '../../support/fixture.ts';
import { withStillClock } from '../../support/stillClock.ts';
import { times } from '../../support/times.ts';

const THREADS = '/v2/commentannotations/get';
const RECORDINGS = '/v2/recordings/get';
const NOTIFICATIONS = '/v2/notifications/get';
const ACTIVITIES = '/v2/activities/get';
const USER_DATA = '/v2/users/data/get';

const SEED = 20_261_121;

const { engine, customer } = acmeWorld({ table: 'memory', isShared: true });
let fixture: Fixture;
/** The number of items of each type before the test adds content. */
let initialCounts: Record<string, number>;

beforeAll(async () => {
  const documents = await buildOrganization(customer);
  initialCounts = (await tableLines(engine, customer)).others;
  fixture = new Fixture(customer, documents, SEED);
  await buildContent(fixture);
});

const place = (documentId: string): Place => fixture.documents.find((each) => each.documentId === documentId)!;
/** The ids of all documents except the one that has the longest thread. */
const otherDocumentIds = documentIds.filter((id) => id !== HANDBOOK);
const sortedIds = (records: readonly any[]): string[] =>
  records.map(({ annotationId, id }) => annotationId ?? id).sort();
const commentNames = (comments: readonly any[]): string[] =>
  comments.map(({ documentId, annotationId, commentId }) => `${documentId} ${annotationId}/${commentId}`).sort();
const pages = (path: string, data: object, between?: (count: number) => Promise<unknown>) =>
  customer.pages(path, { organizationId: 'acme', ...data }, between);
const listAll = async (path: string, data: object) => (await pages(path, data)).flat();

/**
 * Expects the table to match the ledger of the fixture. No orphans and no jobs may be left. Items of other types are as
 * many as at the start.
 */
async function expectTableToMatch(): Promise<void> {
  const {
    lines,
    // Events, and records of changed access, which serve the push channel, expire.
    others: {
      Event: _events,
      EventPayload: _payloads,
      ThreadAccessChange: _accessChanges,
      HiddenCommentDeletion: _hiddenDeletions,
      ThreadCounter: counters,
      ...others
    },
  } = await tableLines(engine, customer);
  const [stored, expected] = [new Set(lines), new Set(fixture.ledgerLines())];
  // Only the first differences, because a comparison of so many lines takes minutes.
  expect({
    missing: [...expected.difference(stored)].slice(0, 20),
    unexpected: [...stored.difference(expected)].slice(0, 20),
    count: lines.length,
  }).toEqual({ missing: [], unexpected: [], count: expected.size });
  // Each document has threads and therefore a counter of thread numbers.
  expect([counters, others]).toEqual([initialCounts.Document, initialCounts]);
}

describe('an organization with 300 threads, 2,000 comments and one thread of 1,000 comments', () => {
  test('is stored without missing or extra items', expectTableToMatch);

  test('returns for each user the content that the user created, is involved in and may read', async () => {
    const own = new Map<string, object>();
    await runChanges(
      userIds.map((userId) => async () => {
        const userDataPages = await pages(USER_DATA, { userId });
        const of = (kind: string) => userDataPages.flatMap((page) => page[kind]);
        own.set(userId, {
          comments: commentNames(of('comments')),
          reactions: sortedIds(of('reactions')),
          recordings: sortedIds(of('recordings')),
          notifications: sortedIds(of('notifications')),
        });
      }),
    );
    for (const userId of userIds) expect([userId, own.get(userId)]).toEqual([userId, fixture.dataOf(userId)]);
  });

  test.each(documentIds)('lists each thread of the document %s once with all of its fields', async (documentId) => {
    const listed = await listAll(THREADS, { documentId, pageSize: 25 });
    const rows = listed.map((thread: any) => ({
      id: thread.annotationId,
      from: thread.from.userId,
      statusId: thread.status.id,
      assignee: thread.assignedTo?.userId,
      scope: thread.locationId ?? undefined,
      comments: thread.comments.map(({ commentId, from }: any) => [commentId, from.userId]),
      counts: [thread.commentCount, thread.hasMoreComments],
      mentioned: thread.mentionedUserIds.toSorted(),
      involved: thread.involvedUserIds.toSorted(),
    }));
    const expected = fixture.threadsOf(place(documentId)).map((thread) => {
      const { id, from, comments, statusId, assignee, scope } = thread;
      const mentions = comments.flatMap((comment) => comment.mentions);
      const involved = [...comments.map((comment) => comment.from), ...mentions, ...(assignee ? [assignee] : [])];
      return {
        ...{ id, from, statusId, assignee, scope },
        comments: comments.map((comment) => [comment.commentId, comment.from]),
        counts: [comments.length, false],
        mentioned: [...new Set(mentions)].sort(),
        involved: [...new Set(involved)].sort(),
      };
    });
    const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
    expect(rows.map(({ id }) => id).sort()).toEqual(expected.map(({ id }) => id).sort());
    rows.sort(byId);
    for (const [index, thread] of expected.sort(byId).entries()) expect(rows[index]).toEqual(thread);
  });

  test.each<[userId: string, statuses: string[] | undefined]>([
    ...[MONA, 'user-00', 'user-34', '__proto__', 'nobody'].map((userId): [string, undefined] => [userId, undefined]),
    ...[...statusIds.map((id) => [id]), ['OPEN', 'RESOLVED']].map((ids): [string, string[]] => ['user-01', ids]),
  ])('counts the threads and the unread ones that %s may read, with the status %j', async (userId, statusIds) => {
    const counts = await customer.ok('/v2/commentannotations/count/get', {
      ...{ organizationId: 'acme', documentIds, userId },
      ...(statusIds && { statusIds }),
    });
    const expected = documentIds.map((documentId) => {
      const seen = fixture
        .threadsOf(place(documentId))
        .filter((thread) => fixture.canRead(userId, thread) && (statusIds?.includes(thread.statusId) ?? true));
      const unread = seen.filter(({ comments, added }) => {
        const takesPart = comments.some(({ from, mentions }) => [from, ...mentions].includes(userId));
        const own = takesPart ? added.filter(({ from }) => from === userId).map(({ call }) => call) : [];
        return comments.some(({ from, call }) => from !== userId && call > Math.max(0, ...own));
      });
      return [documentId, { total: seen.length, unread: unread.length }];
    });
    expect(counts).toEqual(Object.fromEntries(expected));
  });
});

describe('listings return each record exactly once during parallel changes', () => {
  const isVolatile = (id: string) => Number(/\d+$/.exec(id)?.[0]) % 3 === 0;
  const threadsIn = (documents: readonly string[]) =>
    inAcme(fixture.threads).filter(({ document }) => documents.includes(document.documentId));

  const listings: [title: string, path: string, data: object, inLedger: () => object[] | string[]][] = [
    ['the data of a user', USER_DATA, { userId: MONA }, () => fixture.dataOf(MONA).comments],
    [
      'the threads of some documents',
      THREADS,
      { documentIds: ['terms', 'nda', 'plan'], pageSize: 45 },
      () => threadsIn(['nda', 'plan', 'terms']),
    ],
    [
      'the threads of a folder, the oldest first',
      THREADS,
      { folderId: folder.folderId, order: 'asc', pageSize: 30 },
      () => threadsIn(folder.documentIds),
    ],
    ['the threads of an organization', THREADS, { pageSize: 90 }, () => threadsIn(documentIds)],
    [
      'the threads that mention a user',
      THREADS,
      { documentIds: otherDocumentIds, mentionedUserIds: [MONA], order: 'asc', pageSize: 25 },
      () =>
        threadsIn(otherDocumentIds).filter(({ comments }) => comments.some(({ mentions }) => mentions.includes(MONA))),
    ],
    ['the recordings of an organization', RECORDINGS, { pageSize: 20 }, () => inAcme(fixture.recordings)],
    [
      'the activities of an organization',
      ACTIVITIES,
      { featureTypes: ['custom'], order: 'asc', pageSize: 50 },
      () => inAcme(fixture.activities),
    ],
    [
      'the activities of a target',
      ACTIVITIES,
      { targetEntityId: 'target-1', pageSize: 20 },
      () => inAcme(fixture.activities).filter(({ target }) => target === 'target-1'),
    ],
    [
      'the notifications of an organization',
      NOTIFICATIONS,
      { order: 'asc', pageSize: 30 },
      () => inAcme(fixture.notifications),
    ],
    [
      'the notifications that name a user',
      NOTIFICATIONS,
      { userId: 'user-05', pageSize: 3 },
      () =>
        inAcme(fixture.notifications).filter(
          ({ notify, about }) => notify.includes('user-05') && (!about || fixture.canRead('user-05', about)),
        ),
    ],
  ];

  test.each(listings)('%s', async (_what, path, data, inLedger) => {
    const idsOf = (records: readonly any[]) => records.map((each) => each.annotationId ?? each.id ?? each);
    const idsBefore = idsOf(inLedger());
    const changes: Promise<void>[] = [];
    const listed = await pages(path, data, async (count) => {
      // The changes run while the next page is read.
      const document = place(['nda', 'terms', 'plan'][count % 3]!);
      changes.push(runChanges(fixture.planConcurrentChanges(document, isVolatile)));
    });
    await Promise.all(changes);
    expect(listed.length).toBeGreaterThan(2);
    const seen = listed.flatMap((page) => (path === USER_DATA ? commentNames(page.comments) : idsOf(page)));
    expect(seen.filter((id, index) => seen.indexOf(id) !== index)).toEqual([]);
    const lasting = idsOf(inLedger()).filter((id) => idsBefore.includes(id));
    expect(lasting.filter((id) => !seen.includes(id))).toEqual([]);
    expect(lasting.length).toBeGreaterThan(3);
  });

  test('the table contains exactly the records that the changes left', expectTableToMatch);
});

describe('deletions in a large organization', () => {
  test('of a location delete its records in all organizations, and no others', async () => {
    const [scope] = locationKeys as [string];
    const isAtLocation = (record: { document: Place; scope?: string | undefined }) =>
      record.document.documentId === 'nda' && record.scope === scope;
    const { threads, reactions, recordings, notifications } = fixture;
    const kinds = [threads, reactions, recordings, notifications].map((records) => records.filter(isAtLocation));
    expect(kinds.filter((records) => records.length === 0)).toEqual([]);
    expect(new Set(kinds.flat().map(({ document }) => document.organizationId))).toEqual(new Set(['acme', 'labs']));
    fixture.removeFromLedger(threads.filter(isAtLocation));
    fixture.reactions = fixture.reactions.filter((reaction) => !isAtLocation(reaction));
    fixture.recordings = recordings.filter((recording) => !isAtLocation(recording));
    fixture.notifications = notifications.filter((notification) => !isAtLocation(notification));
    const { apiKey, authToken } = customer;
    const data = { apiKey, authToken, documentId: 'nda', location: { id: scope } };
    await withStillClock(() => customer.ok('/v1/organizations/documents/locations/data/delete', data));
    await expectTableToMatch();
  });

  test('of all threads of a document delete comments, ids, reactions and involvements, and no other records', async () => {
    const threads = fixture.threadsOf(place(HANDBOOK));
    const slices = times(Math.ceil(threads.length / 30), (index) => threads.slice(index * 30, (index + 1) * 30));
    await runChanges(slices.map((slice) => fixture.removeThreads(slice)));
    await expectTableToMatch();
    expect(await listAll(THREADS, { documentId: HANDBOOK })).toEqual([]);
  });
});
