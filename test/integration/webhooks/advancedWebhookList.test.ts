import { describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { insert, remove } from '../../../lib/table/table.ts';
import { WebhookEndpointEntity } from '../../../lib/webhooks/endpoints.ts';
import { acmeWorld, table } from '../../support/acmeWorld.ts';
import { times } from '../../support/times.ts';
import { newWebhookCustomer, outcome, paths } from '../../support/webhooks.ts';

const { customer, useNewCustomer } = acmeWorld({ newCustomer: newWebhookCustomer });

interface WebhookPage {
  readonly ids: string[];
  readonly iterator: string | null;
  readonly prevIterator: string | null;
  readonly done: boolean;
}

async function list(data: object = {}): Promise<WebhookPage> {
  const { endpoints, ...rest } = await customer.ok(paths.list, data);
  return { ids: endpoints.map(({ id }: any) => id), ...rest };
}

const idOf = (n: number) => `ep_${String(n).padStart(27, '0')}`;
const ids = (from: number, to: number) => times(to - from, (i) => idOf(from + i));

/** Creates endpoints with these ids. Lists are in the order of the ids. */
async function add(...endpointIds: string[]): Promise<void> {
  for (const endpointId of endpointIds) {
    await table.write([
      insert(WebhookEndpointEntity, {
        tenant: customer.apiKey,
        endpointId,
        url: 'https://example.com',
        disabled: false,
        secrets: [],
        createdAt: 0,
        updatedAt: 0,
      }),
    ]);
  }
}

async function drop(...endpointIds: string[]): Promise<void> {
  for (const endpointId of endpointIds)
    await table.write([remove(WebhookEndpointEntity, { tenant: customer.apiKey, endpointId })]);
}

describe('POST /v2/workspace/advancedwebhook/endpoints/get', () => {
  test('returns an empty list without a next page if no endpoint exists', async () => {
    const { status, body } = await customer.call(paths.list, {});
    expect({ status, ...body.result }).toEqual({
      status: 'success',
      message: 'Advanced webhook endpoints retrieved successfully.',
      data: { endpoints: [], iterator: null, prevIterator: null, done: true },
    });
  });

  test('returns endpoints with all fields, oldest first', async () => {
    const clock = Date.now();
    const made = [];
    for (const description of ['first', 'second', 'third'])
      made.push(await customer.ok(paths.create, { url: 'https://example.com', description }));
    const { endpoints } = await customer.ok(paths.list, {});
    expect(endpoints).toHaveLength(3);
    expect(endpoints).toEqual(expect.arrayContaining(made));
    expect(Date.parse(endpoints[0].createdAt)).toBeGreaterThanOrEqual(clock);
  });

  test('returns 50 endpoints by default and up to 250', async () => {
    await add(...ids(0, 120));
    expect((await list()).ids).toEqual(ids(0, 50));
    expect(await list({ limit: 250 })).toEqual({ ids: ids(0, 120), iterator: null, prevIterator: null, done: true });
    expect((await list({ limit: 120 })).done).toBe(true);
    expect((await list({ limit: 119 })).done).toBe(false);
  });

  test('returns the same pages forward to the end and backward to the start', async () => {
    await add(...ids(0, 25));
    const forward = [await list({ limit: 10 })];
    while (!forward.at(-1)!.done) forward.push(await list({ limit: 10, iterator: forward.at(-1)!.iterator }));
    expect(forward.map((page) => page.ids)).toEqual([ids(0, 10), ids(10, 20), ids(20, 25)]);
    expect(forward.map(({ iterator, prevIterator, done }) => [iterator === null, prevIterator === null, done])).toEqual(
      [
        [false, true, false],
        [false, false, false],
        [true, false, true],
      ],
    );

    const back = [forward.at(-1)!];
    while (back.at(-1)!.prevIterator) back.push(await list({ limit: 10, iterator: back.at(-1)!.prevIterator }));
    expect(back.map((page) => page.ids)).toEqual([ids(20, 25), ids(10, 20), ids(0, 10)]);
    expect(back.at(-1)).toMatchObject({ prevIterator: null, done: false });
    // The iterator of the first page leads to the second page.
    const next = await list({ limit: 10, iterator: back.at(-1)!.iterator });
    expect(next.ids).toEqual(ids(10, 20));
  });

  test('accepts another limit for the next page', async () => {
    await add(...ids(0, 25));
    const first = await list({ limit: 3 });
    const second = await list({ limit: 20, iterator: first.iterator });
    expect(second.ids).toEqual(ids(3, 23));
    expect((await list({ limit: 2, iterator: second.prevIterator })).ids).toEqual(ids(1, 3));
  });

  test('returns later endpoints once while endpoints are added and deleted between pages', async () => {
    await add(...ids(10, 40));
    const first = await list({ limit: 8 });
    await drop(idOf(10), idOf(17), idOf(18)); // The deleted endpoints are the first and the last one of the first page, and the first one of the next page.
    await add(idOf(5), idOf(60));
    const second = await list({ limit: 8, iterator: first.iterator });
    expect(second.ids).toEqual(ids(19, 27));
    await drop(...second.ids);
    const third = await list({ limit: 8, iterator: second.iterator });
    expect(third.ids).toEqual(ids(27, 35));
    const last = await list({ limit: 8, iterator: third.iterator });
    expect(last).toMatchObject({ ids: [...ids(35, 40), idOf(60)], iterator: null, done: true });
    const before = await list({ limit: 8, iterator: third.prevIterator });
    expect(before.ids).toEqual([idOf(5), ...ids(11, 17)]);
    expect(before).toMatchObject({ prevIterator: null, done: false });
    expect((await list({ limit: 8, iterator: before.iterator })).ids).toEqual(third.ids);
  });

  test('returns an empty last page and the iterator of the previous page if all later endpoints are deleted', async () => {
    await add(...ids(0, 20));
    const first = await list({ limit: 10 });
    await drop(...ids(10, 20));
    const lastPage = await list({ limit: 10, iterator: first.iterator });
    expect(lastPage).toMatchObject({ ids: [], iterator: null, done: true });
    expect((await list({ limit: 10, iterator: lastPage.prevIterator })).ids).toEqual(ids(0, 10));
  });

  test('returns the new first page if all earlier endpoints are deleted', async () => {
    await add(...ids(0, 20));
    const second = await list({ limit: 10, iterator: (await list({ limit: 10 })).iterator });
    await drop(...ids(0, 10));
    expect(await list({ limit: 6, iterator: second.prevIterator })).toMatchObject({
      ids: ids(10, 16),
      prevIterator: null,
      done: false,
    });
    await drop(...ids(10, 20));
    expect(await list({ iterator: second.prevIterator })).toEqual({
      ids: [],
      iterator: null,
      prevIterator: null,
      done: true,
    });
    expect(await list({ iterator: second.iterator ?? second.prevIterator })).toEqual({
      ids: [],
      iterator: null,
      prevIterator: null,
      done: true,
    });
  });

  test('returns an iterator in each direction that has more endpoints, after any additions and deletions', async () => {
    const step = fc.record({
      move: fc.constantFrom('next', 'previous'),
      limit: fc.integer({ min: 1, max: 5 }),
      added: fc.integer({ min: 0, max: 40 }),
      dropped: fc.integer({ min: 0, max: 40 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.integer({ min: 0, max: 40 }), { maxLength: 15 }),
        fc.array(step, { maxLength: 8 }),
        async (initial, steps) => {
          await useNewCustomer();
          let stored = new Set(initial.map(idOf));
          await add(...stored);
          let page = await list({ limit: 4 });
          for (const { move, limit, added, dropped } of steps) {
            if (!stored.has(idOf(added))) await add(idOf(added));
            await drop(idOf(dropped));
            stored = new Set([...stored, idOf(added)].filter((id) => id !== idOf(dropped)));
            const all = [...stored].sort();
            const iterator = move === 'next' ? page.iterator : page.prevIterator;
            const from = move === 'next' ? page.ids.at(-1) : page.ids.at(0);
            page = await list({ limit, iterator: iterator ?? undefined });
            if (iterator && from !== undefined) {
              const expected =
                move === 'next'
                  ? all.filter((id) => id > from).slice(0, limit)
                  : all.filter((id) => id < from).slice(-limit);
              // If no endpoint comes before, the list returns the first page instead of an empty one.
              expect(page.ids).toEqual(move === 'previous' && expected.length === 0 ? all.slice(0, limit) : expected);
            }
            const [first, last] = [page.ids.at(0), page.ids.at(-1)];
            if (first !== undefined && last !== undefined) {
              expect([page.prevIterator !== null, page.iterator !== null, page.done]).toEqual([
                all[0]! < first,
                last < all.at(-1)!,
                last >= all.at(-1)!,
              ]);
            }
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  test('ends a page before the response exceeds 5 MB', async () => {
    const description = 'x'.repeat(32_000);
    const metadata = { note: 'x'.repeat(60_000) };
    const made: string[] = [];
    for (let i = 0; i < 60; i++)
      made.push((await customer.ok(paths.create, { url: 'https://example.com', description, metadata })).id);
    const seen: string[] = [];
    let page = await list({ limit: 250 });
    expect(page.done).toBe(false);
    for (seen.push(...page.ids); !page.done; seen.push(...page.ids))
      page = await list({ limit: 250, iterator: page.iterator });
    expect(seen).toEqual(made.sort());
  });
});

describe('the iterator of endpoints/get', () => {
  const refused = ['INVALID_ARGUMENT', 'iterator is not a token of this listing, or has expired'] as const;

  test('is rejected with the name of its field if it is damaged, expired or made up', async () => {
    await add(...ids(0, 3));
    const { iterator } = await list({ limit: 1 });
    const middle = Math.floor(iterator!.length / 2);
    const damaged = iterator!.slice(0, middle) + (iterator![middle] === 'A' ? 'B' : 'A') + iterator!.slice(middle + 1);
    for (const wrong of [damaged, iterator!.slice(4), `${iterator!}${iterator!}`, 'ep_1', 'AAAA']) {
      const { body } = await customer.call(paths.list, { iterator: wrong });
      expect([body.error.status, body.error.message, body.error.details.issues[0].path]).toEqual([
        ...refused,
        ['iterator'],
      ]);
    }
  });

  test('is valid for a day', async () => {
    await add(...ids(0, 3));
    const { iterator } = await list({ limit: 1 });
    const made = Date.now();
    const clock = jest.spyOn(Date, 'now');
    try {
      clock.mockReturnValue(made + 86_000_000);
      expect((await list({ iterator })).ids).toEqual(ids(1, 3));
      clock.mockReturnValue(made + 86_400_001);
      expect(await outcome(customer, paths.list, { iterator })).toEqual(refused);
    } finally {
      clock.mockRestore();
    }
  });

  test('is rejected if it belongs to another customer or another listing', async () => {
    await add(...ids(0, 3));
    const { iterator } = await list({ limit: 1 });
    expect(await outcome(await newWebhookCustomer(), paths.list, { iterator })).toEqual(refused);
    await customer.addOrganizations(['a', 'b']);
    const { nextPageToken } = (await customer.call('/v2/organizations/get', { pageSize: 1 })).body.result;
    expect(await outcome(customer, paths.list, { iterator: nextPageToken })).toEqual(refused);
  });

  test.each([
    ['limit 0', { limit: 0 }, 'limit must be at least 1'],
    ['limit 251', { limit: 251 }, 'limit must be at most 250'],
    ['limit 1.5', { limit: 1.5 }, 'limit must be an integer'],
    ['limit "5"', { limit: '5' }, 'limit must be a number'],
    ['an empty iterator', { iterator: '' }, 'iterator must not be empty'],
    ['an iterator that is a number', { iterator: 5 }, 'iterator must be a string'],
  ])('is rejected, like the limit, if its value is invalid: %s', async (_what, data, message) => {
    expect(await outcome(customer, paths.list, data)).toEqual(['INVALID_ARGUMENT', message]);
  });
});
