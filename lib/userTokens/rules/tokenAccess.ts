import type { AccessRole, TokenAccess, UserAccess, UserClaims } from '../../app/rules/access.ts';
import {
  type DocumentAccess,
  documentPermission,
  type FolderAccess,
  folderPermission,
  organizationPermission,
  type PermissionEntry,
} from '../../directory/rules/access.ts';

/** The record that a user lost access to a resource. It ends the grants in tokens that were issued before. */
export interface AccessRemoval {
  readonly id?: string | undefined;
  /** The internal id of the organization, folder or document. */
  readonly internalId: string;
  /** Epoch ms. */
  readonly removedAt: number;
  /** True if the user was removed from the resource and everything in it. False if only the grant on the resource was removed. */
  readonly isRevocation: boolean;
  /** True if the resource is a folder. Its documents and subfolders may have been moved since the removal. */
  readonly folder?: boolean | undefined;
}

/** A request writes at most this long after its start, on all clocks. So a removal or a move can have a time this much before its write. */
export const MAX_REQUEST_MILLISECONDS = 60_000;

/** A user's stored access in an organization, and what ends the grants of older tokens there. */
export interface StoredAccess {
  readonly user: UserAccess;
  readonly removals: readonly AccessRemoval[];
  /** When the organization was last disabled, epoch ms. */
  readonly disabledAt?: number | undefined;
}

export function disablingId(organizationKey: string, disabledAt: number): string {
  return `${organizationKey}@${disabledAt}`;
}

/** Returns the ids of removals whose times alone would end a new token. `overlaps`: one was written after `start` (epoch ms). */
export function seenRemovals(removals: readonly AccessRemoval[], start: number): string[] | 'overlaps' {
  if (removals.some(({ removedAt }) => removedAt > start)) return 'overlaps';
  return removals.flatMap(({ id, removedAt }) => (id !== undefined && canFollow(removedAt, start) ? [id] : []));
}

function canFollow(removedAt: number, issuedAt: number): boolean {
  return removedAt + MAX_REQUEST_MILLISECONDS >= issuedAt;
}

/**
 * Returns the access of a user with a token in an organization. A grant of the token is not valid if one of these
 * happened after the token was issued:
 * - The grant on the same resource was removed.
 * - The user was removed from the resource, a folder above it, or the organization.
 * - The organization was disabled.
 * - The user was removed from a folder of the organization, and the resource or a folder above it was moved. The
 * resource may have been in that folder.
 *
 * The clocks of functions cannot tell the order of an issue and a removal that overlap. A removal therefore counts as later
 * than all tokens until a minute after its time, except tokens that name it.
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
  // Only the last removal from a folder is stored, so the folder of an earlier removal is not known. A grant of the
  // token is therefore not valid for anything that was moved after the token was issued.
  const unmovedSince = leftFolder ? issuedAt - MAX_REQUEST_MILLISECONDS : undefined;
  // Records of removals end only the grants of tokens. Stored grants end by the user's revocations until a job has purged them. A
  // stored grant from before a removal still counts if its resource was moved into the folder after the removal.
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
  // A user who exists in the tenant is an editor of a public document, unless a grant says otherwise. Only the stored access may
  // give this role. Otherwise each token would make an editor of a user whose stored grant has the role viewer.
  const token = { ...user, exists: false, grants: wasDisabled ? [] : tokenGrants };
  return { stored: user, token, all: { ...user, grants: [...user.grants, ...token.grants] } };
}

/** The fields of a permission that decide which of two is more permissive. */
interface ComparableEntry {
  readonly accessRole?: AccessRole | undefined;
  readonly expiresAt?: number | undefined;
  readonly errorCode?: string | undefined;
}

/**
 * Of the permission by stored grants (`stored`) and the permission by grants of the token (`token`), returns the more
 * permissive one. Of two permissions with the same role, returns the one that ends later.
 */
export function morePermissive<E extends ComparableEntry>(stored: E, token: E): E {
  if (stored.errorCode !== undefined) return token;
  if (token.errorCode !== undefined) return stored;
  if (stored.accessRole !== token.accessRole) return isEnough(token.accessRole, 'editor') ? token : stored;
  return (token.expiresAt ?? Infinity) > (stored.expiresAt ?? Infinity) ? token : stored;
}

/** Returns the permission of a user with a token on a document. */
export function tokenDocumentPermission({ stored, token }: TokenAccess, document: DocumentAccess): PermissionEntry {
  return morePermissive(documentPermission(stored, document), documentPermission(token, document));
}

/** Returns the permission of a user with a token on a folder. */
export function tokenFolderPermission({ stored, token }: TokenAccess, folder: FolderAccess): PermissionEntry {
  return morePermissive(folderPermission(stored, folder), folderPermission(token, folder));
}

/** Returns the permission of a user with a token on the organization. */
export function tokenOrganizationPermission({ stored, token }: TokenAccess): PermissionEntry {
  return morePermissive(organizationPermission(stored), organizationPermission(token));
}

/** Returns whether a role includes the needed role. */
export function isEnough(role: AccessRole | undefined, needed: AccessRole): boolean {
  return role === 'editor' || (role === 'viewer' && needed === 'viewer');
}
