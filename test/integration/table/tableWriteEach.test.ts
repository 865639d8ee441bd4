import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import type { Stored } from '../../../lib/table/entity.ts';
import { withRetryContext } from '../../../lib/table/retryOnConflict.ts';
import { insert, replace, Table, upsert } from '../../../lib/table/table.ts';
import { writeEach } from '../../../lib/table/writeEach.ts';
import { forAllTests, table } from '../../support/acmeWorld.ts';
import { startEngine } from '../../support/engine.ts';
import { asDocumentClient } from '../../support/leanClient.ts';
import { tenantEntity } from '../../support/tenantEntity.ts';
import { times } from '../../support/times.ts';
import { virtualTime } from '../../support/virtualTime.ts';

const Tally = tenantEntity('TestTally', { id: z.string(), count: z.number() }, (key: { id: string }) => [key.id]);
type StoredTally = Stored<{ id: string; count: number }> | undefined;

forAllTests(() => startEngine({ sdk: true }));

const names = (count: number) => times(count, (i) => `${i}`);

/**
 * Adds one to each of the named tallies. Returns the new counts. A tally that conflicts until the end gets `busy`
 * instead.
 */
function addToEach(tenant: string, items: readonly string[]): Promise<(number | 'busy')[]> {
  return writeEach<string, StoredTally, number | 'busy'>({
    table,
    items,
    read: (ids) =>
      table.getMany(
        Tally,
        ids.map((id) => ({ tenant, id })),
      ),
    decide: (id, stored) => {
      const count = (stored?.count ?? 0) + 1;
      const value = { tenant, id, count };
      return { result: count, ops: [stored ? replace(Tally, value, stored._r) : insert(Tally, value)] };
    },
    conflicted: () => 'busy',
  });
}

/** Returns the stored counts of the named tallies. */
async function counts(tenant: string, items: readonly string[]): Promise<number[]> {
  return (
    await table.getMany(
      Tally,
      items.map((id) => ({ tenant, id })),
    )
  ).map((tally) => tally?.count ?? 0);
}

describe('writeEach on the table engine', () => {
  test('writes every item and returns its result at the position of the item', async () => {
    expect(await addToEach('plain', names(75))).toEqual(names(75).map(() => 1));
    expect(await addToEach('plain', ['80', '3', '81'])).toEqual([1, 2, 1]);
    expect(await counts('plain', [...names(75), '80', '81'])).toEqual(names(77).map((id) => (id === '3' ? 2 : 1)));
  });

  test('stores each successful write once under real conflicts', async () => {
    const items = names(40);
    const calls = await Promise.all(
      times(6, (shift) => {
        const mine = items.slice(shift).concat(items.slice(0, shift)); // Each call has the names in another order.
        return addToEach('shared', mine).then((results) => new Map(mine.map((id, index) => [id, results[index]])));
      }),
    );
    const done = items.map((id) => calls.map((results) => results.get(id)).filter((result) => result !== 'busy'));
    expect(await counts('shared', items)).toEqual(done.map(({ length }) => length));
    // Every successful call on a tally returned another count, from 1 upwards.
    for (const seen of done) expect(seen.toSorted()).toEqual(seen.map((_, index) => index + 1));
  });

  test('makes no call without items', async () => {
    expect(await addToEach('empty', [])).toEqual([]);
  });
});

describe('writeEach on a scripted table', () => {
  /** Returns a table whose transactions fail with conflicts on the keys that `conflicting` returns. */
  function scripted(conflicting: (keys: string[], transaction: number) => string[]) {
    const transactions: string[][] = [];
    const client = {
      async send({ input }: { input: { TransactItems?: { Put: { Item: { SK: string } } }[]; Item?: { SK: string } } }) {
        const keys = input.TransactItems?.map(({ Put }) => Put.Item.SK) ?? [input.Item!.SK];
        transactions.push(keys);
        const conflicts = conflicting(keys, transactions.length);
        if (conflicts.length === 0) return {};
        throw new TransactionCanceledException({
          message: 'cancelled',
          $metadata: {},
          CancellationReasons: keys.map((key) => ({ Code: conflicts.includes(key) ? 'TransactionConflict' : 'None' })),
        });
      },
    };
    return { table: new Table(asDocumentClient(client), 'table'), transactions };
  }

  /** Writes `width` items for each name. Returns how often `decide` was called for each name. */
  async function run(stub: Table, items: readonly string[], width = 1) {
    const decisions = new Map<string, number>();
    const reads: string[][] = [];
    const results = await writeEach<string, undefined, string>({
      table: stub,
      items,
      read: async (ids) => {
        reads.push([...ids]);
        return ids.map(() => undefined);
      },
      decide: (id) => {
        decisions.set(id, (decisions.get(id) ?? 0) + 1);
        return {
          result: `done ${id}`,
          ops: times(width, (part) => upsert(Tally, { tenant: 't', id: width === 1 ? id : `${id}.${part}`, count: 0 })),
        };
      },
      conflicted: (id) => `busy ${id}`,
    });
    return { results, decided: decisions, reads };
  }

  test('puts at most 30 writes into a transaction', async () => {
    const { table: stub, transactions } = scripted(() => []);
    await run(stub, names(95));
    expect(transactions.map(({ length }) => length).toSorted((a, b) => b - a)).toEqual([30, 30, 30, 5]);
    expect(transactions.flat().toSorted()).toEqual(names(95).toSorted());
  });

  test('puts all writes of one item into one transaction', async () => {
    const { table: stub, transactions } = scripted(() => []);
    await run(stub, names(10), 7);
    for (const keys of transactions) {
      expect(keys.length).toBeLessThanOrEqual(30);
      for (const item of new Set(keys.map((key) => key.split('.')[0])))
        expect(keys.filter((key) => key.startsWith(`${item}.`))).toHaveLength(7);
    }
    expect(transactions.flat()).toHaveLength(70);
  });

  test('sends no transaction if no item has a write', async () => {
    const { table: stub, transactions } = scripted(() => []);
    const { results } = await run(stub, names(3), 0);
    expect(results).toEqual(['done 0', 'done 1', 'done 2']);
    expect(transactions).toEqual([]);
  });

  test('reads and decides again only for the items of a conflicting transaction', async () => {
    const { table: stub, transactions } = scripted((keys, transaction) =>
      transaction <= 2 && keys.includes('5') ? ['5'] : [],
    );
    const { results, decided, reads } = await run(stub, names(60));
    expect(results).toEqual(names(60).map((id) => `done ${id}`));
    expect(reads.map((ids) => ids.length)).toEqual([60, 30]);
    expect(names(60).map((id) => decided.get(id))).toEqual(names(60).map((id) => (Number(id) < 30 ? 2 : 1)));
    // The conflicting item is retried in its own write, so that the other items cannot fail again.
    expect(
      transactions
        .slice(2)
        .map((keys) => keys.length)
        .toSorted(),
    ).toEqual([1, 29]);
    expect(transactions.slice(2)).toContainEqual(['5']);
  });

  test('fails only for the item that still conflicts after 8 s', async () => {
    const { table: stub, transactions } = scripted((keys) => keys.filter((key) => key === '1'));
    const time = virtualTime();
    const { results, decided } = await time.run(() => run(stub, names(3)));
    expect(results).toEqual(['done 0', 'busy 1', 'done 2']);
    expect(time.sleeps.reduce((sum, pause) => sum + pause, 0)).toBe(8_000);
    // The write is tried three times without a pause, and then once after each pause.
    expect([decided.get('1'), decided.get('0')]).toEqual([3 + time.sleeps.length, 2]);
    expect(transactions.filter((keys) => keys.includes('1'))).toHaveLength(3 + time.sleeps.length);
  });

  test('retries for 8 s after a first attempt that took longer', async () => {
    let now = 0;
    const sleep = async (milliseconds: number) => {
      now += milliseconds;
    };
    const { table: stub } = scripted((keys, transaction) => {
      if (transaction === 1) now += 9_000;
      return transaction <= 4 ? keys : [];
    });
    const { results } = await withRetryContext({ clock: () => now, sleep }, () => run(stub, names(1)));
    expect(results).toEqual(['done 0']);
  });

  test('rethrows an error of the table', async () => {
    const client = {
      send: async () => {
        throw new Error('The table is away');
      },
    };
    await expect(run(new Table(asDocumentClient(client), 'table'), names(3))).rejects.toThrow('The table is away');
  });
});
