import type { ApiKeyCaller, UserCaller, WorkspaceCaller } from '../app/endpoint.ts';
import { openBytes, sealBytes } from '../crypto/sealing.ts';
import { decodeBase64Url } from '../shared/base64Url.ts';
import { isLongerThan } from '../shared/bytes.ts';
import { invalid } from '../shared/errors.ts';

const LIFETIME_MILLISECONDS = 24 * 60 * 60 * 1000;

/**
 * A page token is the encrypted position where a page ended, valid for a day. `bound` identifies the listing: the path,
 * and the parameters that select items.
 */
export function sealPageToken(pageKey: Uint8Array, bound: readonly string[], cursor: string, now: number): string {
  const plain = Buffer.from(JSON.stringify([now + LIFETIME_MILLISECONDS, cursor]));
  return sealBytes(pageKey, plain, bound).toString('base64url');
}

/**
 * Throws INVALID_ARGUMENT for a token that this listing did not issue in the last day. `field` names the request's
 * field.
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
 * `after` is the position in the request's token. `next` makes the token of the next page, null without a position. A
 * user's token is also bound to the user.
 */
export function paging(
  caller: ApiKeyCaller | UserCaller | WorkspaceCaller,
  listing: readonly string[],
  { pageToken }: { readonly pageToken?: string | undefined },
  now: number,
) {
  const bound = caller.level === 'user' ? [...listing, 'user', caller.user.userId] : listing;
  return {
    after: pageToken === undefined ? undefined : openPageToken(caller.pageKey, bound, pageToken, now),
    next: (cursor: string | undefined): string | null =>
      cursor === undefined ? null : sealPageToken(caller.pageKey, bound, cursor, now),
  };
}

const PAGE_BYTES = 4_500_000;

/**
 * While a page is too large, reads it again with half of the limit, for pages whose size is known only after everything
 * was read. A page with a limit of 1 is returned at any size.
 */
export async function limitPageBytes<P extends { readonly data: readonly unknown[] }>(
  limit: number,
  read: (limit: number) => Promise<P>,
): Promise<P> {
  const page = await read(limit);
  if (limit === 1 || !isLongerThan(JSON.stringify(page.data), PAGE_BYTES)) return page;
  return limitPageBytes(Math.floor(limit / 2), read);
}

export interface ListPosition {
  readonly direction: 'after' | 'before';
  readonly key: string;
}

/** Like `paging`, for listings in both directions. An iterator is a page token with a direction. */
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
