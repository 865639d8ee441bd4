import { jsonBytes } from '../shared/bytes.ts';
import type { ItemPage } from '../table/pages.ts';

export interface ReadPage<V> {
  readonly records: readonly { readonly key: string; readonly value: V }[];
  readonly next: string | undefined;
}

export interface SearchOptions<V> {
  readonly limit: number;
  readonly after: string | undefined;
  readonly isMatch?: ((value: V) => boolean) | undefined;
}

export const RECORDS_PER_READ = 500;
const READS = 4;
const PAGE_BYTES = 4_000_000;

/**
 * `read` returns at most `count` records after a sort key. One page makes at most four reads, so it can have fewer than
 * `limit` values, or none, and still have a `next`.
 */
export async function searchPage<V>(
  read: (after: string | undefined, count: number) => Promise<ReadPage<V>>,
  { limit, after, isMatch }: SearchOptions<V>,
): Promise<ItemPage<V>> {
  const values: V[] = [];
  let [position, bytes] = [after, 0];
  for (let reads = 0; reads < READS; reads++) {
    const count = isMatch ? RECORDS_PER_READ : Math.min(limit - values.length, RECORDS_PER_READ);
    const { records, next } = await read(position, count);
    for (const { key, value } of records) {
      if (!isMatch || isMatch(value)) {
        bytes += jsonBytes(value);
        if (values.length === limit || (values.length > 0 && bytes > PAGE_BYTES)) return { values, next: position };
        values.push(value);
      }
      position = key;
    }
    if (next === undefined || (!isMatch && values.length === limit)) return { values, next };
    position = next;
  }
  return { values, next: position };
}
