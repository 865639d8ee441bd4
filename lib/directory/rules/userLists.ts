/** Values of a list in the order of their keys, and the key that the list was read up to; undefined at its end. */
export interface ListPage<V> {
  readonly values: readonly { readonly key: string; readonly value: V }[];
  readonly next: string | undefined;
}

/**
 * Merges pages of several lists into one page in the order of keys, each key once. The pages start after the same key
 * and have at least `limit` values unless their list ends. The next page starts after `next`: nothing is lost or
 * repeated.
 */
export function mergePages<V>(pages: readonly ListPage<V>[], limit: number): { values: V[]; next: string | undefined } {
  // Behind the end of the page that ends first, that list can have values that were not read.
  const [end] = pages.flatMap(({ next }) => next ?? []).sort(byBytes);
  const merged = new Map<string, V>();
  for (const { key, value } of pages.flatMap(({ values }) => values))
    if (end === undefined || byBytes(key, end) <= 0) merged.set(key, value);
  const keys = [...merged.keys()].sort(byBytes);
  const pageKeys = keys.slice(0, limit);
  return {
    values: pageKeys.map((key) => merged.get(key) as V),
    next: pageKeys.length < keys.length ? pageKeys.at(-1) : end,
  };
}

/** Compares by UTF-8 bytes, as DynamoDB sorts keys. JavaScript sorts characters beyond U+FFFF in another order. */
function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
