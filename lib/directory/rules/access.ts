/** Who may do what: the rules of permissions (spec 2 and 4.1), as functions of what is stored. */

export const accessRoles = ['editor', 'viewer'] as const;
export type AccessRole = (typeof accessRoles)[number];

export const accessTypes = ['public', 'restricted', 'organizationPrivate'] as const;
export type AccessType = (typeof accessTypes)[number];

/** What a folder or document is open to when nothing was said. */
export const defaultAccessType: AccessType = 'public';
export const defaultAccessRole: AccessRole = 'editor';

/** The complete enumeration of `errorCode` in permission entries. */
export const permissionErrorCodes = ['does_not_exist', 'permission_denied', 'something_went_wrong'] as const;

export const resourceTypes = ['organization', 'folder', 'document'] as const;
export type ResourceType = (typeof resourceTypes)[number];

/** What a user was given on an organization, folder or document, known by its internal id. */
export interface Grant {
  readonly resourceType: ResourceType;
  readonly internalId: string;
  readonly accessRole: AccessRole;
  /** Unix seconds at which it ends. */
  readonly expiresAt?: number | undefined;
  /** Access context as `field:value`, sorted. */
  readonly accessFields?: readonly string[] | undefined;
  /** Epoch ms. */
  readonly grantedAt?: number | undefined;
}

/** That a user was removed from an organization, or from one of its folders or documents, and that something older may still be stored. */
export interface Departure {
  /** Internal ids: of the organization, and of what the user left, which can be the organization itself. */
  readonly organizationKey: string;
  readonly resource: string;
  /** Epoch ms. */
  readonly at: number;
  readonly jobId: string;
  /** Whether it is a folder that the user left, which things can be moved into and out of before the job has ended. */
  readonly folder?: boolean | undefined;
  /** Of what was moved into the folder or out of it since, by internal ids: whether it lay in the folder when the user left. */
  readonly sides?: Sides | undefined;
}

/** Of what was moved: whether it lay beneath a folder before that, by internal ids. What lies beneath it now, lay where it did. */
export type Sides = ReadonlyMap<string, boolean>;

/** Stands for every organization of the tenant, and all in it, where a departure names what a user left: whoever is erased leaves all of it. */
export const everywhere = '*';

/**
 * Whether something that a user was given or did at a time (epoch ms) has ended because the user left what it lies in (spec 4.18).
 * `within` are the internal ids of that: the resource itself, the folders above it as far as they matter, from the nearest up, the organization.
 */
export function hasEnded(
  departures: readonly Departure[] | undefined,
  within: readonly string[],
  at: number | undefined,
): boolean {
  return (
    departures !== undefined &&
    departures.some(
      (departure) => (at ?? 0) <= departure.at && (departure.resource === everywhere || layIn(departure, within)),
    )
  );
}

/** Whether something lay in a resource when users left that; `within` as for `hasEnded`. */
export function layIn({ resource, sides }: Pick<Departure, 'resource' | 'sides'>, within: readonly string[]): boolean {
  for (const internalId of within) {
    const side = sides?.get(internalId);
    if (side !== undefined) return side;
    if (internalId === resource) return true;
  }
  return false;
}

/**
 * What is to be remembered of a folder or document that is moved, so that one can go on to tell whether it lay in a folder when users left that: whether
 * it did; undefined when where it lies then says the same, or when that is remembered already. `from` and `to` are the folders that it lies in, from the
 * nearest up.
 */
export function sideOf(
  left: Pick<Departure, 'resource' | 'sides'>,
  internalId: string,
  from: readonly string[],
  to: readonly string[],
): boolean | undefined {
  if (left.sides?.has(internalId)) return undefined;
  const lay = layIn(left, [internalId, ...from]);
  return lay === layIn(left, [internalId, ...to]) ? undefined : lay;
}

/** When something that a user is given in an organization counts as given, so that no departure from before ends it; epoch ms. */
export function givenAt(departures: readonly Departure[] | undefined, organization: string, now: number): number {
  return (departures ?? []).reduce(
    (latest, departure) =>
      departure.organizationKey === organization || departure.organizationKey === everywhere
        ? Math.max(latest, departure.at + 1)
        : latest,
    now,
  );
}

/** How many departures of one user can be unfinished at a time: they lie in the user's item, which many reads take along. */
export const mostDepartures = 100;

/**
 * A user's departures with one more, which is later than everything named in `since`; undefined when there are too many. It takes the
 * place of earlier ones that it covers: from the same document or organization, or from anything in the organization that is left as a whole.
 * One from the same folder stays: it counts for what was moved out in between.
 */
export function depart(
  departures: readonly Departure[] | undefined,
  leaving: Departure,
  since: readonly (number | undefined)[] = [],
): Departure[] | undefined {
  const at = Math.max(givenAt(departures, leaving.organizationKey, leaving.at), ...since.map((time) => time ?? 0));
  const covered = ({ organizationKey, resource }: Departure) =>
    (resource === leaving.resource && !leaving.folder) ||
    (organizationKey === leaving.organizationKey && leaving.resource === leaving.organizationKey);
  const next = [...(departures ?? []).filter((departure) => !covered(departure)), { ...leaving, at }];
  return next.length > mostDepartures ? undefined : next;
}

/** A folder as far as access goes: its effective access type and, from the root down, the folders that it lies in. */
export interface FolderAccess {
  readonly internalId: string;
  readonly accessType: AccessType;
  readonly ancestors: readonly { readonly internalId: string }[];
}

export interface DocumentAccess {
  readonly internalId: string;
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

/** One user in one organization: whether the tenant knows the user, and what the user was given there. */
export interface UserAccess {
  readonly known: boolean;
  readonly organizationId: string;
  readonly grants: readonly Grant[];
  /** What the user left; grants from before count no more. */
  readonly departures?: readonly Departure[] | undefined;
  /** The time, Unix seconds: a grant ends at its `expiresAt`. */
  readonly now: number;
}

/** The grant on a resource; `above` are the folders that it lies in. */
function liveGrant(user: UserAccess, internalId: string, above: readonly string[] = []): Grant | undefined {
  return user.grants.find((grant) => grant.internalId === internalId && counts(user, grant, above));
}

/** Whether a grant has not ended, neither by its time nor because the user left what it is on. */
function counts(user: UserAccess, grant: Grant, above: readonly string[] = []): boolean {
  return (
    isLive(grant, user.now) &&
    !hasEnded(user.departures, [grant.internalId, ...above, user.organizationId], grant.grantedAt)
  );
}

/** Whether a grant has not ended at `now` (Unix seconds). */
export function isLive(grant: Pick<Grant, 'expiresAt'>, now: number): boolean {
  return grant.expiresAt === undefined || grant.expiresAt > now;
}

function granted(grant: Grant, accessType?: AccessType): PermissionEntry {
  return {
    accessRole: grant.accessRole,
    ...(accessType && { accessType }),
    ...(grant.expiresAt !== undefined && { expiresAt: grant.expiresAt }),
  };
}

function denied(what: ResourceType, accessType?: AccessType): PermissionEntry {
  return {
    error: `User does not have access to ${what}`,
    errorCode: 'permission_denied',
    ...(accessType && { accessType }),
  };
}

/** The entry of a folder or document that does not exist (spec 4.1 rule 2). */
export function missing(what: 'folder' | 'document'): PermissionEntry {
  return { error: `${what === 'folder' ? 'Folder' : 'Document'} does not exist`, errorCode: 'does_not_exist' };
}

/** The entry of the organization itself: a member's role, else denied. */
export function organizationPermission(user: UserAccess): PermissionEntry {
  const membership = liveGrant(user, user.organizationId);
  return membership ? granted(membership) : denied('organization');
}

/** The entry of a folder: its own grant, else that of the nearest folder above it, else what its access type opens. */
export function folderPermission(user: UserAccess, folder: FolderAccess): PermissionEntry {
  return byGrantOn(user, folderChain(folder), folder.accessType) ?? byAccessType(user, 'folder', folder.accessType);
}

/**
 * The entry of a document (spec 4.1 rule 1): an explicit grant beats what it inherits from its folders; the access type
 * of a document in a folder is the folder's (spec 2).
 */
export function documentPermission(user: UserAccess, document: DocumentAccess): PermissionEntry {
  const accessType = document.folder?.accessType ?? document.accessType;
  const chain = [document.internalId, ...(document.folder ? folderChain(document.folder) : [])];
  return byGrantOn(user, chain, accessType) ?? byAccessType(user, 'document', accessType);
}

/** The folder and those above it, nearest first. */
export function folderChain(folder: FolderAccess): string[] {
  return [folder.internalId, ...folder.ancestors.map(({ internalId }) => internalId).reverse()];
}

function byGrantOn(user: UserAccess, chain: readonly string[], accessType: AccessType): PermissionEntry | undefined {
  for (const [index, internalId] of chain.entries()) {
    const grant = liveGrant(user, internalId, chain.slice(index + 1));
    if (grant) return granted(grant, accessType);
  }
  return undefined;
}

/**
 * What an access type opens without a grant: `public` to every user that the tenant knows, `organizationPrivate` to
 * members, `restricted` to nobody. A member has the role of the membership, and its end.
 */
function byAccessType(user: UserAccess, what: 'folder' | 'document', accessType: AccessType): PermissionEntry {
  const membership = liveGrant(user, user.organizationId);
  if (accessType !== 'restricted' && membership)
    return granted(accessType === 'public' ? { ...membership, expiresAt: undefined } : membership, accessType);
  if (accessType === 'public' && user.known) return { accessRole: defaultAccessRole, accessType };
  return denied(what, accessType);
}

/**
 * The access context of a user: the union over the grants that have not ended, sorted; undefined when there is none. `above` says which folders
 * a resource lies in, as far as that is known: a grant in a folder that the user left counts until it is removed where it is not.
 */
export function accessContext(
  user: UserAccess,
  above: (internalId: string) => readonly string[] | undefined = () => undefined,
): string[] | undefined {
  const fields = new Set(
    user.grants
      .filter((grant) => counts(user, grant, above(grant.internalId)))
      .flatMap((grant) => grant.accessFields ?? []),
  );
  return fields.size > 0 ? [...fields].sort() : undefined;
}

/** Whether an access context includes every `field:value` item that a record requires. A record without items requires nothing. */
export function contextAllows(
  { accessFields: required = [] }: { readonly accessFields?: readonly string[] | undefined },
  allowed: readonly string[] = [],
): boolean {
  return required.every((field) => allowed.includes(field));
}

/** `{ field: value or values }` as sorted, distinct `field:value` items. */
export function accessFields(
  access: Readonly<Record<string, string | number | readonly (string | number)[]>>,
): string[] {
  const items = Object.entries(access).flatMap(([field, values]) =>
    [values].flat().map((value) => `${field}:${value}`),
  );
  return [...new Set(items)].sort();
}
