import { expect } from '@jest/globals';
import fc from 'fast-check';
import { queryShardsPage } from '../../../lib/table/queryShards.ts';
import type { Table } from '../../../lib/table/table.ts';
import { testAsyncProperty } from '../../support/testProperty.ts';

/** Entry `i` of the sort keys is in the shard that `shards[i]` names. */
function tableOf(sortKeys: readonly string[], shards: readonly number[]): Pick<Table, 'queryIndex'> {
  return {
    async queryIndex(_index, [shard], { between: [from, to] = ['', ''], limit, descending }) {
      const inRange = sortKeys
        .filter((key, i) => String(shards[i]) === shard && key >= from && key <= to)
        .sort((a, b) => (a < b === descending ? 1 : -1));
      const page = inRange.slice(0, limit);
      const next = inRange.length > limit ? page.at(-1) : undefined;
      return { keys: page.map((key) => ({ PK: key, SK: key })), sortKeys: page, positions: page, next };
    },
  };
}

testAsyncProperty(
  'pages of several partitions have each entry once, in order, and at least perShard entries if more follow',
  [
    fc.uniqueArray(fc.integer({ min: 100, max: 999 }).map(String), { maxLength: 60 }),
    fc.array(fc.nat({ max: 3 }), { minLength: 60, maxLength: 60 }),
    fc.integer({ min: 1, max: 5 }),
    fc.boolean(),
  ],
  async (sortKeys, shards, perShard, descending) => {
    const partitions = [0, 1, 2, 3].map((shard) => [String(shard)]);
    const read: string[] = [];
    let after: string | undefined;
    do {
      const query = { between: ['200', '799'], after, perShard, descending } as const;
      const page = await queryShardsPage(tableOf(sortKeys, shards), 'gsi4', partitions, query);
      read.push(...page.entries.map(({ position }) => position));
      after = page.next;
      if (after !== undefined) expect(page.entries.length).toBeGreaterThanOrEqual(perShard);
    } while (after !== undefined);
    const expected = sortKeys.filter((key) => key >= '200' && key <= '799').sort();
    expect(read).toEqual(descending ? expected.toReversed() : expected);
  },
);
