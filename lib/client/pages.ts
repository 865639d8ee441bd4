import type { CallOptions } from './types.ts';

/** What a listing takes and gives, of which there can be more than one page. */
interface Request {
  readonly pageToken?: string | null | undefined;
}
interface Page {
  readonly data?: unknown;
  readonly nextPageToken?: string | null | undefined;
  /** What some listings call it. */
  readonly pageToken?: string | null | undefined;
}

/** Every page of a listing: `for await (const { data } of pages(client.v2.users.get, { organizationId }))`. */
export async function* pages<D extends Request, P extends Page>(
  method: (data: D, options?: CallOptions) => Promise<P>,
  data: D,
  options?: CallOptions,
): AsyncGenerator<P, void> {
  let next: string | null | undefined = data.pageToken;
  do {
    const page = await method({ ...data, ...(next && { pageToken: next }) }, options);
    yield page;
    next = page.nextPageToken ?? page.pageToken;
  } while (next);
}
