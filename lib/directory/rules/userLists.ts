/** A page of a list, ordered by key. `next` is the key at which the page ends, or undefined on the last page. */
interface ListPage<R> {
  readonly records: readonly R[];
  readonly next: string | undefined;
}

/**
 * Merges pages of several lists into one page, ordered by key. Each key occurs once, with the record that was added last. All pages
 * must start after the same key. The next merged page starts after `next`.
 */
export function mergePages<R extends { readonly key: string; readonly addedAt: number }>(
  pages: readonly ListPage<R>[],
  limit: number,
): ListPage<R> {
  // The list whose page ends first can have more values after that end. They were not read, so the merged page must end there
  // too.
  const [end] = pages.flatMap(({ next }) => next ?? []).sort(byBytes);
  const merged = new Map<string, R>();
  for (const record of pages.flatMap(({ records }) => records)) {
    const isLater = record.addedAt > (merged.get(record.key)?.addedAt ?? -Infinity);
    if (isLater && (end === undefined || byBytes(record.key, end) <= 0)) merged.set(record.key, record);
  }
  const sorted = [...merged.values()].sort((a, b) => byBytes(a.key, b.key));
  const records = sorted.slice(0, limit);
  return { records, next: records.length < sorted.length ? records.at(-1)?.key : end };
}

/** Compares texts by their UTF-8 bytes, as DynamoDB compares keys. JavaScript sorts characters beyond U+FFFF differently. */
function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
