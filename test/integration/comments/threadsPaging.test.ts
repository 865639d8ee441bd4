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

  test.each([[1], [2], [7], [24], [25], [1_000]])(
    'lists every thread once in pages of %s, newest first, with comments in order',
    async (pageSize) => {
      const listedPages = await threadPages(customer, { ...nda, pageSize });
      expect(idsIn(listedPages.flat())).toEqual(all.toReversed());
      expect(listedPages.map(({ length }) => length)).toEqual([
        ...times(Math.ceil(all.length / pageSize) - 1, () => pageSize),
        all.length % pageSize || Math.min(pageSize, all.length),
      ]);
      for (const { annotationId, comments, commentCount, hasMoreComments } of listedPages.flat()) {
        expect(comments.map(({ commentText }: any) => commentText)).toEqual(
          comments.map((_each: unknown, position: number) => `${annotationId}-${position}`),
        );
        expect([comments.length, hasMoreComments]).toEqual([commentCount, false]);
      }
    },
  );

  test.each([
    [{}, 28],
    [{ createdAfter: 1_003, createdBefore: 1_009 }, 28],
    [{ userIds: ['ada'] }, 2_000],
  ])('reads few items for a small page, and more only with filters: %j', async (filters, limit) => {
    const queries = jest.spyOn(Table.prototype, 'query');
    await customer.ok(GET, { ...nda, ...filters, pageSize: 1 });
    expect(queries.mock.calls.at(-1)?.[2]).toMatchObject({ descending: true, limit });
  });

  test('lists the oldest thread first with order: asc', async () => {
    expect(idsIn((await threadPages(customer, { ...nda, order: 'asc', pageSize: 10 })).flat())).toEqual(all);
  });

  test.each(['asc', 'desc'])(
    'filters by creation time with order %s, inclusive start and exclusive end',
    async (order) => {
      const listedPages = await threadPages(customer, {
        ...nda,
        order,
        createdAfter: 1_003,
        createdBefore: 1_009,
        pageSize: 5,
      });
      expect(idsIn(listedPages.flat()).toSorted()).toEqual(all.slice(6, 18));
      expect(
        idsIn(
          (await threadPages(customer, { ...nda, order, createdAfter: '1970-01-01T00:00:01.011Z' })).flat(),
        ).toSorted(),
      ).toEqual(all.slice(22));
      expect(idsIn((await threadPages(customer, { ...nda, order, createdBefore: 1_001 })).flat()).toSorted()).toEqual(
        all.slice(0, 2),
      );
      for (const nothing of [
        { createdAfter: 2_000 },
        { createdBefore: 1_000 },
        { createdAfter: 1_005, createdBefore: 1_005 },
        { createdAfter: 1_009, createdBefore: 1_003 },
      ])
        expect(await threadPages(customer, { ...nda, order, ...nothing })).toEqual([[]]);
    },
  );

  test('lists each thread once while threads are added, changed and deleted', async () => {
    const busy = await newCustomer();
    await addThreads(
      busy,
      all.map((id, index) => thread(id, { createdAt: 1_000 + index })),
    );
    for (const order of ['asc', 'desc']) {
      const listedPages = await threadPages(busy, { ...nda, order, pageSize: 4 }, async (page) => {
        await addThreads(busy, [
          thread(`new-${order}-${page}`, { createdAt: page % 2 ? 1 : 5_000 }),
          thread(`amid-${order}-${page}`, { createdAt: 1_012 }),
        ]);
        await busy.ok('/v2/commentannotations/update', {
          ...nda,
          annotationIds: all.slice(0, 20),
          updatedData: { status: `S${page}`, location: { id: page } },
        });
        await busy.untyped('/v2/commentannotations/comments/add', {
          ...nda,
          annotationId: all[page],
          commentData: times(20, () => comment()),
        });
        await busy.ok('/v2/commentannotations/delete', { ...nda, annotationIds: [`new-${order}-${page}`] });
      });
      const seen = idsIn(listedPages.flat());
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen.filter((id) => all.includes(id)).toSorted()).toEqual(all);
    }
  });

  test('rejects a page token of another listing, tenant or order', async () => {
    const { nextPageToken: pageToken } = (await customer.call(GET, { ...nda, pageSize: 1 })).body.result;
    await customer.ok('/v2/organizations/documents/add', {
      organizationId: nda.organizationId,
      documents: [{ documentId: 'lease' }],
      folderId: 'contracts',
      createFolder: true,
    });
    expect((await customer.call(GET, { ...nda, pageSize: 5, pageToken })).status).toBe(200);
    for (const other of [
      { order: 'asc' },
      { statusIds: ['OPEN'] },
      { createdAfter: 5 },
      { documentId: undefined },
      { documentId: undefined, documentIds: ['nda'] },
      { documentId: 'lease' },
      { documentId: undefined, folderId: 'contracts' },
      { groupByDocumentId: true, userIds: ['ada'] },
    ]) {
      const { status, body } = await customer.call(GET, { ...nda, pageToken, ...other });
      expect({ status, path: body.error?.details.issues[0].path }).toEqual({ status: 400, path: ['pageToken'] });
    }
    const stranger = await newCustomer();
    await addThreads(stranger, ['a']);
    expect((await stranger.call(GET, { ...nda, pageToken })).status).toBe(400);
  });
});

describe('POST /v2/commentannotations/get of large threads', () => {
  test('lists every thread once in responses below 5 MB', async () => {
    const customer = await newCustomer();
    const all = numbered('big', 60);
    const commentData = [
      comment({ commentText: 'x'.repeat(30_000), commentHtml: 'ü'.repeat(15_000) }),
      comment({ commentText: 'y'.repeat(30_000) }),
    ];
    for (let i = 0; i < all.length; i += 20)
      await addThreads(
        customer,
        all.slice(i, i + 20).map((id, index) => thread(id, { createdAt: 1_000 + i + index, commentData })),
      );
    for (const order of ['asc', 'desc']) {
      const listedPages = await threadPages(customer, { ...nda, order });
      expect(listedPages.length).toBeGreaterThan(1);
      expect(idsIn(listedPages.flat())).toEqual(order === 'asc' ? all : all.toReversed());
      for (const page of listedPages) expect(JSON.stringify(page).length).toBeLessThan(5_000_000);
      for (const { comments } of listedPages.flat())
        expect(comments.map(({ commentText }: any) => commentText[0])).toEqual(['x', 'y']);
    }
  });

  test('returns a thread by id whose comments have large access contexts', async () => {
    const customer = await newCustomer();
    const context = { access: { f: times(200, (index) => `${index}`.padEnd(300, 'x')) } };
    const commentData = times(45, () => comment({ context }));
    await addLongThread(customer, { ...thread('secret', { context }), commentData });
    const { status, body } = await customer.call('/v2/commentannotations/get', { ...nda, annotationIds: ['secret'] });
    expect(status).toBe(200);
    expect(body.result.data[0]).toMatchObject({ annotationId: 'secret', hasMoreComments: true });
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
    await addThreads(
      customer,
      numbered('before', 3).map((id, index) => thread(id, { createdAt: 10 + index })),
    );
    await addLongThread(customer, { ...thread('whale', { createdAt: 100 }), commentData: large });
    await addThreads(
      customer,
      numbered('after', 3).map((id, index) => thread(id, { createdAt: 200 + index })),
    );
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
          whale.comments.map((_each: unknown, index: number) => index + 1),
        );
        expect(threads.filter(({ hasMoreComments }) => hasMoreComments)).toHaveLength(1);
      }
      expect(idsIn((await threadPages(customer, { ...nda, order, userIds: ['nobody'] })).flat())).toEqual([]);
    }
    const [whale] = await customer.ok(GET, { ...nda, annotationIds: ['whale'] });
    expect([whale.comments.length > 4, whale.hasMoreComments]).toEqual([true, true]);
    const { nextPageToken, data } = (
      await customer.call('/v2/commentannotations/comments/get', { ...nda, annotationId: 'whale', pageSize: 20 })
    ).body.result;
    expect([data.length, typeof nextPageToken]).toEqual([20, 'string']);
  });
});
