import { describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import {
  allDocuments,
  givenDocuments,
  listAcrossDocuments,
  type ListedDocument,
  listingCursor,
  type ListingPage,
  type RecordPageOptions,
} from '../../../lib/content/recordListing.ts';
import type { RecordPage } from '../../../lib/table/recordPage.ts';
import { testAsyncProperty } from '../../support/testProperty.ts';
import { times } from '../../support/times.ts';

type Records = Map<string, string[]>;

const documentOf = (documentId: string): ListedDocument => ({
  documentId,
  scope: { tenant: 't', organizationKey: 'o', documentKey: `internal ${documentId}` },
});

/** Returns a reader of records in memory. A page has at most `most` records, and only those that match. */
function reader(
  records: Records,
  {
    most = Infinity,
    matches = () => true,
    size = 1,
  }: { most?: number; matches?: (record: string) => boolean; size?: number } = {},
) {
  const reads: string[] = [];
  const read = async (
    { documentId }: ListedDocument,
    { after, limit }: RecordPageOptions,
  ): Promise<RecordPage<string>> => {
    reads.push(documentId);
    const remainingRecords = (records.get(documentId) ?? [])
      .toSorted()
      .filter((record) => after === undefined || record > after);
    const looked = remainingRecords.slice(0, most);
    const matchingRecords = looked.filter(matches).slice(0, limit);
    const end = matchingRecords.length === limit ? matchingRecords.at(-1) : looked.at(-1);
    return {
      records: matchingRecords.map((record) => ({ key: record, value: `${documentId}/${record}`.padEnd(size) })),
      next: end === undefined || end === remainingRecords.at(-1) ? undefined : end,
      bytes: looked.length * size,
    };
  };
  return { read, reads };
}

/** Lists records across documents. */
const list = (
  documents: Parameters<typeof listAcrossDocuments>[0]['documents'] | readonly string[],
  limit: number,
  read: ReturnType<typeof reader>['read'],
  between?: (page: number) => void,
) =>
  pages(
    (from) =>
      listAcrossDocuments({
        documents: 'list' in documents ? documents : givenDocuments(documents.map(documentOf)),
        from,
        limit,
        read,
      }),
    between,
  );

/** Returns the pages of a listing. Calls `between` after each page. */
async function pages(
  list: (from: ListingPage<string>['next']) => Promise<ListingPage<string>>,
  between: (page: number) => void = () => undefined,
): Promise<string[][]> {
  const listedPages: string[][] = [];
  let next: ListingPage<string>['next'];
  do {
    const page = await list(next && listingCursor.position(listingCursor.of(next)));
    listedPages.push(page.values);
    next = page.next;
    between(listedPages.length);
  } while (next);
  return listedPages;
}

const name = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '#', '~', 'ä'), minLength: 1, maxLength: 3 });
const someRecords = fc
  .dictionary(name, fc.uniqueArray(name, { maxLength: 12 }), { maxKeys: 12 })
  .map((object): Records => new Map(Object.entries(object)));
const inOrder = (records: Records) =>
  [...records]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([documentId, keys]) => keys.toSorted().map((key) => `${documentId}/${key}`));

describe('listAcrossDocuments', () => {
  testAsyncProperty(
    'returns every matching record once in order, in full pages, even if each query returns only a few records',
    [someRecords, fc.integer({ min: 1, max: 7 }), fc.constantFrom(1, 2, 3, 4, Infinity), fc.option(name)],
    async (records, limit, most, unwanted) => {
      const matches = (record: string) => unwanted === null || record[0] !== unwanted[0];
      const listedPages = await list([...records.keys()], limit, reader(records, { most, matches }).read);
      expect(listedPages.flat()).toEqual(
        inOrder(new Map([...records].map(([documentId, keys]) => [documentId, keys.filter(matches)]))),
      );
      expect(listedPages.slice(0, -1).every((page) => page.length === limit)).toBe(true);
      if (unwanted === null && listedPages.length > 1) expect(listedPages.at(-1)).not.toHaveLength(0);
    },
  );

  testAsyncProperty(
    'returns every earlier record exactly once, although records are added between the pages',
    [someRecords, someRecords, fc.integer({ min: 1, max: 5 })],
    async (records, others, limit) => {
      const there = inOrder(records);
      const living: Records = new Map([...records].map(([documentId, keys]) => [documentId, [...keys]]));
      const source = {
        list: (from: string | undefined) => givenDocuments([...living.keys()].map(documentOf)).list(from),
      };
      const listedPages = await list(source, limit, reader(living).read, (page) => {
        if (page > 1) return;
        for (const [documentId, keys] of others)
          living.set(documentId, [...new Set([...(living.get(documentId) ?? []), ...keys])]);
      });
      expect(new Set(listedPages.flat()).size).toBe(listedPages.flat().length);
      expect(listedPages.flat().filter((record) => there.includes(record))).toEqual(there);
    },
  );

  test('continues after a document that was deleted between two pages', async () => {
    const records: Records = new Map([
      ['a', ['1', '2', '3']],
      ['b', ['4']],
    ]);
    const { read } = reader(records);
    const of = (...ids: string[]) => ({ documents: givenDocuments(ids.map(documentOf)), limit: 2, read });
    const { values, next } = await listAcrossDocuments(of('a', 'b'));
    expect(values).toEqual(['a/1', 'a/2']);
    expect(await listAcrossDocuments({ ...of('b'), from: next })).toEqual({ values: ['b/4'], next: undefined });
  });

  test('ends a page at about 4 MB and returns a larger record alone', async () => {
    const records: Records = new Map([['a', ['1', '2', '3', '4', '5']]]);
    const sized = (size: number) => list(['a'], 10, reader(records, { size }).read);
    expect((await sized(1_500_000)).map((page) => page.length)).toEqual([2, 2, 1]);
    expect((await sized(4_500_000)).map((page) => page.length)).toEqual([1, 1, 1, 1, 1]);
  });

  test('ends a page after 32 MB without a match, and continues there', async () => {
    const records: Records = new Map([['a', times(100, (i) => String(i).padStart(3, '0'))]]);
    const { read, reads } = reader(records, { most: 1, matches: (record) => record === '099', size: 1_000_000 });
    const listedPages = await list(['a'], 10, read);
    expect(listedPages.map((page) => page.map((value) => value.trim()))).toEqual([[], [], [], ['a/099']]);
    expect(reads).toHaveLength(100);
  });

  test('ends a page after 500 documents, and stops reading after a batch that fills the page', async () => {
    const ids = times(1_200, (i) => String(i).padStart(4, '0'));
    const empty = reader(new Map([['1199', ['x']]]));
    expect(await list(ids, 10, empty.read)).toEqual([[], [], ['1199/x']]);
    expect(empty.reads).toHaveLength(1_200);
    const full = reader(new Map(ids.map((id) => [id, ['x', 'y', 'z']])));
    await listAcrossDocuments({ documents: givenDocuments(ids.map(documentOf)), limit: 2, read: full.read });
    expect(full.reads).toEqual(['0000', '0001', '0002', '0003']);
  });
});

describe('allDocuments', () => {
  const scope = { tenant: 't', organizationKey: 'o' };

  /** Returns a document reader that lists `atOnce` documents at a time. It omits documents in deleted folders. */
  function documents(ids: readonly string[], atOnce: number, deletedIds: ReadonlySet<string>) {
    const all = ids.toSorted().map((documentId) => ({ documentId, internalId: `internal ${documentId}` }));
    const isLive = ({ documentId }: { documentId: string }) => !deletedIds.has(documentId);
    return {
      getWithFolders: async (_scope: unknown, ids: readonly string[]) =>
        ids.map((id) => all.filter(isLive).find(({ documentId }) => documentId === id)),
      async list(_scope: unknown, { after }: { after?: string | undefined }) {
        const remaining = all.filter(({ documentId }) => after === undefined || documentId > after);
        const page = remaining.slice(0, atOnce);
        return {
          values: page.filter(isLive),
          next: remaining.length > atOnce ? page.at(-1)?.documentId : undefined,
          lastId: page.at(-1)?.documentId,
        };
      },
    } as unknown as Parameters<typeof allDocuments>[0];
  }

  testAsyncProperty(
    'lists all documents except those in deleted folders, even if many are consecutive',
    [
      fc.uniqueArray(fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 4 }), {
        maxLength: 20,
      }),
      fc.func(fc.boolean()),
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 3 }),
    ],
    async (all, isDeleted, atOnce, limit) => {
      const deletedIds = new Set(all.filter((id) => isDeleted(id)));
      const records: Records = new Map(all.map((id) => [id, ['1', '2']]));
      const listedPages = await list(
        allDocuments(documents(all, atOnce, deletedIds), scope),
        limit,
        reader(records).read,
      );
      expect(listedPages.flat()).toEqual(inOrder(new Map([...records].filter(([id]) => !deletedIds.has(id)))));
    },
  );

  test('ends a page after 50 queries that return only documents in deleted folders', async () => {
    const ids = times(121, (i) => String(i).padStart(4, '0'));
    const reading = documents(ids, 1, new Set(ids.slice(0, -1)));
    const listed = jest.spyOn(reading, 'list');
    const queries: number[] = [];
    const { read } = reader(new Map([['0120', ['x']]]));
    const listedPages = await list(allDocuments(reading, scope), 10, read, () =>
      queries.push(listed.mock.calls.length),
    );
    expect([listedPages, queries]).toEqual([
      [[], [], ['0120/x']],
      [50, 100, 121],
    ]);
  });

  test('returns the internal ids of the documents', async () => {
    const source = allDocuments(documents(['a'], 10, new Set()), scope);
    expect(await source.list(undefined)).toEqual({
      documents: [{ documentId: 'a', scope: { ...scope, documentKey: 'internal a' } }],
      more: false,
      lastId: 'a',
    });
  });
});
