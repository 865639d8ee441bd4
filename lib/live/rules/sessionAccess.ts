import {
  type DocumentAccess,
  documentPermission,
  findAccessEnd,
  type UserAccess,
} from '../../directory/rules/access.ts';

/** Why a user may open a document, and until when. */
export interface SessionAccess {
  /** Whether grants in the table or the access type of the document let the user in. If false, only the user token does. */
  readonly hasStoredAccess: boolean;
  /** When the access ends because a grant or the user token expires, epoch ms. Undefined if the access has no end. */
  readonly accessEndsAt?: number | undefined;
}

/**
 * Returns the access of a user who connects: stored access, or access by the user token if that lasts longer. Both
 * times are epoch ms, Infinity for no end, and undefined for no access. Returns undefined if the user has no access of
 * either kind.
 */
export function longerAccess(storedEnd: number | undefined, tokenEnd: number | undefined): SessionAccess | undefined {
  if (storedEnd !== undefined && storedEnd >= (tokenEnd ?? 0)) return storedAccess(storedEnd);
  return tokenEnd === undefined ? undefined : { hasStoredAccess: false, accessEndsAt: tokenEnd };
}

/** Returns stored access that ends at a time (epoch ms, Infinity for no end). */
export function storedAccess(end: number): SessionAccess {
  return { hasStoredAccess: true, accessEndsAt: end === Infinity ? undefined : end };
}

/**
 * Returns when access by a user token ends, in epoch ms, or undefined if the token gives no access to the document.
 * `token` is the access by the token's grants. `expiresAt` is when the token expires, in Unix seconds.
 */
export function tokenAccessEnd(token: UserAccess, document: DocumentAccess, expiresAt: number): number | undefined {
  if (documentPermission(token, document).errorCode !== undefined) return undefined;
  return Math.min(findAccessEnd(token, document) ?? Infinity, expiresAt) * 1000;
}
