export const accessRoles = ['editor', 'viewer'] as const;
export type AccessRole = (typeof accessRoles)[number];

export const accessTypes = ['public', 'restricted', 'organizationPrivate'] as const;
export type AccessType = (typeof accessTypes)[number];

export const defaultAccessType: AccessType = 'public';
export const defaultAccessRole: AccessRole = 'editor';

export const permissionErrorCodes = ['does_not_exist', 'permission_denied', 'something_went_wrong'] as const;

export const resourceTypes = ['organization', 'folder', 'document'] as const;
export type ResourceType = (typeof resourceTypes)[number];

/** A user's right on an organization, folder or document. `expiresAt` is in Unix seconds, `grantedAt` in epoch ms. */
export interface Grant {
  readonly resourceType: ResourceType;
  readonly internalId: string;
  readonly accessRole: AccessRole;
  /** Unix seconds. */
  readonly expiresAt?: number | undefined;
  /** Sorted `field:value` texts. */
  readonly accessFields?: readonly string[] | undefined;
  /** Epoch ms. */
  readonly grantedAt?: number | undefined;
  /**
   * Epoch ms. The grant does not count if its document or folder, or a folder above it, was moved at or after this
   * time. Only in user tokens.
   */
  readonly unmovedSince?: number | undefined;
  /** End only this grant, beside those of the user. Only in user tokens. */
  readonly revocations?: readonly Revocation[] | undefined;
}

/**
 * A user was removed from an organization, folder or document. Grants, contacts and group memberships from before no
 * longer count, even while they are stored.
 */
export interface Revocation {
  readonly organizationKey: string;
  /** An internal id. */
  readonly resource: string;
  /** Epoch ms. */
  readonly at: number;
  /** The job purges the user's access and content in the resource, and then deletes this record. */
  readonly jobId: string;
  readonly folder?: boolean | undefined;
}

/** `exists` in the tenant. `now` is in Unix seconds. */
export interface UserAccess {
  readonly exists: boolean;
  readonly organizationKey: string;
  readonly grants: readonly Grant[];
  /** Earlier grants on these resources no longer count. */
  readonly revocations?: readonly Revocation[] | undefined;
  /** Unix seconds. */
  readonly now: number;
}

/** Has the internal id of a resource, so it does not apply to a new one with the same customer id. */
export interface TokenGrant extends Pick<Grant, 'resourceType' | 'internalId' | 'accessRole' | 'expiresAt'> {
  readonly organizationKey: string;
}

export interface UserClaims {
  readonly tenant: string;
  readonly userId: string;
  /** Internal. A token of an erased user does not work for a new user with the same id. */
  readonly userKey: string;
  readonly tokenId: string;
  /**
   * In all tokens of the user, and not stored. Encrypts stored answers of calls with an `Idempotency-Key`, so that a
   * renewed token can read them.
   */
  readonly answerKey: string;
  readonly isAdmin: boolean;
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly grants: readonly TokenGrant[];
  /** See `tokenAccess`. */
  readonly seen?: readonly string[] | undefined;
}

export interface TokenAccess {
  readonly stored: UserAccess;
  readonly token: UserAccess;
  readonly all: UserAccess;
}
