import type { Grant, UserAccess } from '../../app/rules/access.ts';
import { type DocumentAccess, documentPermission, findAccessEnd } from '../../directory/rules/access.ts';

/** Why a user may open a document, and until when. */
export interface SessionAccess {
  /** Whether grants in the table or the access type of the document let the user in. If false, only the user token does. */
  readonly hasStoredAccess: boolean;
  /** When the access ends because a grant or the user token expires, epoch ms. Undefined if the access has no end. */
  readonly accessEndsAt?: number | undefined;
  /** If only the user token lets the user in: the internal ids of the resources whose grants in the token give the access. */
  readonly tokenResources?: string[] | undefined;
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

/** Returns the internal ids of the resources whose grants in a user token give access to the document. */
export function tokenResources(token: UserAccess, document: DocumentAccess): string[] {
  return token.grants.filter((grant) => givesAccess(token, grant, document)).map(({ internalId }) => internalId);
}

/**
 * Returns whether a change of the document, or of a folder above it, ended the access of a session by the user token. If
 * one of several grants no longer applies, the access counts as ended, because the others can end earlier.
 */
export function hasLostTokenAccess(
  { hasStoredAccess, tokenResources: resources = [] }: SessionAccess,
  organizationKey: string,
  document: DocumentAccess,
): boolean {
  const user = { exists: false, organizationKey, now: 0 };
  const applies = (internalId: string) =>
    givesAccess(user, { resourceType: 'document', internalId, accessRole: 'viewer' }, document);
  return !hasStoredAccess && !resources.every(applies);
}

function givesAccess(user: Omit<UserAccess, 'grants'>, grant: Grant, document: DocumentAccess): boolean {
  return documentPermission({ ...user, grants: [grant] }, document).errorCode === undefined;
}
