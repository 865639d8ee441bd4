/** A page of a listing. */
export interface Page<V> {
  readonly values: V[];
  /** The position after which the next page begins. Undefined on the last page. */
  readonly next: string | undefined;
}

/**
 * Yields every page of a listing after `start`, one after the other. `read` gets the `next` of the previous page, or `start` for
 * the first page. The last page has no `next`.
 */
export async function* pages<P extends { readonly next: string | undefined }>(
  read: (after: string | undefined) => Promise<P>,
  start?: string,
): AsyncGenerator<P, void, undefined> {
  let after = start;
  do {
    const page = await read(after);
    yield page;
    after = page.next;
  } while (after !== undefined);
}

/** Returns the values of all pages of a listing in one array. */
export async function readAll<V>(read: (after: string | undefined) => Promise<Page<V>>): Promise<V[]> {
  const all: V[] = [];
  for await (const { values } of pages(read)) all.push(...values);
  return all;
}
