/** The rules that compute permissions from stored grants, folders and documents. */

export const accessRoles = ['editor', 'viewer'] as const;
export type AccessRole = (typeof accessRoles)[number];

export const accessTypes = ['public', 'restricted', 'organizationPrivate'] as const;
export type AccessType = (typeof accessTypes)[number];

/** The access type of a folder or document that was created without an access type. */
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
  /** The access context as sorted `field:value` items. */
  readonly accessFields?: readonly string[] | undefined;
  /** When the grant was written, in epoch ms. */
  readonly grantedAt?: number | undefined;
  /**
   * Epoch ms. If it is defined, the grant does not count after its document or folder, or a folder above, was moved at or after this
   * time. Only grants of user tokens have it.
   */
  readonly unmovedSince?: number | undefined;
}

/**
 * The record that a user was removed from an organization, or from one of its folders or documents. Grants, contacts
 * and group memberships from before this time no longer count, even if they are still stored.
 */
export interface Revocation {
  readonly organizationKey: string;
  /** The internal id of the organization, folder or document that the user was removed from. */
  readonly resource: string;
  /** The time of the removal in epoch ms. */
  readonly at: number;
  /** The id of the job that purges the user's access and content in the resource, and then this record. */
  readonly jobId: string;
  /** Whether the resource is a folder. Documents and folders can be moved into and out of a folder before the job ends. */
  readonly folder?: boolean | undefined;
  /** The documents and folders that were moved into or out of the folder since the removal. */
  readonly moved?: MovedKeys | undefined;
}

/**
 * Whether each moved document or folder was in a folder when users were removed from that folder, by internal id. The value of a
 * moved folder also holds for everything below the moved folder.
 */
export type MovedKeys = ReadonlyMap<string, boolean>;

/**
 * The value of `resource` and `organizationKey` in the revocation of an erased user. It stands for every organization of the tenant.
 */
export const everywhere = '*';

/**
 * Returns whether a user's grant or action from the time `at` (epoch ms) no longer counts, because the user was removed since then.
 * `within` are the internal ids of the resource, of the folders above it from the nearest up, and of the organization.
 */
export function hasEnded(
  revocations: readonly Revocation[] | undefined,
  within: readonly string[],
  at: number | undefined,
): boolean {
  return (
    revocations !== undefined &&
    revocations.some(
      (revocation) => (at ?? 0) <= revocation.at && (revocation.resource === everywhere || wasIn(revocation, within)),
    )
  );
}

/**
 * Returns whether a document or folder was in a resource when users were removed from the resource. `within` has the same ids as
 * for `hasEnded`.
 */
export function wasIn({ resource, moved }: Pick<Revocation, 'resource' | 'moved'>, within: readonly string[]): boolean {
  for (const internalId of within) {
    const wasInside = moved?.get(internalId);
    if (wasInside !== undefined) return wasInside;
    if (internalId === resource) return true;
  }
  return false;
}

/**
 * Returns the value to record for a moved document or folder: whether it was in a folder when users were removed from that
 * folder. Returns undefined if nothing must be recorded: the new position gives the same value, or the value is recorded already.
 * `from` and `to` are the internal ids of the folders before and after the move, from the nearest up.
 */
export function findCrossing(
  revoked: Pick<Revocation, 'resource' | 'moved'>,
  internalId: string,
  from: readonly string[],
  to: readonly string[],
): boolean | undefined {
  if (revoked.moved?.has(internalId)) return undefined;
  const wasInside = wasIn(revoked, [internalId, ...from]);
  return wasInside === wasIn(revoked, [internalId, ...to]) ? undefined : wasInside;
}

/**
 * Returns the time (epoch ms) to store with a user's new access in an organization. It is `now`, but later than all revocations of
 * the organization.
 */
export function accessTimeAfter(
  revocations: readonly Revocation[] | undefined,
  organizationKey: string,
  now: number,
): number {
  const fromOrganization = (revocations ?? []).filter((revocation) =>
    [organizationKey, everywhere].includes(revocation.organizationKey),
  );
  return Math.max(now, ...fromOrganization.map(({ at }) => at + 1));
}

/** The largest number of revocations of one user. They are stored in the user's item, which many requests read. */
export const MAX_REVOCATIONS = 100;

/**
 * Returns a user's revocations with one more. The new revocation is at least as late as all times in `since`. Returns undefined if
 * there are too many revocations. The new revocation replaces revocations that it covers:
 * - revocations of the same document or organization
 * - revocations of anything in the organization, if the user is removed from the whole organization
 *
 * An earlier revocation of the same folder stays, because documents may have been moved out between the two revocations.
 */
export function addRevocation(
  revocations: readonly Revocation[] | undefined,
  added: Revocation,
  since: readonly (number | undefined)[] = [],
): Revocation[] | undefined {
  const at = Math.max(accessTimeAfter(revocations, added.organizationKey, added.at), ...since.map((time) => time ?? 0));
  const isCovered = ({ organizationKey, resource }: Revocation) =>
    (resource === added.resource && !added.folder) ||
    (organizationKey === added.organizationKey && added.resource === added.organizationKey);
  const next = [...(revocations ?? []).filter((revocation) => !isCovered(revocation)), { ...added, at }];
  return next.length > MAX_REVOCATIONS ? undefined : next;
}

/** A document or folder, and when it was last moved (epoch ms). A document or folder that was never moved has no time. */
interface MovableResource {
  readonly internalId: string;
  readonly movedAt?: number | undefined;
}

/** The fields of a folder that decide access: its effective access type, and the folders above it from the root down. */
export interface FolderAccess extends MovableResource {
  readonly accessType: AccessType;
  readonly ancestors: readonly MovableResource[];
}

export interface DocumentAccess extends MovableResource {
  readonly accessType: AccessType;
  readonly folder?: FolderAccess | undefined;
}

export interface PermissionEntry {
  accessRole?: AccessRole;
  accessType?: AccessType;
  expiresAt?: number;
  error?: string;
  errorCode?: (typeof permissionErrorCodes)[number];
}

/** A user in an organization: whether the user exists in the tenant, and the user's grants in the organization. */
export interface UserAccess {
  readonly exists: boolean;
  readonly organizationId: string;
  readonly grants: readonly Grant[];
  /** The resources that the user was removed from. Earlier grants on them no longer count. */
  readonly revocations?: readonly Revocation[] | undefined;
  /** The current time in Unix seconds. */
  readonly now: number;
}

/**
 * Returns the user's grant on a resource, or undefined if it has ended. `above` are the internal ids of the folders above the
 * resource.
 */
function findActiveGrant(user: UserAccess, internalId: string, above: readonly string[] = []): Grant | undefined {
  return user.grants.find((grant) => grant.internalId === internalId && isInForce(user, grant, above));
}

/** Returns whether a grant has neither expired nor ended because the user was removed from its resource. */
function isInForce(user: UserAccess, grant: Grant, above: readonly string[] = []): boolean {
  return (
    isUnexpired(grant, user.now) &&
    !hasEnded(user.revocations, [grant.internalId, ...above, user.organizationId], grant.grantedAt)
  );
}

/** Returns whether a grant has not expired at `now` (Unix seconds). */
export function isUnexpired(grant: Pick<Grant, 'expiresAt'>, now: number): boolean {
  return grant.expiresAt === undefined || grant.expiresAt > now;
}

function grantedEntry(grant: Grant, accessType?: AccessType): PermissionEntry {
  return {
    accessRole: grant.accessRole,
    ...(accessType && { accessType }),
    ...(grant.expiresAt !== undefined && { expiresAt: grant.expiresAt }),
  };
}

function deniedEntry(resourceType: ResourceType, accessType?: AccessType): PermissionEntry {
  return {
    error: `User does not have access to ${resourceType}`,
    errorCode: 'permission_denied',
    ...(accessType && { accessType }),
  };
}

/** Returns the permission entry of a folder or document that does not exist. */
export function missingEntry(type: 'folder' | 'document'): PermissionEntry {
  return { error: `${type === 'folder' ? 'Folder' : 'Document'} does not exist`, errorCode: 'does_not_exist' };
}

/** Returns the permission entry of the organization. A member has the role of the membership. Other users are denied. */
export function organizationPermission(user: UserAccess): PermissionEntry {
  const membership = findActiveGrant(user, user.organizationId);
  return membership ? grantedEntry(membership) : deniedEntry('organization');
}

/**
 * Returns the permission entry of a folder. The user's grant on the folder decides, otherwise the nearest grant on a folder above
 * it, otherwise the access type.
 */
export function folderPermission(user: UserAccess, folder: FolderAccess): PermissionEntry {
  return (
    entryOfGrant(user, withAncestors(folder), folder.accessType) ?? entryOfAccessType(user, 'folder', folder.accessType)
  );
}

/**
 * Returns the permission entry of a document. The user's grant on the document decides, otherwise the nearest grant on a folder
 * above it, otherwise the access type. A document in a folder has the access type of the folder.
 */
export function documentPermission(user: UserAccess, document: DocumentAccess): PermissionEntry {
  const accessType = document.folder?.accessType ?? document.accessType;
  const chain = [document, ...(document.folder ? withAncestors(document.folder) : [])];
  return entryOfGrant(user, chain, accessType) ?? entryOfAccessType(user, 'document', accessType);
}

/**
 * Returns when a user's access to a document ends because grants expire, in Unix seconds. Returns undefined for access without
 * such an end.
 */
export function findAccessEnd(user: UserAccess, document: DocumentAccess): number | undefined {
  const ends = user.grants.flatMap(({ expiresAt }) =>
    expiresAt !== undefined && expiresAt > user.now ? [expiresAt] : [],
  );
  return ends
    .sort((a, b) => a - b)
    .find((now) => documentPermission({ ...user, now }, document).errorCode !== undefined);
}

/** Returns the internal ids of a folder and of the folders above it, from the nearest up. */
export function folderChain(folder: FolderAccess): string[] {
  return withAncestors(folder).map(({ internalId }) => internalId);
}

/** Returns a folder and the folders above it, from the nearest up. */
function withAncestors(folder: FolderAccess): MovableResource[] {
  return [folder, ...folder.ancestors.toReversed()];
}

function entryOfGrant(
  user: UserAccess,
  chain: readonly MovableResource[],
  accessType: AccessType,
): PermissionEntry | undefined {
  const internalIds = chain.map(({ internalId }) => internalId);
  for (const [index, internalId] of internalIds.entries()) {
    const grant = findActiveGrant(user, internalId, internalIds.slice(index + 1));
    if (grant && !wasMoved(chain.slice(index), grant.unmovedSince)) return grantedEntry(grant, accessType);
  }
  return undefined;
}

/** Returns whether one of the documents and folders was moved at or after a time (epoch ms). Returns false without a time. */
function wasMoved(resources: readonly MovableResource[], since: number | undefined): boolean {
  return since !== undefined && resources.some(({ movedAt }) => movedAt !== undefined && movedAt >= since);
}

/**
 * Returns the permission entry of a user without a grant on the resource. `public` allows every user of the tenant,
 * `organizationPrivate` allows members, and `restricted` allows nobody. A member has the role of the membership. With
 * `organizationPrivate`, the access ends with the membership.
 */
function entryOfAccessType(user: UserAccess, type: 'folder' | 'document', accessType: AccessType): PermissionEntry {
  const membership = findActiveGrant(user, user.organizationId);
  if (accessType !== 'restricted' && membership)
    return grantedEntry(accessType === 'public' ? { ...membership, expiresAt: undefined } : membership, accessType);
  if (accessType === 'public' && user.exists) return { accessRole: defaultAccessRole, accessType };
  return deniedEntry(type, accessType);
}

/**
 * Returns the access context of a user: the sorted items of all grants that have not ended. Returns undefined if there are none.
 * `above` returns the internal ids of the folders above a resource, or undefined if the caller did not read them. A grant on such a
 * resource counts until a job removes the grant, even if the user was removed from a folder above.
 */
export function accessContext(
  user: UserAccess,
  above: (internalId: string) => readonly string[] | undefined = () => undefined,
): string[] | undefined {
  const fields = new Set(
    user.grants
      .filter((grant) => isInForce(user, grant, above(grant.internalId)))
      .flatMap((grant) => grant.accessFields ?? []),
  );
  return fields.size > 0 ? [...fields].sort() : undefined;
}

/**
 * Returns whether an access context (`allowed`) includes every `field:value` item of a record. Every context allows a record
 * without items.
 */
export function contextAllows(
  { accessFields: required = [] }: { readonly accessFields?: readonly string[] | undefined },
  allowed: readonly string[] = [],
): boolean {
  return required.every((field) => allowed.includes(field));
}

/** Returns an access context in the form `{ field: value or values }` as sorted, distinct `field:value` items. */
export function accessFields(
  access: Readonly<Record<string, string | number | readonly (string | number)[]>>,
): string[] {
  const items = Object.entries(access).flatMap(([field, values]) =>
    [values].flat().map((value) => `${field}:${value}`),
  );
  return [...new Set(items)].sort();
}
