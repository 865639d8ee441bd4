import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { insert, remove } from '../../../lib/table/table.ts';
import { WebhookEndpointEntity } from '../../../lib/webhooks/endpoints.ts';
import { acmeWorld, table } from '../../support/acmeWorld.ts';
import { times } from '../../support/times.ts';
import { newWebhookCustomer, paths } from '../../support/webhooks.ts';

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
  test('returns 50 endpoints by default and up to 250', async () => {
    await add(...ids(0, 120));
    const { status, body } = await customer.call(paths.list, {});
    expect({ status, ...body.result }).toMatchObject({
      status: 'success',
      message: 'Advanced webhook endpoints retrieved successfully.',
    });
    expect(body.result.data.endpoints.map(({ id }: any) => id)).toEqual(ids(0, 50));
    expect(await list({ limit: 250 })).toEqual({ ids: ids(0, 120), iterator: null, prevIterator: null, done: true });
    expect((await list({ limit: 120 })).done).toBe(true);
    expect((await list({ limit: 119 })).done).toBe(false);
  });

  test('returns an empty last page and the iterator of the previous page if all later endpoints are deleted', async () => {
    await add(...ids(0, 20));
    const first = await list({ limit: 10 });
    await drop(...ids(10, 20));
    const lastPage = await list({ limit: 10, iterator: first.iterator });
    expect(lastPage).toMatchObject({ ids: [], iterator: null, done: true });
    expect((await list({ limit: 10, iterator: lastPage.prevIterator })).ids).toEqual(ids(0, 10));
    await drop(...ids(0, 10));
    await add(...ids(20, 40));
    // No endpoint comes before the position any more, so the list begins again.
    expect(await list({ limit: 10, iterator: lastPage.prevIterator })).toMatchObject({
      ids: ids(20, 30),
      prevIterator: null,
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
