/** Some values of a list in the order of their keys, and the key that it was read up to; undefined at its end. */
export interface ListPage<V> {
  readonly values: readonly { readonly key: string; readonly value: V }[];
  readonly next: string | undefined;
}

/**
 * One page of several lists in the order of their keys, as the table has it, each key once; from pages of the lists that begin at the same key and have
 * at least `limit` values unless more follow than were read. Nothing is lost or repeated when the next one goes on after `next`.
 */
export function mergePages<V>(pages: readonly ListPage<V>[], limit: number): { values: V[]; next: string | undefined } {
  // Behind the page that ends first, others may have values that it would have had too.
  const [end] = pages.flatMap(({ next }) => next ?? []).sort(byBytes);
  const known = pages.flatMap(({ values }) => values).filter(({ key }) => end === undefined || byBytes(key, end) <= 0);
  const distinct = [...new Map(known.map((one) => [one.key, one])).values()].sort((a, b) => byBytes(a.key, b.key));
  const shown = distinct.slice(0, limit);
  return { values: shown.map(({ value }) => value), next: shown.length < distinct.length ? shown.at(-1)?.key : end };
}

/** The order that DynamoDB keeps sort keys in, which is not that of strings for characters outside of the first plane. */
function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
