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
  readonly expiresAt?: number | undefined;
  /** The items that the grant adds to the user's access context, as sorted `field:value` texts. */
  readonly accessFields?: readonly string[] | undefined;
  readonly grantedAt?: number | undefined;
  /**
   * Epoch ms. The grant ends if its resource, or a folder above it, was moved at or after this time. Only grants in
   * tokens have this field.
   */
  readonly unmovedSince?: number | undefined;
  /** Revocations that end only this grant. Only grants in tokens have them. */
  readonly revocations?: readonly Revocation[] | undefined;
}

/**
 * A user was removed from `resource` at the time `at` (epoch ms). Access from before no longer counts, even while it is
 * stored.
 */
export interface Revocation {
  readonly organizationKey: string;
  readonly resource: string;
  readonly at: number;
  /** The job that the removal started. It deletes this record at its end. */
  readonly jobId: string;
  readonly folder?: boolean | undefined;
}

/** `exists`: the user may open public documents and folders without a grant. `now` is in Unix seconds. */
export interface UserAccess {
  readonly exists: boolean;
  readonly organizationKey: string;
  readonly grants: readonly Grant[];
  readonly revocations?: readonly Revocation[] | undefined;
  readonly now: number;
}

/** A token has internal ids, so its grant does not apply to a new resource with the same customer id. */
export interface TokenGrant extends Pick<Grant, 'resourceType' | 'internalId' | 'accessRole' | 'expiresAt'> {
  readonly organizationKey: string;
}

export interface UserClaims {
  readonly tenant: string;
  readonly userId: string;
  /** A token of an erased user does not work for a new user with the same id. */
  readonly userKey: string;
  readonly tokenId: string;
  /**
   * A secret in the user's tokens, which nothing stores. It encrypts stored answers. It changes only with the signing
   * key, so that a renewed token can read them.
   */
  readonly answerKey: string;
  readonly isAdmin: boolean;
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly grants: readonly TokenGrant[];
  /** Ids of removals that count as earlier than the token (`tokenAccess`). */
  readonly seen?: readonly string[] | undefined;
}

export interface TokenAccess {
  readonly stored: UserAccess;
  readonly token: UserAccess;
  readonly all: UserAccess;
}
