import type { IndexName } from '../app/capability.ts';
import type { Key } from './entity.ts';
import type { Table } from './table.ts';

export interface IndexEntry {
  readonly key: Key;
  readonly position: string;
}

interface ShardedRange {
  readonly between: readonly [from: string, to: string];
  readonly after?: string | undefined;
  readonly descending?: boolean | undefined;
}

interface ShardedQuery extends ShardedRange {
  readonly limit: number;
}

interface ShardedPageQuery extends ShardedRange {
  readonly perShard: number;
}

interface ShardedPage {
  readonly entries: IndexEntry[];
  /** The next page starts after this position. Undefined on the last page. */
  readonly next: string | undefined;
}

/**
 * Returns up to `limit` entries of several partitions of an index, in the order of their sort keys. One query per
 * partition, in parallel. If two entries had the same sort key, the next page could skip one of them.
 */
export async function queryShards(
  table: Pick<Table, 'queryIndex'>,
  index: IndexName,
  partitions: readonly (readonly string[])[],
  { limit, ...range }: ShardedQuery,
): Promise<IndexEntry[]> {
  const shards = await readShards(table, index, partitions, { ...range, perShard: limit });
  return sorted(
    shards.flatMap(({ entries }) => entries),
    range,
  ).slice(0, limit);
}

/**
 * Like `queryShards`, but reads up to `perShard` + 1 entries of each partition. The page ends at the first position
 * after which a partition can have entries that were not read, so it has at least `perShard` entries if more follow.
 */
export async function queryShardsPage(
  table: Pick<Table, 'queryIndex'>,
  index: IndexName,
  partitions: readonly (readonly string[])[],
  query: ShardedPageQuery,
): Promise<ShardedPage> {
  const shards = await readShards(table, index, partitions, query);
  const ends = shards.flatMap(({ entries, hasMore }) => (hasMore ? entries.slice(-1) : []));
  const next = sorted(ends, query)[0]?.position;
  const isRead = ({ position }: IndexEntry) =>
    next === undefined || (query.descending ? position >= next : position <= next);
  return {
    entries: sorted(
      shards.flatMap(({ entries }) => entries.filter(isRead)),
      query,
    ),
    next,
  };
}

async function readShards(
  table: Pick<Table, 'queryIndex'>,
  index: IndexName,
  partitions: readonly (readonly string[])[],
  { between, after, perShard, descending = false }: ShardedPageQuery,
): Promise<{ readonly entries: IndexEntry[]; readonly hasMore: boolean }[]> {
  const [from, to] = descending ? [between[0], after ?? between[1]] : [after ?? between[0], between[1]];
  if (from > to) return [];
  return Promise.all(
    partitions.map(async (partition) => {
      const { keys, sortKeys, next } = await table.queryIndex(index, partition, {
        between: [from, to],
        descending,
        limit: perShard + 1,
      });
      const entries = keys.map((key, i): IndexEntry => ({ key, position: sortKeys[i] ?? '' }));
      return { entries: entries.filter(({ position }) => position !== after), hasMore: next !== undefined };
    }),
  );
}

function sorted(entries: IndexEntry[], { descending = false }: Pick<ShardedRange, 'descending'>): IndexEntry[] {
  return entries.sort((a, b) => (a.position < b.position === descending ? 1 : -1));
}

export function shardNumbers(count: number): number[] {
  return Array.from({ length: count }, (_each, shard) => shard);
}

export function shardOf(id: string, count: number): number {
  return Array.from(id).reduce((sum, character) => sum + (character.codePointAt(0) ?? 0), 0) % count;
}
