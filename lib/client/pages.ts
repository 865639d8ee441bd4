import type { CallOptions } from './types.ts';

interface Request {
  readonly pageToken?: string | null | undefined;
}
/** Most listings return the token of the next page as `nextPageToken`, some as `pageToken`. */
interface ListingAnswer {
  readonly data?: unknown;
  readonly nextPageToken?: string | null | undefined;
  readonly pageToken?: string | null | undefined;
}

/** Yields every page: `for await (const { data } of pages(client.v2.users.get, { organizationId }))`. */
export async function* pages<D extends Request, P extends ListingAnswer>(
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
