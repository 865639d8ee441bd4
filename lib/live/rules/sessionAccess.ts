import type { Grant, UserAccess } from '../../app/rules/access.ts';
import { type DocumentAccess, documentPermission, findAccessEnd } from '../../directory/rules/access.ts';

export interface SessionAccess {
  /** If false, the session uses the access by the user token: the only one, or the one that lasts longer. */
  readonly hasStoredAccess: boolean;
  /** Epoch ms. Undefined if the access has no end. */
  readonly accessEndsAt?: number | undefined;
  /** The internal ids of the resources whose grants in the user token give access. Only without stored access. */
  readonly tokenResources?: string[] | undefined;
}

/**
 * Returns stored access, or access by the user token if that lasts longer. Ends are epoch ms, Infinity for no end, and
 * undefined for no access.
 */
export function longerAccess(storedEnd: number | undefined, tokenEnd: number | undefined): SessionAccess | undefined {
  if (storedEnd !== undefined && storedEnd >= (tokenEnd ?? 0)) return storedAccess(storedEnd);
  return tokenEnd === undefined ? undefined : { hasStoredAccess: false, accessEndsAt: tokenEnd };
}

/** `end` is in epoch ms, Infinity for no end. */
export function storedAccess(end: number): SessionAccess {
  return { hasStoredAccess: true, accessEndsAt: end === Infinity ? undefined : end };
}

/** Returns epoch ms, or undefined if the token gives no access. `expiresAt` is in Unix seconds. */
export function tokenAccessEnd(token: UserAccess, document: DocumentAccess, expiresAt: number): number | undefined {
  if (documentPermission(token, document).errorCode !== undefined) return undefined;
  return Math.min(findAccessEnd(token, document) ?? Infinity, expiresAt) * 1000;
}

export function tokenResources(token: UserAccess, document: DocumentAccess): string[] {
  return token.grants.filter((grant) => givesAccess(token, grant, document)).map(({ internalId }) => internalId);
}

/** If one of several grants no longer applies, the access counts as ended, because the others can end earlier. */
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
