import {
  type DocumentAccess,
  documentPermission,
  findAccessEnd,
  type UserAccess,
} from '../../directory/rules/access.ts';

/** Why the user of a session may open the document, and until when. */
export interface SessionAccess {
  /** Whether stored grants or the access type let the user in. Otherwise only the user token lets the user in. */
  readonly hasStoredAccess: boolean;
  /** When the access ends because grants or the user token expire, epoch ms. Undefined for access without an end. */
  readonly accessEndsAt?: number | undefined;
}

/**
 * Returns the access of a user who connects: the stored access or the access by the user token, whichever lasts longer. Both
 * times are in epoch ms, Infinity without an end, and undefined without access. Returns undefined if the user has no access.
 */
export function longerAccess(storedEnd: number | undefined, tokenEnd: number | undefined): SessionAccess | undefined {
  if (storedEnd !== undefined && storedEnd >= (tokenEnd ?? 0)) return storedAccess(storedEnd);
  return tokenEnd === undefined ? undefined : { hasStoredAccess: false, accessEndsAt: tokenEnd };
}

/** Returns stored access with its end in epoch ms, which is Infinity without an end. */
export function storedAccess(end: number): SessionAccess {
  return { hasStoredAccess: true, accessEndsAt: end === Infinity ? undefined : end };
}

/**
 * Returns when the access by a user token ends, in epoch ms. `token` is the access that the grants of the token give, and
 * `expiresAt` the end of the token in Unix seconds. Returns undefined if the token gives no access.
 */
export function tokenAccessEnd(token: UserAccess, document: DocumentAccess, expiresAt: number): number | undefined {
  if (documentPermission(token, document).errorCode !== undefined) return undefined;
  return Math.min(findAccessEnd(token, document) ?? Infinity, expiresAt) * 1000;
}
