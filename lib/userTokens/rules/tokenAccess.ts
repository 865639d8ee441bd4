import type { AccessRole, TokenAccess, UserAccess, UserClaims } from '../../app/rules/access.ts';
import {
  type DocumentAccess,
  documentPermission,
  type FolderAccess,
  folderPermission,
  organizationPermission,
  type PermissionEntry,
} from '../../directory/rules/access.ts';

/** Ends grants in tokens that were issued before it. */
export interface AccessRemoval {
  readonly id?: string | undefined;
  readonly internalId: string;
  readonly removedAt: number;
  /** False if only the grant on the resource was removed, not the user. */
  readonly isRevocation: boolean;
  /** The resource is a folder. Its content may have been moved since. */
  readonly folder?: boolean | undefined;
}

/**
 * A request writes at most this long after its start, even by the clock of another function. So a removal or a move can
 * have a time that is this much earlier than its write.
 */
export const MAX_REQUEST_MILLISECONDS = 60_000;

export interface StoredAccess {
  readonly user: UserAccess;
  readonly removals: readonly AccessRemoval[];
  readonly disabledAt?: number | undefined;
}

export function disablingId(organizationKey: string, disabledAt: number): string {
  return `${organizationKey}@${disabledAt}`;
}

/**
 * Returns the ids of removals that a new token must name in `seen`, because their times alone would end its grants.
 * `overlaps`: one was written after `start` (epoch ms).
 */
export function seenRemovals(removals: readonly AccessRemoval[], start: number): string[] | 'overlaps' {
  if (removals.some(({ removedAt }) => removedAt > start)) return 'overlaps';
  return removals.flatMap(({ id, removedAt }) => (id !== undefined && canFollow(removedAt, start) ? [id] : []));
}

function canFollow(removedAt: number, issuedAt: number): boolean {
  return removedAt + MAX_REQUEST_MILLISECONDS >= issuedAt;
}

/**
 * A grant of the token is not valid if one of these happened after its issue:
 * - The grant on the same resource was removed.
 * - The user was removed from the resource, a folder above it, or the organization.
 * - The organization was disabled.
 * - The user was removed from a folder of the organization, and the resource or a folder above it was moved: it may
 * have been in that folder.
 *
 * The clocks of functions cannot tell the order of an issue and a removal that overlap. A removal therefore also ends
 * grants in tokens that are issued up to a minute after its time, unless they name it in `seen`.
 */
export function tokenAccess(
  { grants, issuedAt, seen = [] }: Pick<UserClaims, 'grants' | 'issuedAt' | 'seen'>,
  { user, removals: stored, disabledAt }: StoredAccess,
): TokenAccess {
  const isLater = (id: string | undefined, at: number) =>
    canFollow(at, issuedAt) && !(id !== undefined && seen.includes(id));
  const wasDisabled = disabledAt !== undefined && isLater(disablingId(user.organizationKey, disabledAt), disabledAt);
  const removals = stored.filter(({ id, removedAt }) => isLater(id, removedAt));
  const removed = new Set(removals.map(({ internalId }) => internalId));
  const leftFolder = removals.some(({ isRevocation, folder }) => isRevocation && folder === true);
  // A second removal from a folder overwrites the time of the first, so all moves since the issue of the token count.
  const unmovedSince = leftFolder ? issuedAt - MAX_REQUEST_MILLISECONDS : undefined;
  // Only for grants of the token: stored grants end by the `revocations` of the user.
  const revocations = removals
    .filter(({ isRevocation }) => isRevocation)
    .map(({ internalId }) => ({
      organizationKey: user.organizationKey,
      resource: internalId,
      at: issuedAt,
      jobId: '',
    }));
  const tokenGrants = grants
    .filter(({ organizationKey, internalId }) => organizationKey === user.organizationKey && !removed.has(internalId))
    .map((grant) => ({ ...grant, grantedAt: issuedAt, unmovedSince, revocations }));
  // Every user of the tenant is an editor of a public document, unless a grant says otherwise. Only stored access may
  // give this role. Otherwise each token would make an editor of a user whose stored grant has the role viewer.
  const token = { ...user, exists: false, grants: wasDisabled ? [] : tokenGrants };
  return { stored: user, token, all: { ...user, grants: [...user.grants, ...token.grants] } };
}

interface ComparableEntry {
  readonly accessRole?: AccessRole | undefined;
  readonly expiresAt?: number | undefined;
  readonly errorCode?: string | undefined;
}

export function morePermissive<E extends ComparableEntry>(stored: E, token: E): E {
  if (stored.errorCode !== undefined) return token;
  if (token.errorCode !== undefined) return stored;
  if (stored.accessRole !== token.accessRole) return isEnough(token.accessRole, 'editor') ? token : stored;
  return (token.expiresAt ?? Infinity) > (stored.expiresAt ?? Infinity) ? token : stored;
}

export function tokenDocumentPermission({ stored, token }: TokenAccess, document: DocumentAccess): PermissionEntry {
  return morePermissive(documentPermission(stored, document), documentPermission(token, document));
}

export function tokenFolderPermission({ stored, token }: TokenAccess, folder: FolderAccess): PermissionEntry {
  return morePermissive(folderPermission(stored, folder), folderPermission(token, folder));
}

export function tokenOrganizationPermission({ stored, token }: TokenAccess): PermissionEntry {
  return morePermissive(organizationPermission(stored), organizationPermission(token));
}

export function isEnough(role: AccessRole | undefined, needed: AccessRole): boolean {
  return role === 'editor' || (role === 'viewer' && needed === 'viewer');
}
