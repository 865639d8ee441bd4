import type { ApiKeyCaller, UserCaller, WorkspaceCaller } from '../app/endpoint.ts';
import { openBytes, sealBytes } from '../crypto/sealing.ts';
import { decodeBase64Url } from '../shared/base64Url.ts';
import { isLongerThan } from '../shared/bytes.ts';
import { invalid } from '../shared/errors.ts';

const LIFETIME_MILLISECONDS = 24 * 60 * 60 * 1000;

/**
 * Returns a page token that contains the position where a page ended. The token is encrypted, and valid for a day.
 * `bound` identifies the listing: the path of the endpoint, and the parameters that select items. The token works only
 * for the same listing.
 */
export function sealPageToken(pageKey: Uint8Array, bound: readonly string[], cursor: string, now: number): string {
  const plain = Buffer.from(JSON.stringify([now + LIFETIME_MILLISECONDS, cursor]));
  return sealBytes(pageKey, plain, bound).toString('base64url');
}

/**
 * Returns the position in a page token. Throws INVALID_ARGUMENT if the token is damaged or expired, or if it belongs to
 * another tenant or listing. `field` names the request's field in the message.
 */
export function openPageToken(
  pageKey: Uint8Array,
  bound: readonly string[],
  token: string,
  now: number,
  field = 'pageToken',
): string {
  const sealed = decodeBase64Url(token);
  const plain = sealed && openBytes(pageKey, sealed, bound);
  const [expiresAt, cursor] = plain ? (JSON.parse(plain.toString()) as [number, string]) : [0, ''];
  if (expiresAt > now) return cursor;
  throw invalid({
    path: [field],
    code: 'invalid_page_token',
    message: `${field} is not a token of this listing, or has expired`,
  });
}

/**
 * Returns the position at which a listing continues, and a function that makes the next page token. `after` is the
 * position in the request's token, or undefined if the request has no token. `next` returns the token for a position, or
 * null without a position. `listing` identifies the listing, like `bound` of `sealPageToken`.
 */
export function paging(
  caller: ApiKeyCaller | UserCaller | WorkspaceCaller,
  listing: readonly string[],
  { pageToken }: { readonly pageToken?: string | undefined },
  now: number,
) {
  // Users see different items of a listing, so a user's page token works only for the same user.
  const bound = caller.level === 'user' ? [...listing, 'user', caller.user.userId] : listing;
  return {
    after: pageToken === undefined ? undefined : openPageToken(caller.pageKey, bound, pageToken, now),
    next: (cursor: string | undefined): string | null =>
      cursor === undefined ? null : sealPageToken(caller.pageKey, bound, cursor, now),
  };
}

/** The largest size of a page that is not read again, in bytes of JSON. Lambda can carry an answer of this size. */
const PAGE_BYTES = 4_500_000;

/**
 * Returns a page that fits into an answer. While the page is too large, reads it again with half of the limit. This is for pages
 * whose size is known only after everything in them was read. A page with a limit of 1 is returned at any size.
 */
export async function limitPageBytes<P extends { readonly data: readonly unknown[] }>(
  limit: number,
  read: (limit: number) => Promise<P>,
): Promise<P> {
  const page = await read(limit);
  if (limit === 1 || !isLongerThan(JSON.stringify(page.data), PAGE_BYTES)) return page;
  return limitPageBytes(Math.floor(limit / 2), read);
}

/** A position in a listing that can be read in both directions. */
export interface ListPosition {
  readonly direction: 'after' | 'before';
  /** The sort key of an item. The page begins after or before this item, and does not contain it. */
  readonly key: string;
}

/**
 * Returns the position at which a listing continues, and a function that makes iterators. An iterator is a page token
 * with a direction. `from` is the position in the request's iterator, or undefined if the request has no iterator.
 * `toIterator` returns the iterator for a position, or null without a position.
 */
export function iterators(
  caller: Pick<ApiKeyCaller, 'pageKey'>,
  bound: readonly string[],
  { iterator }: { readonly iterator?: string | undefined },
  now: number,
) {
  const open = (token: string) =>
    JSON.parse(openPageToken(caller.pageKey, bound, token, now, 'iterator')) as ListPosition;
  return {
    from: iterator === undefined ? undefined : open(iterator),
    toIterator: (position: ListPosition | undefined): string | null =>
      position ? sealPageToken(caller.pageKey, bound, JSON.stringify(position), now) : null,
  };
}
