/** A page of a list, ordered by key. `next` is the key at which the page ends, or undefined on the last page. */
export interface ListPage<V> {
  readonly values: readonly { readonly key: string; readonly value: V }[];
  readonly next: string | undefined;
}

/**
 * Merges pages of several lists into one page, ordered by key. Each key occurs once. All pages must start after the same key. The
 * next merged page starts after `next`.
 */
export function mergePages<V>(pages: readonly ListPage<V>[], limit: number): { values: V[]; next: string | undefined } {
  // The list whose page ends first can have more values after that end. They were not read, so the merged page must end there
  // too.
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

/** Compares texts by their UTF-8 bytes, as DynamoDB compares keys. JavaScript sorts characters beyond U+FFFF differently. */
function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
