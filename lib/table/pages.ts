export interface ItemPage<V> {
  readonly values: V[];
  readonly next: string | undefined;
}

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

export async function readAll<V>(read: (after: string | undefined) => Promise<ItemPage<V>>): Promise<V[]> {
  const all: V[] = [];
  for await (const { values } of pages(read)) all.push(...values);
  return all;
}
