/**
 * A page of a list: values in the order of their keys, and the key at which the page ends (`next`). On the last page, `next` is
 * undefined.
 */
export interface ListPage<V> {
  readonly values: readonly { readonly key: string; readonly value: V }[];
  readonly next: string | undefined;
}

/**
 * Merges pages of several lists into one page, in the order of keys. Each key occurs once. The pages must start after the same
 * key and have at least `limit` values, unless their list ends. The next page starts after `next`, so that no value is lost or
 * repeated.
 */
export function mergePages<V>(pages: readonly ListPage<V>[], limit: number): { values: V[]; next: string | undefined } {
  // The list whose page ends first can have values after this end that were not read. So the merged page must end there too.
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

/**
 * Compares texts by their UTF-8 bytes, because DynamoDB sorts keys in this order. JavaScript sorts characters beyond U+FFFF
 * differently.
 */
function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
