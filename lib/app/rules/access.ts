/** Roles, access and the claims of user tokens: what the caller of an endpoint has. */

export const accessRoles = ['editor', 'viewer'] as const;
export type AccessRole = (typeof accessRoles)[number];

export const accessTypes = ['public', 'restricted', 'organizationPrivate'] as const;
export type AccessType = (typeof accessTypes)[number];

/** The access type of a folder or document that is created without an access type. */
export const defaultAccessType: AccessType = 'public';
export const defaultAccessRole: AccessRole = 'editor';

/** All values of `errorCode` in permission entries. */
export const permissionErrorCodes = ['does_not_exist', 'permission_denied', 'something_went_wrong'] as const;

export const resourceTypes = ['organization', 'folder', 'document'] as const;
export type ResourceType = (typeof resourceTypes)[number];

/** A user's role on an organization, folder or document. `internalId` is the internal id of this resource. */
export interface Grant {
  readonly resourceType: ResourceType;
  readonly internalId: string;
  readonly accessRole: AccessRole;
  /** When the grant ends, in Unix seconds. */
  readonly expiresAt?: number | undefined;
  /** The items that the grant adds to the user's access context, as sorted `field:value` texts. */
  readonly accessFields?: readonly string[] | undefined;
  /** When the grant was written, in epoch ms. */
  readonly grantedAt?: number | undefined;
  /**
   * Epoch ms. The grant does not count if its document or folder, or a folder above it, was moved at or after this time. Only
   * grants in user tokens have this field.
   */
  readonly unmovedSince?: number | undefined;
  /** Revocations that end only this grant, beside those of the user. Only grants in user tokens have this field. */
  readonly revocations?: readonly Revocation[] | undefined;
}

/**
 * The record that a user was removed from an organization, folder or document. Grants, contacts and group memberships from before
 * the removal no longer count, even while they are still stored.
 */
export interface Revocation {
  readonly organizationKey: string;
  /** The internal id of the organization, folder or document that the user was removed from. */
  readonly resource: string;
  /** The time of the removal in epoch ms. */
  readonly at: number;
  /** The id of the job that purges the user's access and content in the resource. At its end, the job deletes this record. */
  readonly jobId: string;
  /** True if the resource is a folder. */
  readonly folder?: boolean | undefined;
}

/** A user's access in an organization. `exists` says whether the user exists in the tenant. */
export interface UserAccess {
  readonly exists: boolean;
  readonly organizationKey: string;
  readonly grants: readonly Grant[];
  /** The resources that the user was removed from. Earlier grants on them no longer count. */
  readonly revocations?: readonly Revocation[] | undefined;
  /** The current time in Unix seconds. */
  readonly now: number;
}

/**
 * A grant in a user token. It has the internal id of a resource, so it does not apply to a new resource with the same
 * customer id.
 */
export interface TokenGrant extends Pick<Grant, 'resourceType' | 'internalId' | 'accessRole' | 'expiresAt'> {
  readonly organizationKey: string;
}

/** The content of a user token. */
export interface UserClaims {
  readonly tenant: string;
  /** The id that the customer chose for the user. */
  readonly userId: string;
  /** The internal id of the user. A token of an erased user does not work for a new user with the same id. */
  readonly userKey: string;
  readonly tokenId: string;
  /**
   * A secret that is in all tokens of the user and is not stored. Stored answers of calls with an `Idempotency-Key` are
   * encrypted with it, so that a renewed token can read them.
   */
  readonly answerKey: string;
  readonly isAdmin: boolean;
  /** Epoch ms. */
  readonly issuedAt: number;
  /** Unix seconds. */
  readonly expiresAt: number;
  readonly grants: readonly TokenGrant[];
  /** See `tokenAccess`. */
  readonly seen?: readonly string[] | undefined;
}

/**
 * The access of a user with a token. `stored` has the stored grants, `token` the grants of the token that are still
 * valid, and `all` both.
 */
export interface TokenAccess {
  readonly stored: UserAccess;
  readonly token: UserAccess;
  readonly all: UserAccess;
}
