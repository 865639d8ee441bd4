import type { CallingUser } from '../app/callers.ts';
import { combine } from '../app/capability.ts';
import type { AccessRole, Grant, TokenAccess, UserAccess, UserClaims } from '../app/rules/access.ts';
import type { UserRule } from '../app/rules/userRule.ts';
import { AccessRemovalEntity } from '../directory/accessRemovals.ts';
import { DocumentEntity, type DocumentWithFolder } from '../directory/documents.ts';
import { type Folder, FolderReader, readFolders } from '../directory/folders/folders.ts';
import { type Organization, OrganizationEntity } from '../directory/organizations.ts';
import { type OrganizationScope, organizationScope } from '../directory/organizationScope.ts';
import type { PermissionEntry } from '../directory/rules/access.ts';
import { rootFolderId } from '../directory/rules/folders.ts';
import { GrantEntity, type User, UserEntity } from '../directory/users.ts';
import { accessDenied } from '../shared/accessDenied.ts';
import { BoundedMap } from '../shared/boundedMap.ts';
import { StoredProfile } from '../shared/schema.ts';
import { BatchReader } from '../table/batchReader.ts';
import type { Stored } from '../table/entity.ts';
import { readAll } from '../table/pages.ts';
import { type CacheOptions, RecordCache } from '../table/recordCache.ts';
import { tableWith } from '../table/storeCapability.ts';
import { itemOf, type QueryableEntity, type Table } from '../table/table.ts';
import { type NamedPeople, readPeople } from './namedPeople.ts';
import type { NamedResources } from './rules/namedResources.ts';
import {
  type AccessRemoval,
  isEnough,
  tokenAccess,
  tokenDocumentPermission,
  tokenFolderPermission,
  tokenOrganizationPermission,
} from './rules/tokenAccess.ts';

/** The range of sort keys with grants and access removals. */
const GRANT_KEYS = ['GRANT', 'GRANT_REMOVED~'] as const;
const GRANTS_PER_QUERY = 1_000;
/** A refused user's access is read again at most once in this time. */
const REREAD_MILLISECONDS = 1_000;
const MAX_REREADS = 1_000;
/** For each user and organization. */
const MAX_FOLDERS = 1_000;

interface MemberAccess {
  readonly access: Omit<UserAccess, 'now'>;
  readonly removals: readonly AccessRemoval[];
}

interface MemberRecord {
  readonly organization: Stored<Organization>;
  readonly scope: OrganizationScope;
  readonly user: Stored<User>;
  /** Reads at the first call. */
  readonly readAccess: () => Promise<MemberAccess>;
  /** By the id that the customer chose. */
  readonly folders: Map<string, Promise<Stored<Folder> | undefined>>;
}

/** Keeps what it reads about a caller, except documents, for up to 10 s, so lost access ends within this time. */
export class UserAccessReader {
  readonly #table: Table;
  readonly #members;
  readonly #rereadAt = new BoundedMap<string, number>(MAX_REREADS);

  constructor(table: Table) {
    this.#table = table;
    this.#members = new RecordCache<MemberRecord>((id, options) => this.#readMember(id, options));
  }

  /**
   * Throws PERMISSION_DENIED without access, and for unknown resources too, so ids cannot be guessed. A rule with
   * `answersStrangers` gets a stranger instead. `fresh` reads with strong consistency.
   */
  async check(
    claims: UserClaims,
    resources: NamedResources,
    rule: Pick<UserRule, 'needs' | 'answersStrangers'>,
    { now, fresh }: CacheOptions,
  ): Promise<CallingUser> {
    const user =
      (await this.#find(claims, resources, rule, { now, fresh })) ??
      (!fresh && this.#mayReread(memberId(claims, resources.organizationId), now)
        ? await this.#find(claims, resources, rule, { now, fresh: true })
        : undefined);
    if (user) return user;
    if (rule.answersStrangers) return stranger(claims, now);
    throw accessDenied();
  }

  /** The calling user is never a stranger. */
  async people(
    claims: UserClaims,
    { organizationId, documentIds: [documentId = ''] }: NamedResources,
    userIds: readonly string[],
    options: CacheOptions,
  ): Promise<NamedPeople> {
    const member = await this.#members.get(memberId(claims, organizationId), options, () => true);
    const document = member && (await this.#placedDocument(member, documentId));
    if (!document) throw accessDenied();
    const { strangers, profiles } = await readPeople(this.#table, member.scope, document, userIds, options.now);
    return { strangers: strangers.difference(new Set([claims.userId])), profiles };
  }

  async #find(
    claims: UserClaims,
    resources: NamedResources,
    { needs, answersStrangers }: Pick<UserRule, 'needs' | 'answersStrangers'>,
    options: CacheOptions,
  ): Promise<CallingUser | undefined> {
    const member = await this.#members.get(memberId(claims, resources.organizationId), options, () => true);
    if (!member || member.user.internalId !== claims.userKey || member.organization.disabled) return undefined;
    const namesOrganization = resources.documentIds.length === 0 && resources.folderId === undefined;
    const needsNoRole = needs === 'self' && namesOrganization;
    const [stored, permissionsOf] = await Promise.all([
      member.readAccess(),
      needsNoRole ? undefined : this.#readResources(member, resources),
    ]);
    const access = tokenAccess(claims, {
      user: { ...stored.access, now: options.now / 1000 },
      removals: stored.removals,
      disabledAt: member.organization.disabledAt,
    });
    if (needsNoRole && !answersStrangers && !knowsOrganization(claims, stored.access)) return undefined;
    const role = permissionsOf && lowestRole(permissionsOf(access));
    if (!needsNoRole && !isEnough(role, needs === 'self' ? 'viewer' : needs)) return undefined;
    return { userId: claims.userId, profile: StoredProfile.parse(member.user), role, access, strangers: new Set() };
  }

  async #readResources(
    member: MemberRecord,
    { documentIds, folderId }: NamedResources,
  ): Promise<(access: TokenAccess) => (PermissionEntry | undefined)[]> {
    const [documents, folders] = await Promise.all([
      Promise.all(documentIds.map((documentId) => this.#placedDocument(member, documentId))),
      Promise.all(folderId === undefined || folderId === rootFolderId ? [] : [this.#folder(member, folderId)]),
    ]);
    return (access) =>
      documents.length + folders.length === 0
        ? [tokenOrganizationPermission(access)]
        : [
            ...documents.map((document) => document && tokenDocumentPermission(access, document)),
            ...folders.map((folder) => folder && tokenFolderPermission(access, folder)),
          ];
  }

  /**
   * Undefined if the document or its folder does not exist. Read in each call, because another document can have the id
   * after a deletion or migration.
   */
  async #placedDocument(member: MemberRecord, documentId: string): Promise<DocumentWithFolder | undefined> {
    const document = await BatchReader.of(this.#table).get(DocumentEntity, { ...member.scope, documentId });
    if (!document?.folder) return document && { ...document, folder: undefined };
    const folder = await this.#folder(member, document.folder.folderId);
    return folder?.internalId === document.folder.internalId ? { ...document, folder } : undefined;
  }

  async #folder({ folders, scope }: MemberRecord, folderId: string): Promise<Stored<Folder> | undefined> {
    return keep(folders, folderId, async () => {
      const [folder] = await new FolderReader(this.#table).getByIds(scope, [folderId]);
      return folder;
    });
  }

  async #readMember(id: string, { eventual }: { eventual: boolean }): Promise<MemberRecord | undefined> {
    const [tenant, userId, organizationId] = JSON.parse(id) as [string, string, string];
    const [organization, user] = await this.#table.batchGet(
      itemOf(OrganizationEntity, { tenant, organizationId }),
      itemOf(UserEntity, { tenant, userId }),
    );
    if (!organization || !user) return undefined;
    const scope = organizationScope(tenant, organization);
    return {
      organization,
      scope,
      user,
      readAccess: readOnce(() => this.#readAccess(scope, user, eventual)),
      folders: new BoundedMap(MAX_FOLDERS),
    };
  }

  async #readAccess(scope: OrganizationScope, user: Stored<User>, eventual: boolean): Promise<MemberAccess> {
    const items = await readAll((after) =>
      this.#table.query(
        grantsAndRemovals,
        { ...scope, userId: user.userId },
        { between: GRANT_KEYS, limit: GRANTS_PER_QUERY, after, eventual },
      ),
    );
    return {
      access: {
        exists: true,
        organizationKey: scope.organizationKey,
        grants: items.flatMap(({ grant }) => grant ?? []),
        revocations: user.revocations,
      },
      removals: items.flatMap(({ removal }) => removal ?? []),
    };
  }

  /** No `await`, so only one of several parallel requests gets true. */
  #mayReread(id: string, now: number): boolean {
    if ((this.#rereadAt.get(id) ?? -Infinity) + REREAD_MILLISECONDS > now) return false;
    this.#rereadAt.set(id, now);
    return true;
  }
}

const grantsAndRemovals: QueryableEntity<
  { readonly grant?: Stored<Grant>; readonly removal?: Stored<AccessRemoval> },
  { readonly tenant: string; readonly organizationKey: string; readonly userId: string }
> = {
  partition: (of) => GrantEntity.partition(of),
  fromItem: (item, now) => {
    if (item._t === AccessRemovalEntity.type) {
      const removal = AccessRemovalEntity.fromItem(item, now);
      return removal && { removal, _r: removal._r };
    }
    const grant = GrantEntity.fromItem(item, now);
    return grant && { grant, _r: grant._r };
  },
};

function knowsOrganization({ grants }: UserClaims, access: MemberAccess['access']): boolean {
  return access.grants.length > 0 || grants.some(({ organizationKey }) => organizationKey === access.organizationKey);
}

function stranger(claims: UserClaims, now: number): CallingUser {
  const user = { exists: false, organizationKey: '', grants: [], now: now / 1000 };
  return {
    userId: claims.userId,
    profile: {},
    role: undefined,
    access: tokenAccess({ grants: [], issuedAt: now }, { user, removals: [] }),
    strangers: new Set(),
  };
}

function memberId({ tenant, userId }: UserClaims, organizationId: string): string {
  return JSON.stringify([tenant, userId, organizationId]);
}

function readOnce<T>(read: () => Promise<T>): () => Promise<T> {
  const values = new Map<'', Promise<T>>();
  return () => keep(values, '', read);
}

/** A failed read is not kept. */
async function keep<K, T>(values: Map<K, Promise<T>>, key: K, read: () => Promise<T>): Promise<T> {
  const kept = values.get(key);
  if (kept) return kept;
  const value = read();
  values.set(key, value);
  try {
    return await value;
  } catch (error) {
    values.delete(key);
    throw error;
  }
}

function lowestRole(entries: readonly (PermissionEntry | undefined)[]): AccessRole | undefined {
  const roles = entries.map((entry) => entry?.accessRole);
  if (roles.includes(undefined)) return undefined;
  return roles.includes('viewer') ? 'viewer' : 'editor';
}

export const userAccess = /* @__PURE__ */ combine(
  { table: /* @__PURE__ */ tableWith(['GetItem', 'BatchGetItem', 'Query']), folders: readFolders },
  ({ table }) => new UserAccessReader(table),
);
