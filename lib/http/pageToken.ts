import { openBytes, sealBytes } from '../crypto/sealing.ts';
import { invalid } from '../shared/errors.ts';

const LIFETIME_MILLISECONDS = 24 * 60 * 60 * 1000;

/**
 * Seals where a listing stopped into a token that only the same tenant can send back, for a day. `bound` is what the
 * listing was of: the endpoint and the parameters that choose its items.
 */
export function sealPageToken(pageKey: Uint8Array, bound: readonly string[], cursor: string, now: number): string {
  return sealBytes(pageKey, Buffer.from(JSON.stringify([now + LIFETIME_MILLISECONDS, cursor])), bound).toString(
    'base64url',
  );
}

/**
 * The cursor of a page token, which came in the request's `field`. INVALID_ARGUMENT when it is damaged, expired, or of
 * another tenant, endpoint or listing.
 */
export function openPageToken(
  pageKey: Uint8Array,
  bound: readonly string[],
  token: string,
  now: number,
  field = 'pageToken',
): string {
  const plain = openBytes(pageKey, Buffer.from(token, 'base64url'), bound);
  const [expiresAt, cursor] = plain ? (JSON.parse(plain.toString()) as [number, string]) : [0, ''];
  if (expiresAt <= now)
    throw invalid({
      path: [field],
      code: 'invalid_page_token',
      message: `${field} is not one that this listing gave, or it has expired`,
    });
  return cursor;
}
