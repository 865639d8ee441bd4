import type { IndexName } from '../app/capability.ts';
import { indexPartition, type Key } from './entity.ts';
import type { Table } from './table.ts';

/** An entry of an index: the key of an item, and its sort key in the index. */
export interface IndexEntry {
  readonly key: Key;
  readonly position: string;
}

interface ShardedQuery {
  readonly between: readonly [from: string, to: string];
  /** The position to continue after: it is one end of `between`, and left out. */
  readonly after?: string | undefined;
  readonly limit: number;
  readonly descending?: boolean | undefined;
}

/**
 * Reads entries of several partitions of a tenant's index in the order of their sort keys, up to `limit`. No two entries may have the same sort key,
 * so a page that continues after a position repeats and skips nothing. One query per partition, in parallel.
 */
export async function queryShards(
  table: Pick<Table, 'queryIndex'>,
  index: IndexName,
  partitions: readonly (readonly string[])[],
  { between, after, limit, descending = false }: ShardedQuery,
): Promise<IndexEntry[]> {
  if (between[0] > between[1]) return [];
  const shards = await Promise.all(
    partitions.map(async (partition) => {
      const { keys, positions } = await table.queryIndex(index, indexPartition('tenant', partition), {
        between,
        descending,
        limit: limit + 1,
      });
      return keys.map((key, i): IndexEntry => {
        const position = JSON.parse(positions[i] ?? '{}') as Record<string, string>;
        return { key, position: position[`${index}sk`] ?? '' };
      });
    }),
  );
  return shards
    .flat()
    .filter(({ position }) => position !== after)
    .sort((a, b) => (a.position < b.position === descending ? 1 : -1))
    .slice(0, limit);
}

/** Returns the numbers of the shards of an index. */
export function shardNumbers(count: number): number[] {
  return Array.from({ length: count }, (_each, shard) => shard);
}
