import {
  type AccessRole,
  type AccessType,
  defaultAccessRole,
  type Grant,
  permissionErrorCodes,
  type ResourceType,
  type Revocation,
  type UserAccess,
} from '../../app/rules/access.ts';

/** Every organization of the tenant, in the revocation of an erased user. */
export const everywhere = '*';

/**
 * Whether access from the time `at` (epoch ms) no longer counts. `within` has the internal ids of the resource, of the
 * folders above it, and of the organization.
 */
export function hasEnded(
  revocations: readonly Revocation[] | undefined,
  within: readonly string[],
  at: number | undefined,
): boolean {
  return (
    revocations !== undefined &&
    revocations.some(
      (revocation) =>
        (at ?? 0) <= revocation.at && (revocation.resource === everywhere || within.includes(revocation.resource)),
    )
  );
}

/** Like `hasEnded`, if the folders above the resource are not known: a removal from any folder ends earlier access. */
export function canHaveEnded(
  revocations: readonly Revocation[] | undefined,
  { organizationKey, internalId }: { readonly organizationKey: string; readonly internalId: string },
  at: number,
): boolean {
  const ofOrganization = revocations?.filter((revocation) => revocation.organizationKey === organizationKey) ?? [];
  const folders = ofOrganization.filter(({ folder }) => folder).map(({ resource }) => resource);
  return hasEnded(revocations, [internalId, organizationKey, ...folders], at);
}

/** The later of `now` and 1 ms after the user's last revocation in the organization or everywhere. */
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

/** Few, because the revocations are in the user's item, which many requests read. */
export const MAX_REVOCATIONS = 100;

/**
 * Returns undefined above `MAX_REVOCATIONS`, except for an erasure everywhere, which must hide the user at once. The
 * added revocation is not before any time in `since`. It replaces those of the same resource, or all in the
 * organization if that is the resource.
 */
export function addRevocation(
  revocations: readonly Revocation[] | undefined,
  added: Revocation,
  since: readonly (number | undefined)[] = [],
): Revocation[] | undefined {
  const at = Math.max(accessTimeAfter(revocations, added.organizationKey, added.at), ...since.map((time) => time ?? 0));
  const isCovered = ({ organizationKey, resource }: Revocation) =>
    resource === added.resource ||
    (organizationKey === added.organizationKey && added.resource === added.organizationKey);
  const next = [...(revocations ?? []).filter((revocation) => !isCovered(revocation)), { ...added, at }];
  return next.length > MAX_REVOCATIONS && added.resource !== everywhere ? undefined : next;
}

export function withoutRevocations<U extends { readonly revocations?: readonly Revocation[] | undefined }>(
  user: U,
  jobId: string,
): U {
  const revocations = (user.revocations ?? []).filter((revocation) => revocation.jobId !== jobId);
  if (revocations.length === (user.revocations ?? []).length) return user;
  return { ...user, revocations: revocations.length > 0 ? revocations : undefined };
}

interface MovableResource {
  readonly internalId: string;
  readonly movedAt?: number | undefined;
}

/** `accessType` is the effective one. `ancestors` begin at the root. */
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

function findActiveGrant(user: UserAccess, internalId: string, above: readonly string[] = []): Grant | undefined {
  return grantsByResource(user.grants)
    .get(internalId)
    ?.find((grant) => isInForce(user, grant, above));
}

const indexes = new WeakMap<readonly Grant[], ReadonlyMap<string, Grant[]>>();

/** Kept as long as the list: one request searches it for thousands of resources. */
function grantsByResource(grants: readonly Grant[]): ReadonlyMap<string, Grant[]> {
  const known = indexes.get(grants);
  if (known) return known;
  const index = Map.groupBy(grants, ({ internalId }) => internalId);
  indexes.set(grants, index);
  return index;
}

function isInForce(user: UserAccess, grant: Grant, above: readonly string[] = []): boolean {
  const within = [grant.internalId, ...above, user.organizationKey];
  return (
    isUnexpired(grant, user.now) &&
    !hasEnded(user.revocations, within, grant.grantedAt) &&
    !hasEnded(grant.revocations, within, grant.grantedAt)
  );
}

/** `now` is Unix seconds. */
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

export function deniedEntry(resourceType: ResourceType, accessType?: AccessType): PermissionEntry {
  return {
    error: `User does not have access to ${resourceType}`,
    errorCode: 'permission_denied',
    ...(accessType && { accessType }),
  };
}

export function missingEntry(type: 'folder' | 'document'): PermissionEntry {
  return { error: `${type === 'folder' ? 'Folder' : 'Document'} does not exist`, errorCode: 'does_not_exist' };
}

export function organizationPermission(user: UserAccess): PermissionEntry {
  const membership = findActiveGrant(user, user.organizationKey);
  return membership ? grantedEntry(membership) : deniedEntry('organization');
}

export function folderPermission(user: UserAccess, folder: FolderAccess): PermissionEntry {
  return (
    entryOfGrant(user, withAncestors(folder), folder.accessType) ?? entryOfAccessType(user, 'folder', folder.accessType)
  );
}

/** The nearest grant in force decides, then the access type of the folder, or that of a document outside folders. */
export function documentPermission(user: UserAccess, document: DocumentAccess): PermissionEntry {
  const accessType = document.folder?.accessType ?? document.accessType;
  const chain = [document, ...(document.folder ? withAncestors(document.folder) : [])];
  return entryOfGrant(user, chain, accessType) ?? entryOfAccessType(user, 'document', accessType);
}

/** Unix seconds. Undefined if the access does not end with a grant. */
export function findAccessEnd(user: UserAccess, document: DocumentAccess): number | undefined {
  const ends = user.grants.flatMap(({ expiresAt }) =>
    expiresAt !== undefined && expiresAt > user.now ? [expiresAt] : [],
  );
  return ends
    .sort((a, b) => a - b)
    .find((now) => documentPermission({ ...user, now }, document).errorCode !== undefined);
}

export function folderChain(folder: FolderAccess): string[] {
  return withAncestors(folder).map(({ internalId }) => internalId);
}

export function foldersAbove({ folder }: Pick<DocumentAccess, 'folder'>): string[] {
  return folder ? folderChain(folder) : [];
}

export function hasEndedInDocument(
  revocations: readonly Revocation[] | undefined,
  document: DocumentAccess,
  organizationKey: string,
  at: number,
): boolean {
  return hasEnded(revocations, [document.internalId, ...foldersAbove(document), organizationKey], at);
}

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

function wasMoved(resources: readonly MovableResource[], since: number | undefined): boolean {
  return since !== undefined && resources.some(({ movedAt }) => movedAt !== undefined && movedAt >= since);
}

function entryOfAccessType(user: UserAccess, type: 'folder' | 'document', accessType: AccessType): PermissionEntry {
  const membership = findActiveGrant(user, user.organizationKey);
  if (accessType !== 'restricted' && membership)
    return grantedEntry(accessType === 'public' ? { ...membership, expiresAt: undefined } : membership, accessType);
  if (accessType === 'public' && user.exists) return { accessRole: defaultAccessRole, accessType };
  return deniedEntry(type, accessType);
}

/**
 * Sorted `field:value` items of all grants in force. If `above` returns undefined, a removal from a folder above is
 * ignored until a job has deleted the grant.
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

export function contextAllows(
  { accessFields: required = [] }: { readonly accessFields?: readonly string[] | undefined },
  allowed: readonly string[] = [],
): boolean {
  return required.every((field) => allowed.includes(field));
}

/** Sorted, distinct `field:value` texts. Requests send `{ field: value or values }`. */
export function accessFields(
  access: Readonly<Record<string, string | number | readonly (string | number)[]>>,
): string[] {
  const items = Object.entries(access).flatMap(([field, values]) =>
    [values].flat().map((value) => `${field}:${value}`),
  );
  return [...new Set(items)].sort();
}
