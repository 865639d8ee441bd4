import type { Grant, ResourceType, UserAccess } from '../app/rules/access.ts';
import { DocumentReader } from '../directory/documents.ts';
import { type Organization, OrganizationEntity } from '../directory/organizations.ts';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import {
  type DocumentAccess,
  documentPermission,
  findAccessEnd,
  foldersAbove,
  organizationPermission,
} from '../directory/rules/access.ts';
import { type ThreadAccess, visibleToMembersOf } from '../directory/rules/visibility.ts';
import { GrantEntity, isExistingUser, type User, UserEntity, UserReader } from '../directory/users.ts';
import { distinct } from '../shared/collections.ts';
import { inParallel } from '../shared/inParallel.ts';
import type { Stored } from '../table/entity.ts';
import { itemOf, type Table } from '../table/table.ts';
import type { DocumentContext } from './documentScope.ts';
import {
  canSee,
  canSeeWithoutContext,
  type CheckedUser,
  isOpenToAll,
  type RecordAccess,
  requiredContext,
} from './rules/threadAccess.ts';

export interface Membership {
  readonly organizationId: string;
  readonly userId: string;
}

/** An unknown organization has no members. */
async function checkMemberships(
  table: Table,
  tenant: string,
  pairs: readonly Membership[],
  now: number,
): Promise<boolean[]> {
  const organizations = await table.getMany(
    OrganizationEntity,
    pairs.map(({ organizationId }) => ({ tenant, organizationId })),
  );
  const existingPairs = pairs.flatMap(({ userId }, index) => {
    const organizationKey = organizations[index]?.internalId;
    return organizationKey === undefined ? [] : [{ index, userId, organizationKey }];
  });
  const [users, grants] = await readUsersAndGrants(
    table,
    tenant,
    existingPairs.map(({ userId, organizationKey }) => ({
      organizationKey,
      userId,
      resourceType: 'organization' as const,
      internalId: organizationKey,
    })),
  );
  const isMember = pairs.map(() => false);
  for (const [position, { index, organizationKey }] of existingPairs.entries()) {
    const grant = grants[position];
    const access = {
      exists: true,
      organizationKey,
      grants: grant ? [grant] : [],
      revocations: users[position]?.revocations,
      now: now / 1000,
    };
    isMember[index] = organizationPermission(access).errorCode === undefined;
  }
  return isMember;
}

export interface CheckScope {
  readonly scope: OrganizationScope;
  readonly organization: Pick<Organization, 'organizationId' | 'internalId'>;
  readonly now: number;
}

const PARALLEL_USERS = 10;

/**
 * Reads nothing if everybody may see the record, and all grants of the users only if the record has an access context.
 */
export async function findUsersWhoCanSee(
  table: Table,
  { scope, organization, now }: CheckScope,
  record: RecordAccess,
  userIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (userIds.length === 0 || isOpenToAll(record)) return new Set(userIds);
  const otherOrganizationId = findOtherOrganization(record.thread, organization.organizationId);
  const [accesses, isMember] = await Promise.all([
    readUserAccess(table, { scope, organization, now }, record.document, userIds),
    otherOrganizationId === undefined
      ? []
      : checkMemberships(
          table,
          scope.tenant,
          userIds.map((userId) => ({ organizationId: otherOrganizationId, userId })),
          now,
        ),
  ]);
  const checkedUsers = accesses.map((access, index): CheckedUser => ({
    userId: userIds[index] as string,
    access,
    memberOf: new Set(isMember[index] ? [otherOrganizationId as string] : []),
  }));
  const candidates = checkedUsers.filter((checkedUser) => canSeeWithoutContext(record, checkedUser));
  if (requiredContext(record).length === 0) return new Set(candidates.map(({ userId }) => userId));
  const reader = new UserReader(table);
  const allowed = await inParallel(candidates, PARALLEL_USERS, async (checkedUser) => {
    const grants = await reader.grants(scope, checkedUser.userId);
    return canSee(record, { ...checkedUser, access: { ...checkedUser.access, grants } });
  });
  return new Set(candidates.filter((_candidate, index) => allowed[index]).map(({ userId }) => userId));
}

export class AccessChecks {
  readonly #table: Table;
  readonly #scope: CheckScope;
  readonly #userId: string;
  #access: Promise<UserAccess> | undefined;

  constructor(table: Table, scope: CheckScope, userId: string, access?: UserAccess) {
    this.#access = access && Promise.resolve(access);
    this.#table = table;
    this.#scope = scope;
    this.#userId = userId;
  }

  /**
   * Reads nothing if everybody may see all records. Otherwise the first call reads the user and the grants, unless the
   * constructor got them.
   */
  async canSee(records: readonly RecordAccess[]): Promise<boolean[]> {
    if (records.every(isOpenToAll)) return records.map(() => true);
    const {
      scope: { tenant },
      organization,
      now,
    } = this.#scope;
    const otherIds = distinct(
      records.flatMap(({ thread }) => findOtherOrganization(thread, organization.organizationId) ?? []),
    );
    const [access, isMember] = await Promise.all([
      (this.#access ??= this.#read()),
      checkMemberships(
        this.#table,
        tenant,
        otherIds.map((organizationId) => ({ organizationId, userId: this.#userId })),
        now,
      ),
    ]);
    const checkedUser: CheckedUser = {
      userId: this.#userId,
      access,
      memberOf: new Set(otherIds.filter((_organizationId, index) => isMember[index])),
    };
    return records.map((record) => canSee(record, checkedUser));
  }

  async #read(): Promise<UserAccess> {
    const { scope, organization, now } = this.#scope;
    const reader = new UserReader(this.#table);
    const [users, grants] = await Promise.all([
      reader.find(scope.tenant, [this.#userId]),
      reader.grants(scope, this.#userId),
    ]);
    return {
      exists: isExistingUser(users[0]),
      organizationKey: organization.internalId,
      grants,
      revocations: users[0]?.revocations,
      now: now / 1000,
    };
  }
}

function findOtherOrganization(thread: ThreadAccess | undefined, organizationId: string): string | undefined {
  const visibleTo = thread && visibleToMembersOf(thread);
  return visibleTo === organizationId ? undefined : visibleTo;
}

/** Unknown users have no access, and nobody has access in a deleted folder. */
export async function findUsersWithAccess(
  table: Table,
  { scope, organization, document }: DocumentContext,
  userIds: readonly string[],
  now: number,
): Promise<ReadonlySet<string>> {
  if (userIds.length === 0) return new Set();
  const [documentInFolder] = await new DocumentReader(table).attachFolders(scope, [{ ...document, _r: 0 }]);
  if (!documentInFolder) return new Set();
  return findUsersWhoCanSee(
    table,
    { scope, organization, now },
    { document: documentInFolder, knownUsersOnly: true },
    userIds,
  );
}

export interface AccessOfUser {
  /** Epoch ms. Infinity if the access does not end with a grant. */
  readonly endsAt: number;
  readonly userKey: string | undefined;
}

export async function readAccessOfUsers(
  table: Table,
  checkScope: CheckScope,
  document: DocumentAccess,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, AccessOfUser>> {
  if (userIds.length === 0) return new Map();
  const accesses = await readUserAccess(table, checkScope, document, userIds);
  return new Map(
    accesses.flatMap((access, index) => {
      if (documentPermission(access, document).errorCode !== undefined) return [];
      const endsAt = (findAccessEnd(access, document) ?? Infinity) * 1000;
      return [[userIds[index] as string, { endsAt, userKey: access.userKey }] as const];
    }),
  );
}

async function readUserAccess(
  table: Table,
  { scope, organization, now }: CheckScope,
  document: DocumentAccess | undefined,
  userIds: readonly string[],
): Promise<(UserAccess & Pick<AccessOfUser, 'userKey'>)[]> {
  const folders = document ? foldersAbove(document) : [];
  const resources: { resourceType: ResourceType; internalId: string }[] = [
    { resourceType: 'organization', internalId: organization.internalId },
    ...(document ? [{ resourceType: 'document' as const, internalId: document.internalId }] : []),
    ...folders.map((internalId) => ({ resourceType: 'folder' as const, internalId })),
  ];
  const [users, grants] = await readUsersAndGrants(
    table,
    scope.tenant,
    userIds.flatMap((userId) =>
      resources.map((resource) => ({ organizationKey: scope.organizationKey, userId, ...resource })),
    ),
  );
  return userIds.map((_userId, index) => {
    const first = index * resources.length;
    const userGrants = grants.slice(first, first + resources.length).filter((grant) => grant !== undefined);
    return {
      exists: isExistingUser(users[first]),
      userKey: users[first]?.internalId,
      organizationKey: organization.internalId,
      grants: userGrants,
      revocations: users[first]?.revocations,
      now: now / 1000,
    };
  });
}

interface GrantKey {
  readonly organizationKey: string;
  readonly userId: string;
  readonly resourceType: ResourceType;
  readonly internalId: string;
}

async function readUsersAndGrants(table: Table, tenant: string, keys: readonly GrantKey[]) {
  if (keys.length === 0) return [[], []] as const;
  const items = await table.batchGet(
    ...keys.map(({ userId }) => itemOf(UserEntity, { tenant, userId })),
    ...keys.map((key) => itemOf(GrantEntity, { tenant, ...key })),
  );
  return [
    items.slice(0, keys.length) as (Stored<User> | undefined)[],
    items.slice(keys.length) as (Stored<Grant> | undefined)[],
  ] as const;
}
