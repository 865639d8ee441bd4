import type { CallOptions } from './types.ts';

interface Request {
  readonly pageToken?: string | null | undefined;
  readonly iterator?: string | undefined;
}
/**
 * Most listings return the token of the next page as `nextPageToken`, some as `pageToken` or within their `data`. Those of
 * webhooks return an `iterator` in their `data`.
 */
interface ListingAnswer {
  readonly data?: unknown;
  readonly nextPageToken?: string | null | undefined;
  readonly pageToken?: string | null | undefined;
}

/** Yields every page: `for await (const { data } of pages(client.v2.users.get, { organizationId }))`. */
export async function* pages<D extends Request | undefined, P extends ListingAnswer>(
  method: (data: D, options?: CallOptions) => Promise<P>,
  data: NonNullable<NoInfer<D>>,
  options?: CallOptions,
): AsyncGenerator<P, void> {
  let next: Request | undefined;
  do {
    const page = await method({ ...data, ...next }, options);
    yield page;
    next = nextOf(page);
  } while (next);
}

function nextOf({ nextPageToken, pageToken, data }: ListingAnswer): Request | undefined {
  const inside = Object(data) as ListingAnswer & { readonly iterator?: unknown; readonly done?: unknown };
  const token = nextPageToken ?? pageToken ?? inside.nextPageToken;
  if (token) return { pageToken: token };
  const { iterator, done } = inside;
  return typeof iterator === 'string' && done === false ? { iterator } : undefined;
}
