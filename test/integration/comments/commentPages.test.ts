import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Table } from '../../../lib/table/table.ts';
import { acmeWorld } from '../../support/acmeWorld.ts';
import { nda } from '../../support/content.ts';
import { putItem } from '../../support/items.ts';
import { addThreads, commentCalls, thread } from '../../support/threads.ts';
import { times } from '../../support/times.ts';

const { engine, customer, itemsOf } = acmeWorld({ table: 'memory', documents: ['nda'] });

const ada = { userId: 'ada' };
const bob = { userId: 'bob' };
const eve = { userId: 'eve' };
const GET = '/v2/commentannotations/comments/get';
const inThread = { ...nda, annotationId: 'thread' };

const { add, get, error } = commentCalls(customer, 'thread');
const reply = (commentText: string, changes: object = {}) => ({ commentText, from: bob, ...changes });

beforeEach(() => addThreads(customer, ['thread']));

describe('pages of POST /v2/commentannotations/comments/get', () => {
  /** Returns the ids of each page. */
  const pages = async (data: object): Promise<number[][]> =>
    (await customer.pages(GET, { ...inThread, ...data })).map((page) => page.map(({ commentId }: any) => commentId));

  test('list comments in the order of their ids', async () => {
    await add(...[100, 9, 20, 3, 1_000, 7].map((commentId) => reply('x', { commentId })));
    expect(await pages({ pageSize: 2 })).toEqual([[1, 3], [7, 9], [20, 100], [1_000]]);
    expect(await pages({ pageSize: 7 })).toEqual([[1, 3, 7, 9, 20, 100, 1_000]]);
  });

  test('contain fewer comments if reactions are large, and omit reactions of a comment that do not fit', async () => {
    const ids = times(12, (index) => index + 1);
    await add(...times(11, () => reply('x')));
    await Promise.all(
      ids.map((commentId) =>
        customer.addReactions(
          times(3, (index) => ({
            annotationId: `${commentId}-${index}`,
            icon: '👍',
            from: ada,
            commentAnnotationId: 'thread',
            commentId,
          })),
        ),
      ),
    );
    const fromUsers = times(20, (user) => ({
      from: { userId: `user-${user}`, photoUrl: '字'.repeat(2_048), name: '字'.repeat(512), initial: '字'.repeat(512) },
      lastUpdated: 1,
    }));
    for (const item of await itemsOf('Reaction')) await putItem(engine, { ...item, fromUsers });
    const all = await pages({});
    expect(all.length).toBeGreaterThan(1);
    expect(all.flat()).toEqual(ids);
    const [{ reactionAnnotationIds, reactionAnnotations }] = await get({ commentIds: [7] });
    expect(reactionAnnotationIds).toEqual(['7-0', '7-1', '7-2']);
    expect(reactionAnnotations.map(({ annotationId, fromUsers }: any) => [annotationId, fromUsers.length])).toEqual([
      ['7-0', 20],
      ['7-1', 20],
    ]);
  });

  test('contain every comment of the given authors, although one page reads only part of the thread', async () => {
    const text = 'x'.repeat(30 * 1024);
    for (let i = 0; i < 8; i++) await add(...times(20, () => reply(text)), reply('rare', { from: eve }));
    const all = await pages({ userIds: ['eve'], pageSize: 3 });
    expect(all.flat()).toEqual([22, 43, 64, 85, 106, 127, 148, 169]);
    expect(all.every((page) => page.length <= 3)).toBe(true);
    expect(all.length).toBeLessThan(8);
  });

  test.each([[undefined], [['bob']], [['eve']]])(
    'read a thread once in pages of 10 with userIds %j',
    async (userIds) => {
      for (let i = 0; i < 10; i++) await add(...times(18, () => reply('x')), reply('rare', { from: eve }));
      const query = jest.spyOn(Table.prototype, 'query');
      const all = await pages({ userIds, pageSize: 10 });
      const reads = await Promise.all(query.mock.results.map(({ value }) => value as ReturnType<Table['query']>));
      query.mockRestore();
      expect(all.flat()).toHaveLength(userIds?.[0] === 'eve' ? 10 : userIds ? 180 : 191);
      expect(reads.flatMap(({ values }) => values).length).toBeLessThan(2 * 191);
    },
  );

  test('reject the page token of a thread that was deleted and added again', async () => {
    await add(reply('a'));
    const { nextPageToken: pageToken } = await customer.result(GET, { ...inThread, pageSize: 1 });
    await customer.ok('/v2/commentannotations/delete', { ...nda, annotationIds: ['thread'] });
    await addThreads(customer, [thread('thread', { commentData: [reply('a'), reply('b'), reply('c')] })]);
    expect((await error('get', { pageToken }))[1]).toBe('INVALID_ARGUMENT');
  });
});
