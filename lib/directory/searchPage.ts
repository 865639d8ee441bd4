/** Some records of a list with their sort keys, and the sort key that it was read up to; undefined at the end of the list. */
interface ReadPage<V> {
  readonly records: readonly { readonly key: string; readonly value: V }[];
  readonly next: string | undefined;
}

export interface SearchOptions<V> {
  /** How many wanted records a page has at most. */
  readonly limit: number;
  /** As the `next` of the page before says. */
  readonly after: string | undefined;
  readonly isWanted: (value: V) => boolean;
}

/** How many records are to be read at a time, and how often for one page. */
export const SEARCHED_AT_ONCE = 500;
const READS = 4;
/** A page ends early at this size of its values as JSON, so that an answer stays below the limit of 5 MB. */
const PAGE_BYTES = 4_000_000;

/**
 * A page of the wanted records of a list, of which `read` gives some after a sort key. A page ends early after four reads, then with fewer values,
 * perhaps none, and a `next`. The next page begins after the last record that was looked at, so that none is lost or repeated.
 */
export async function searchPage<V>(
  read: (after: string | undefined) => Promise<ReadPage<V>>,
  { limit, after, isWanted }: SearchOptions<V>,
): Promise<{ values: V[]; next: string | undefined }> {
  const values: V[] = [];
  let [position, bytes] = [after, 0];
  for (let time = 0; time < READS; time++) {
    const { records, next } = await read(position);
    for (const { key, value } of records) {
      if (isWanted(value)) {
        bytes += Buffer.byteLength(JSON.stringify(value));
        if (values.length === limit || (values.length > 0 && bytes > PAGE_BYTES)) return { values, next: position };
        values.push(value);
      }
      position = key;
    }
    if (next === undefined) return { values, next: undefined };
    position = next;
  }
  return { values, next: position };
}
