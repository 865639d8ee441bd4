import type { IndexName } from '../app/capability.ts';
import type { Key } from './entity.ts';
import type { Table } from './table.ts';

export interface IndexEntry {
  readonly key: Key;
  readonly position: string;
}

interface ShardedQuery {
  readonly between: readonly [from: string, to: string];
  readonly after?: string | undefined;
  readonly limit: number;
  readonly descending?: boolean | undefined;
}

/**
 * Returns up to `limit` entries of several partitions of an index, in the order of their sort keys. One query per
 * partition, in parallel. If two entries had the same sort key, the next page could repeat or skip entries.
 */
export async function queryShards(
  table: Pick<Table, 'queryIndex'>,
  index: IndexName,
  partitions: readonly (readonly string[])[],
  { between, after, limit, descending = false }: ShardedQuery,
): Promise<IndexEntry[]> {
  const [from, to] = descending ? [between[0], after ?? between[1]] : [after ?? between[0], between[1]];
  if (from > to) return [];
  const shards = await Promise.all(
    partitions.map(async (partition) => {
      const { keys, sortKeys } = await table.queryIndex(index, partition, {
        between: [from, to],
        descending,
        limit: limit + 1,
      });
      return keys.map((key, i): IndexEntry => ({ key, position: sortKeys[i] ?? '' }));
    }),
  );
  return shards
    .flat()
    .filter(({ position }) => position !== after)
    .sort((a, b) => (a.position < b.position === descending ? 1 : -1))
    .slice(0, limit);
}

export function shardNumbers(count: number): number[] {
  return Array.from({ length: count }, (_each, shard) => shard);
}

export function shardOf(id: string, count: number): number {
  return Array.from(id).reduce((sum, character) => sum + (character.codePointAt(0) ?? 0), 0) % count;
}
