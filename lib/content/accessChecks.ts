import { distinct } from '../shared/collections.ts';
import {
  type DocumentAccess,
  folderChain,
  type Grant,
  organizationPermission,
  type ResourceType,
  type UserAccess,
} from '../directory/rules/access.ts';
import {
  type RecordAccess,
  isOpenToAll,
  canSee,
  canSeeWithoutContext,
  requiredContext,
  type CheckedUser,
} from './rules/threadAccess.ts';
import { threadAccessOf } from '../comments/rules/threads.ts';
import { type ThreadAccess, visibleToMembersOf } from './rules/visibility.ts';
import { inParallel } from '../shared/inParallel.ts';
import { DocumentReader } from '../directory/documents.ts';
import type { Stored } from '../table/entity.ts';
import { departuresOf } from '../directory/folders/folderDepartures.ts';
import type { OrganizationScope } from '../directory/folders/folders.ts';
import { type Organization, OrganizationEntity } from '../directory/organizations.ts';
import { type Table, itemOf } from '../table/table.ts';
import { GrantEntity, type User, UserEntity, UserReader } from '../directory/users.ts';
import type { DocumentContext } from './documentScope.ts';
import { ThreadEntity } from '../comments/threads.ts';

/** A user and an organization by the customer's ids. */
export interface Membership {
  readonly organizationId: string;
  readonly userId: string;
}

/** Returns whether each user is a member of its organization. An unknown organization has no members. Two dependent BatchGets. */
export async function checkMemberships(
  table: Table,
  tenant: string,
  pairs: readonly Membership[],
  now: number,
): Promise<boolean[]> {
  const organizations = await table.getMany(
    OrganizationEntity,
    pairs.map(({ organizationId }) => ({ tenant, organizationId })),
  );
  const [users, grants] = await usersAndGrants(
    table,
    tenant,
    pairs.flatMap(({ userId }, index) => {
      const organizationKey = organizations[index]?.internalId;
      return organizationKey === undefined
        ? []
        : [{ organizationKey, userId, resourceType: 'organization' as const, internalId: organizationKey }];
    }),
  );
  const found = [grants.values(), users.values()] as const;
  return organizations.map((organization) => {
    if (!organization) return false;
    const [grant, user] = [found[0].next().value, found[1].next().value];
    const access = {
      known: true,
      organizationId: organization.internalId,
      grants: grant ? [grant] : [],
      departures: user?.departures,
      now: now / 1000,
    };
    return organizationPermission(access).errorCode === undefined;
  });
}

/** The key of a thread and the internal id of its document. */
interface ThreadPosition {
  readonly documentKey: string;
  readonly annotationId: string;
  readonly createdAt: number;
}

/** Reads the current access rules of threads, undefined for a deleted thread. `organizationId` is the customer's. One BatchGet. */
export async function readThreadAccess(
  table: Table,
  { tenant, organizationKey }: OrganizationScope,
  organizationId: string,
  threads: readonly ThreadPosition[],
): Promise<(ThreadAccess | undefined)[]> {
  const found = await table.getMany(
    ThreadEntity,
    threads.map(({ documentKey, annotationId, createdAt }) => ({
      tenant,
      organizationKey,
      documentKey,
      annotationId,
      createdAt,
    })),
  );
  return found.map((thread) => thread && threadAccessOf(thread, organizationId));
}

/** The organization of a check, and its time in epoch ms. */
export interface CheckScope {
  readonly scope: OrganizationScope;
  readonly organization: Pick<Organization, 'organizationId' | 'internalId'>;
  readonly now: number;
}

/** The users whose grants are read at a time. */
const PARALLEL = 10;

/**
 * Returns which of the users may see a record, by the rule `canSee`. Reads nothing for a record that every user may see. Otherwise one
 * BatchGet per 100 keys, two more when members of another organization see the record, and the grants of each remaining user when the
 * record has an access context.
 */
export async function usersWhoCanSee(
  table: Table,
  { scope, organization, now }: CheckScope,
  record: RecordAccess,
  userIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (userIds.length === 0 || isOpenToAll(record)) return new Set(userIds);
  const otherOrganizationId = otherOrganization(record.thread, organization.organizationId);
  const [accesses, isMember] = await Promise.all([
    accessOn(table, { scope, organization, now }, record.document, userIds),
    otherOrganizationId === undefined
      ? []
      : checkMemberships(
          table,
          scope.tenant,
          userIds.map((userId) => ({ organizationId: otherOrganizationId, userId })),
          now,
        ),
  ]);
  const checked = accesses.map((access, index): CheckedUser => ({
    userId: userIds[index] as string,
    access,
    memberOf: new Set(isMember[index] ? [otherOrganizationId as string] : []),
  }));
  const others = checked.filter((checkedUser) => canSeeWithoutContext(record, checkedUser));
  if (requiredContext(record).length === 0) return new Set(others.map(({ userId }) => userId));
  const reader = new UserReader(table);
  const allowed = new Set<string>();
  await inParallel(others, PARALLEL, async (checkedUser) => {
    const grants = await reader.grants(scope, checkedUser.userId);
    if (canSee(record, { ...checkedUser, access: { ...checkedUser.access, grants } })) allowed.add(checkedUser.userId);
  });
  return new Set(userIds.filter((userId) => allowed.has(userId)));
}

/** Checks which records one user may see, by the rule `canSee`. */
export class AccessChecks {
  readonly #table: Table;
  readonly #scope: CheckScope;
  readonly #userId: string;
  #access: Promise<UserAccess> | undefined;

  constructor(table: Table, scope: CheckScope, userId: string) {
    this.#table = table;
    this.#scope = scope;
    this.#userId = userId;
  }

  /**
   * Returns whether the user may see each of the records. Reads nothing when every user may see all of them. Otherwise reads the user and
   * the user's grants once, and two BatchGets per call when members of other organizations see a record.
   */
  async canSee(records: readonly RecordAccess[]): Promise<boolean[]> {
    if (records.every(isOpenToAll)) return records.map(() => true);
    const {
      scope: { tenant },
      organization,
      now,
    } = this.#scope;
    const otherIds = distinct(
      records.flatMap(({ thread }) => otherOrganization(thread, organization.organizationId) ?? []),
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
    const [departures] = await reader.departures(scope, users);
    return {
      known: users[0] !== undefined,
      organizationId: organization.internalId,
      grants,
      departures,
      now: now / 1000,
    };
  }
}

/** Returns the organization whose members alone see a thread, if it is not the thread's own organization. */
function otherOrganization(thread: ThreadAccess | undefined, organizationId: string): string | undefined {
  const members = thread && visibleToMembersOf(thread);
  return members === organizationId ? undefined : members;
}

/**
 * Returns which of the users have access to a document. Nobody has access when its folder is deleted, and unknown users never have. One
 * BatchGet per 100 keys, after one for the folder.
 */
export async function usersWithAccess(
  table: Table,
  { scope: scope, organization, document }: DocumentContext,
  userIds: readonly string[],
  { now }: { now: number },
): Promise<ReadonlySet<string>> {
  if (userIds.length === 0) return new Set();
  const [placed] = await new DocumentReader(table).placed(scope, [{ ...document, _r: 0 }]);
  if (!placed) return new Set();
  return usersWhoCanSee(table, { scope, organization, now }, { document: placed, knownUsersOnly: true }, userIds);
}

/** Reads the access of users, with their grants on the organization, the document and the folders above the document. */
async function accessOn(
  table: Table,
  { scope, organization, now }: CheckScope,
  document: DocumentAccess | undefined,
  userIds: readonly string[],
): Promise<UserAccess[]> {
  const folders = document?.folder ? folderChain(document.folder) : [];
  const resources: { resourceType: ResourceType; internalId: string }[] = [
    { resourceType: 'organization', internalId: organization.internalId },
    ...(document ? [{ resourceType: 'document' as const, internalId: document.internalId }] : []),
    ...folders.map((internalId) => ({ resourceType: 'folder' as const, internalId })),
  ];
  const [users, grants] = await usersAndGrants(
    table,
    scope.tenant,
    userIds.flatMap((userId) =>
      resources.map((resource) => ({ organizationKey: scope.organizationKey, userId, ...resource })),
    ),
  );
  const departures = await departuresOf(table, scope, users);
  return userIds.map((_userId, index) => {
    const first = index * resources.length;
    const own = grants.slice(first, first + resources.length).filter((grant) => grant !== undefined);
    return {
      known: users[first] !== undefined,
      organizationId: organization.internalId,
      grants: own,
      departures: departures[first],
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

/** Reads grants with their users. One BatchGet per 100 distinct keys. */
async function usersAndGrants(table: Table, tenant: string, keys: readonly GrantKey[]) {
  if (keys.length === 0) return [[], []] as const;
  const found = await table.batchGet(
    ...keys.map(({ userId }) => itemOf(UserEntity, { tenant, userId })),
    ...keys.map((key) => itemOf(GrantEntity, { tenant, ...key })),
  );
  return [
    found.slice(0, keys.length) as (Stored<User> | undefined)[],
    found.slice(keys.length) as (Stored<Grant> | undefined)[],
  ] as const;
}
