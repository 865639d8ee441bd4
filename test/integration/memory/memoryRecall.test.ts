import { beforeAll, describe, expect, test } from '@jest/globals';
import { acmeWorld, table } from '../../support/acmeWorld.ts';
import { newCustomer } from '../../support/customer.ts';
import {
  FIRST_DAY,
  manyJudgments,
  numbers,
  putMany,
  queryOf,
  rankedExactly,
  type SentJudgment,
} from '../../support/memory.ts';
import { times } from '../../support/times.ts';

const DAY_MS = 24 * 60 * 60_000;
const COUNT = 1_000;
const LIMIT = 10;

const { engine, customer } = acmeWorld({ isShared: true, table: 'memory' });
/** The number of SearchVectors calls since a test last set it to 0. */
let searches = 0;
/** In twelve documents, such as `document-2a`, and in none. */
const judgments = manyJudgments(COUNT).map((judgment, n) => ({
  ...judgment,
  documentId: judgment.documentId && `${judgment.documentId}${'abc'[n % 3]}`,
}));
let stored: readonly SentJudgment[] = [];
beforeAll(() => {
  const { client } = table.connection;
  const send = client.send.bind(client) as (command: unknown) => Promise<unknown>;
  Object.assign(client, {
    send: (command: object) => {
      if (command.constructor.name.startsWith('SearchVectors')) searches += 1;
      return send(command);
    },
  });
});

const search = (data: object) => customer.result('/v2/memory/search', { limit: LIMIT, ...data });

/**
 * Sends two searches and ranks the same vectors exactly. Returns the share of the exact results that the searches
 * found (`recall`), and the number of judgments that match the filters.
 */
async function recall(
  seed: number,
  data: object,
  meets: (judgment: SentJudgment) => boolean,
): Promise<{ recall: number; matches: number }> {
  const random = numbers(seed);
  let [hits, expected] = [0, 0];
  const matching = stored.filter(meets);
  for (let n = 0; n < 2; n++) {
    const query = queryOf(random);
    const exact = rankedExactly(matching, query, LIMIT);
    const ids = (await search({ query, ...data })).results.map(({ recordId }: { recordId: string }) => recordId);
    expect(ids).toEqual(exact);
    hits += exact.filter((id) => ids.includes(id)).length;
    expected += exact.length;
  }
  return { recall: expected === 0 ? 1 : hits / expected, matches: matching.length };
}

const timeAfterDays = (days: number) => FIRST_DAY + days * DAY_MS;
const between = (start: number, end: number) => ({
  data: { filters: { dateRange: { start, end } } },
  meets: ({ createdAt }: SentJudgment) => createdAt >= start && createdAt <= end,
});
const inDocuments = (documentIds: readonly string[]) => ({
  data: { organizationId: 'acme', documentIds },
  meets: ({ documentId = '' }: SentJudgment) => documentIds.includes(documentId),
});
const threeDocuments = inDocuments(['document-0a', 'document-2b', 'document-3c']);
const sixDocuments = inDocuments(['0a', '0b', '1c', '2a', '2c', '3b'].map((name) => `document-${name}`));
const filtered: readonly [string, object, (judgment: SentJudgment) => boolean][] = [
  ['100 %', {}, () => true],
  ['10 %', { filters: { decision: 'tenth' } }, ({ decision }) => decision === 'tenth'],
  ['1 %', { filters: { contentType: 'hundredth' } }, ({ contentType }) => contentType === 'hundredth'],
  ['0.1 %', { filters: { reviewerId: 'thousandth' } }, ({ actionUser }) => actionUser.userId === 'thousandth'],
  [
    'a document',
    { organizationId: 'acme', documentId: 'document-2a' },
    ({ documentId }) => documentId === 'document-2a',
  ],
  ['three documents', threeDocuments.data, threeDocuments.meets],
  ['six documents', sixDocuments.data, sixDocuments.meets],
  [
    'all documents but one',
    { filters: { excludeDocumentIds: ['document-2a'] } },
    ({ documentId }) => documentId !== 'document-2a',
  ],
];
const ranges: readonly [string, number, number][] = [
  ['an hour', timeAfterDays(100) + 7_200_000, timeAfterDays(100) + 3 * 3_600_000],
  ['a day', timeAfterDays(100), timeAfterDays(101) - 1],
  ['two days across the end of a year', timeAfterDays(364), timeAfterDays(366) - 1],
  ['three weeks', timeAfterDays(40.3), timeAfterDays(61.9)],
  ['four months', timeAfterDays(200), timeAfterDays(320)],
  ['all but a day', timeAfterDays(0.5), timeAfterDays(729.5)],
];

describe.each([800, COUNT])('POST /v2/memory/search over %i judgments', (count) => {
  beforeAll(async () => {
    await putMany(engine.lean, customer, 'acme', judgments.slice(stored.length, count));
    stored = judgments.slice(0, count);
  });

  test.each(filtered)('finds all nearest judgments among the %s that match the filter', async (_what, data, meets) => {
    const { recall: reached, matches } = await recall(3, data, meets);
    expect(reached).toBe(1);
    expect(matches).toBeGreaterThan(0);
  });
});

describe('POST /v2/memory/search with a date range', () => {
  test.each(ranges)('finds all nearest judgments in %s, also with another filter', async (_what, start, end) => {
    const { data, meets } = between(start, end);
    expect((await recall(5, data, meets)).recall).toBe(1);
    for (const documents of [threeDocuments, sixDocuments]) {
      const meetsBoth = (judgment: SentJudgment) => meets(judgment) && documents.meets(judgment);
      expect((await recall(9, { ...data, ...documents.data }, meetsBoth)).recall).toBe(1);
    }
    const both = { filters: { ...data.filters, decision: 'tenth' } };
    expect((await recall(7, both, (judgment) => meets(judgment) && judgment.decision === 'tenth')).recall).toBe(1);
  });
});

describe('SearchVectors calls of POST /v2/memory/search', () => {
  const searchesOf = async (data: object) => {
    searches = 0;
    const { results } = await search(data);
    return { searches, resultCount: results.length };
  };

  test('are one without a date range, and one for a whole day, month or year', async () => {
    for (const { data } of [
      { data: {} },
      between(timeAfterDays(100), timeAfterDays(101) - 1),
      between(timeAfterDays(31), timeAfterDays(59) - 1),
      between(timeAfterDays(0), timeAfterDays(365) - 1),
    ])
      expect((await searchesOf({ query: 'price of a label', ...data })).searches).toBe(1);
  });

  test('are one for each of up to four documents, and one for more that are among the nearest', async () => {
    const query = 'price of a label';
    expect((await searchesOf({ query, ...threeDocuments.data })).searches).toBe(3);
    expect((await searchesOf({ query, ...sixDocuments.data })).searches).toBe(1);
    expect(await searchesOf({ query, ...sixDocuments.data, limit: 50 })).toEqual({ searches: 7, resultCount: 50 });
  });

  test('are more for other date ranges, at most 64', async () => {
    const weeks = between(timeAfterDays(40.3), timeAfterDays(61.9));
    const result = await searchesOf({ query: 'price of a label', ...weeks.data, limit: 50 });
    expect(result.resultCount).toBe(Math.min(50, judgments.filter(weeks.meets).length));
    expect(result.searches).toBeGreaterThan(1);
    expect(result.searches).toBeLessThanOrEqual(64);
  });

  test('find nothing of a deleted document, and equal similarities are ordered newest first', async () => {
    const other = await newCustomer();
    const same = times(300, (n): SentJudgment => ({
      documentId: n === 150 ? 'kept' : 'gone',
      recordId: `same-${n}`,
      decision: 'approved',
      reasoning: 'always the same',
      contentType: 'text',
      actionUser: { userId: 'ada' },
      createdAt: timeAfterDays(n % 4) + n,
    }));
    await putMany(engine.lean, other, 'acme', same);
    const searchIds = async (limit: number) =>
      (await other.call('/v2/memory/search', { query: 'always the same', limit })).body.result.results.map(
        ({ recordId }: { recordId: string }) => recordId,
      );
    const latest = await searchIds(50);
    expect(latest).toEqual(await searchIds(50));
    const moments = latest.map((id: string) => same.find(({ recordId }) => recordId === id)!.createdAt);
    expect(moments).toEqual(moments.toSorted((a: number, b: number) => b - a));
    await other.ok('/v2/organizations/documents/delete', { organizationId: 'acme', documentIds: ['gone'] });
    expect(await searchIds(50)).toEqual(['same-150']);
  });
});
