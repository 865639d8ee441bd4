import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Table } from '../../../lib/table/table.ts';
import { forAllTests } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { newCustomer } from '../../support/customer.ts';
import { startEngine } from '../../support/engine.ts';
import { addLongThread, addThreads, comment, idsIn, numbered, thread, threadPages } from '../../support/threads.ts';
import { times } from '../../support/times.ts';

const GET = '/v2/commentannotations/get';

forAllTests(() => startEngine({ table: 'memory' }));
afterEach(() => void jest.restoreAllMocks());

describe('POST /v2/commentannotations/get of one document', () => {
  const customer = forAllTests(newCustomer);
  const all = numbered('t', 25);
  beforeAll(async () => {
    await addThreads(
      customer,
      all.map((id, index) =>
        thread(id, {
          createdAt: 1_000 + Math.floor(index / 2),
          commentData: times(1 + (index % 4), (position) => comment({ commentText: `${id}-${position}` })),
        }),
      ),
    );
  });

  test('lists every thread once in pages, newest first, with comments in order', async () => {
    const listedPages = await threadPages(customer, { ...nda, pageSize: 7 });
    expect(listedPages.map(({ length }) => length)).toEqual([7, 7, 7, 4]);
    expect(idsIn(listedPages.flat())).toEqual(all.toReversed());
    for (const { annotationId, comments, commentCount, hasMoreComments } of listedPages.flat()) {
      expect(comments.map(({ commentText }: any) => commentText)).toEqual(
        times(commentCount, (position) => `${annotationId}-${position}`),
      );
      expect(hasMoreComments).toBe(false);
    }
  });

  test.each([
    [{}, 28],
    [{ createdAfter: 1_003, createdBefore: 1_009 }, 28],
    [{ userIds: ['ada'] }, 2_000],
  ])('reads few items for a small page, and more only with filters: %j', async (filters, limit) => {
    const queries = jest.spyOn(Table.prototype, 'query');
    await customer.ok(GET, { ...nda, ...filters, pageSize: 1 });
    expect(queries.mock.calls.at(-1)?.[2]).toMatchObject({ descending: true, limit });
  });

  test.each(['asc', 'desc'])(
    'filters by creation time with order %s, inclusive start and exclusive end',
    async (order) => {
      const idsWith = async (filters: object) =>
        idsIn((await threadPages(customer, { ...nda, order, pageSize: 5, ...filters })).flat()).toSorted();
      expect(await idsWith({ createdAfter: 1_003, createdBefore: 1_009 })).toEqual(all.slice(6, 18));
      expect(await idsWith({ createdAfter: '1970-01-01T00:00:01.011Z' })).toEqual(all.slice(22));
      expect(await idsWith({ createdBefore: 1_001 })).toEqual(all.slice(0, 2));
      for (const nothing of [
        { createdAfter: 2_000 },
        { createdBefore: 1_000 },
        { createdAfter: 1_005, createdBefore: 1_005 },
        { createdAfter: 1_009, createdBefore: 1_003 },
      ])
        expect(await threadPages(customer, { ...nda, order, ...nothing })).toEqual([[]]);
    },
  );
});

describe('POST /v2/commentannotations/get of large threads', () => {
  test('returns a thread by id whose comments have large access contexts', async () => {
    const customer = await newCustomer();
    const context = { access: { f: times(200, (index) => `${index}`.padEnd(300, 'x')) } };
    const commentData = times(45, () => comment({ context }));
    await addLongThread(customer, { ...thread('secret', { context }), commentData });
    const [secret] = await customer.ok(GET, { ...nda, annotationIds: ['secret'] });
    expect(secret).toMatchObject({ annotationId: 'secret', hasMoreComments: true });
  });

  test('returns the first comments of a thread of more than 4 MB with hasMoreComments', async () => {
    const customer = await newCustomer();
    const large = times(45, (index) =>
      comment({
        commentText: `${index}`.padEnd(32_000, 'x'),
        commentHtml: 'y'.repeat(32_000),
        attachments: [{ note: 'z'.repeat(40_000) }],
      }),
    );
    const addSmall = (prefix: string, createdAt: number) =>
      addThreads(
        customer,
        numbered(prefix, 3).map((id, index) => thread(id, { createdAt: createdAt + index })),
      );
    await addSmall('before', 10);
    await addLongThread(customer, { ...thread('whale', { createdAt: 100 }), commentData: large });
    await addSmall('after', 200);
    for (const [order, expected] of [
      ['asc', [...numbered('before', 3), 'whale', ...numbered('after', 3)]],
      ['desc', [...numbered('after', 3).reverse(), 'whale', ...numbered('before', 3).reverse()]],
    ] as const) {
      for (const pageSize of [2, 1_000]) {
        const threads = (await threadPages(customer, { ...nda, order, pageSize })).flat();
        expect(idsIn(threads)).toEqual(expected);
        const whale = threads.find(({ annotationId }) => annotationId === 'whale');
        expect([whale.commentCount, whale.hasMoreComments]).toEqual([45, true]);
        expect(whale.comments.length).toBeGreaterThan(4);
        expect(whale.comments.map(({ commentId }: any) => commentId)).toEqual(
          times(whale.comments.length, (index) => index + 1),
        );
        expect(threads.filter(({ hasMoreComments }) => hasMoreComments)).toHaveLength(1);
      }
      expect(idsIn((await threadPages(customer, { ...nda, order, userIds: ['nobody'] })).flat())).toEqual([]);
    }
    const [whale] = await customer.ok(GET, { ...nda, annotationIds: ['whale'] });
    expect([whale.comments.length > 4, whale.hasMoreComments]).toEqual([true, true]);
  });
});
