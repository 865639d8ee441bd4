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

/** A user and an organization, under the customer's ids. */
export interface Membership {
  readonly organizationId: string;
  readonly userId: string;
}

/** Whether each user is a member of the organization beside it; nobody is of one that does not exist. Two dependent BatchGets, none for none. */
export async function checkMemberships(
  table: Table,
  tenant: string,
  asked: readonly Membership[],
  now: number,
): Promise<boolean[]> {
  const organizations = await table.getMany(
    OrganizationEntity,
    asked.map(({ organizationId }) => ({ tenant, organizationId })),
  );
  const [users, grants] = await usersAndGrants(
    table,
    tenant,
    asked.flatMap(({ userId }, index) => {
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

/** Where a thread is: its document's internal id, and the parts of its key. */
interface ThreadPosition {
  readonly documentKey: string;
  readonly annotationId: string;
  readonly createdAt: number;
}

/** Who may see some threads, by what is stored now; undefined for a thread that is deleted. `organizationId` is the customer's. One BatchGet, none for no threads. */
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

/** The organization in which access is checked, and the time of the check in epoch ms. */
export interface CheckScope {
  readonly scope: OrganizationScope;
  readonly organization: Pick<Organization, 'organizationId' | 'internalId'>;
  readonly now: number;
}

/** How many users' grants are read at a time. */
const PARALLEL = 10;

/**
 * Returns which of the users may see one record, by the rule `maySee`. Reads nothing when everybody may see the record; otherwise one BatchGet per 100 keys, two more when members of another organization see it, and the grants of each remaining
 * user when the record has an access context.
 */
export async function usersWhoCanSee(
  table: Table,
  { scope, organization, now }: CheckScope,
  guard: RecordAccess,
  userIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (userIds.length === 0 || isOpenToAll(guard)) return new Set(userIds);
  const elsewhere = otherOrganization(guard.thread, organization.organizationId);
  const [accesses, isMember] = await Promise.all([
    accessOn(table, { scope, organization, now }, guard.document, userIds),
    elsewhere === undefined
      ? []
      : checkMemberships(
          table,
          scope.tenant,
          userIds.map((userId) => ({ organizationId: elsewhere, userId })),
          now,
        ),
  ]);
  const viewers = userIds.map((userId, index): CheckedUser => ({
    userId,
    access: accesses[index]!,
    memberOf: new Set(isMember[index] ? [elsewhere as string] : []),
  }));
  const others = viewers.filter((viewer) => canSeeWithoutContext(guard, viewer));
  if (requiredContext(guard).length === 0) return new Set(others.map(({ userId }) => userId));
  const reader = new UserReader(table);
  const seeing = new Set<string>();
  await inParallel(others, PARALLEL, async (viewer) => {
    const grants = await reader.grants(scope, viewer.userId);
    if (canSee(guard, { ...viewer, access: { ...viewer.access, grants } })) seeing.add(viewer.userId);
  });
  return new Set(userIds.filter((userId) => seeing.has(userId)));
}

/** Checks for one user which records the user may see, by the rule `maySee`. */
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
   * Returns whether the user may see each of the records. Reads nothing when everybody may see all of them; otherwise the user and the user's
   * grants once, and two BatchGets per call when members of other organizations see a record.
   */
  async canSee(guards: readonly RecordAccess[]): Promise<boolean[]> {
    if (guards.every(isOpenToAll)) return guards.map(() => true);
    const {
      scope: { tenant },
      organization,
      now,
    } = this.#scope;
    const elsewhere = distinct(
      guards.flatMap(({ thread }) => otherOrganization(thread, organization.organizationId) ?? []),
    );
    const [access, isMember] = await Promise.all([
      (this.#access ??= this.#read()),
      checkMemberships(
        this.#table,
        tenant,
        elsewhere.map((organizationId) => ({ organizationId, userId: this.#userId })),
        now,
      ),
    ]);
    const viewer: CheckedUser = {
      userId: this.#userId,
      access,
      memberOf: new Set(elsewhere.filter((_organizationId, index) => isMember[index])),
    };
    return guards.map((guard) => canSee(guard, viewer));
  }

  async #read(): Promise<UserAccess> {
    const { scope, organization, now } = this.#scope;
    const reader = new UserReader(this.#table);
    const [users, grants] = await Promise.all([
      reader.known(scope.tenant, [this.#userId]),
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

/** The organization other than the thread's own whose members alone see a thread. */
function otherOrganization(thread: ThreadAccess | undefined, organizationId: string): string | undefined {
  const members = thread && visibleToMembersOf(thread);
  return members === organizationId ? undefined : members;
}

/**
 * Returns which of the users have access to a document; none when its folder is deleted. A user that the tenant does not know has no access. One
 * BatchGet per 100 keys, after one more for the folder when the document lies in one.
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

/** The access of each user, with the grants on the organization, on a document and on the folders above it. */
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

/** Grants, and beside each the user, who may have left since. One BatchGet per 100 keys, users once. */
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
