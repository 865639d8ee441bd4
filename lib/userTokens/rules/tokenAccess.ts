import {
  type AccessRole,
  type DocumentAccess,
  documentPermission,
  folderPermission,
  type FolderAccess,
  organizationPermission,
  type PermissionEntry,
  type UserAccess,
} from '../../directory/rules/access.ts';
import type { UserClaims } from './claims.ts';

/** The record that a user lost access, which ends grants in tokens that were issued before. */
export interface AccessRemoval {
  /** The internal id of the organization, folder or document. */
  readonly internalId: string;
  /** Epoch ms. */
  readonly removedAt: number;
  /** Whether the user was removed from the resource with everything in it. Otherwise only the grant on it was removed. */
  readonly isRevocation: boolean;
  /** Whether the resource is a folder. Documents and folders in it can be moved out later. */
  readonly folder?: boolean | undefined;
}

/** The longest time between the start of a request that moves something (`movedAt`) and its write, in ms. */
const MAX_MOVE_MILLISECONDS = 60_000;

/** A user's stored access in an organization, and what ends grants of tokens there. */
export interface StoredAccess {
  readonly user: UserAccess;
  readonly removals: readonly AccessRemoval[];
  /** The last time at which the organization was disabled, epoch ms. */
  readonly disabledAt?: number | undefined;
}

/**
 * The access of a user with a token. `stored` has the stored grants. `token` has the grants of the token that still count.
 * `all` has both.
 */
export interface TokenAccess {
  readonly stored: UserAccess;
  readonly token: UserAccess;
  readonly all: UserAccess;
}

/**
 * Returns the access of a user with a token in an organization. A grant of the token does not count if one of these
 * happened since the token was issued:
 * - the grant on the same resource was removed
 * - the user was removed from the resource, a folder above it, or the organization
 * - the organization was disabled
 * - the user was removed from a folder of the organization, and the resource or a folder above it was moved since the
 *   issue, so it can have been in that folder
 */
export function tokenAccess(
  { grants, issuedAt }: Pick<UserClaims, 'grants' | 'issuedAt'>,
  { user, removals, disabledAt }: StoredAccess,
): TokenAccess {
  const wasDisabled = disabledAt !== undefined && disabledAt >= issuedAt;
  const removed = new Set(
    removals.filter(({ removedAt }) => removedAt >= issuedAt).map(({ internalId }) => internalId),
  );
  const leftFolder = removals.some(
    ({ isRevocation, folder, removedAt }) => isRevocation && folder === true && removedAt >= issuedAt,
  );
  // A second removal from a folder overwrites the time of the first removal. Moves since the issue of the token therefore
  // count.
  const unmovedSince = leftFolder ? issuedAt - MAX_MOVE_MILLISECONDS : undefined;
  const tokenGrants = grants
    .filter(({ organizationKey, internalId }) => organizationKey === user.organizationId && !removed.has(internalId))
    .map((grant) => ({ ...grant, grantedAt: issuedAt, unmovedSince }));
  const revocations = [
    ...(user.revocations ?? []),
    ...removals
      .filter(({ isRevocation }) => isRevocation)
      .map(({ internalId, removedAt }) => ({
        organizationKey: user.organizationId,
        resource: internalId,
        at: removedAt,
        jobId: '',
      })),
  ];
  const stored = { ...user, revocations };
  const token = { ...stored, grants: wasDisabled ? [] : tokenGrants };
  return { stored, token, all: { ...stored, grants: [...stored.grants, ...token.grants] } };
}

/** The fields of a permission entry that decide which of two entries is more permissive. */
interface ComparableEntry {
  readonly accessRole?: AccessRole | undefined;
  readonly errorCode?: string | undefined;
}

/** Returns the more permissive of the entries that the stored grants and the grants of the token give. */
export function morePermissive<E extends ComparableEntry>(stored: E, token: E): E {
  if (stored.errorCode !== undefined) return token;
  return token.errorCode === undefined && isEnough(token.accessRole, 'editor') ? token : stored;
}

/** Returns the entry of a document for a user with a token. */
export function tokenDocumentPermission({ stored, token }: TokenAccess, document: DocumentAccess): PermissionEntry {
  return morePermissive(documentPermission(stored, document), documentPermission(token, document));
}

/** Returns the entry of a folder for a user with a token. */
export function tokenFolderPermission({ stored, token }: TokenAccess, folder: FolderAccess): PermissionEntry {
  return morePermissive(folderPermission(stored, folder), folderPermission(token, folder));
}

/** Returns the entry of the organization for a user with a token. */
export function tokenOrganizationPermission({ stored, token }: TokenAccess): PermissionEntry {
  return morePermissive(organizationPermission(stored), organizationPermission(token));
}

/** Returns whether a role includes another role. */
export function isEnough(role: AccessRole | undefined, needed: AccessRole): boolean {
  return role === 'editor' || (role === 'viewer' && needed === 'viewer');
}
