import { depart, type Departure } from './rules/access.ts';
import { newId } from '../shared/ids.ts';
import { distinct } from '../shared/collections.ts';
import { inParallel } from '../shared/inParallel.ts';
import { lazy } from '../shared/lazy.ts';
import type { ItemOutcome } from '../shared/results.ts';
import type { Stored } from '../table/entity.ts';
import { leaveFolder } from './folders/folderDepartures.ts';
import { type OrganizationScope, organizationScope } from './folders/folders.ts';
import { beginJob, endJob, type JobMessage } from '../jobs/jobStore.ts';
import { OrganizationHead } from './organizationHead.ts';
import type { Organization } from './organizations.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { type QueryableEntity, remove, replace, type Table, type WriteOp } from '../table/table.ts';
import type { Leaving } from '../deletion/removeUsersStep.ts';
import { ContactEntity, GrantEntity, type Resource, type User, UserEntity } from './users.ts';
import { writeEach } from '../table/writeEach.ts';
import { storeCapability } from '../table/storeCapability.ts';

/** How long whoever began a removal has to send its message, before the sweeper does. */
const TIME_TO_SEND = 5 * 60_000;
/** How large the list of users in one job is at most: the job is written with every step. */
const JOB_BYTES = 64_000;
const PARALLEL = 8;

/** What became of a call that removes users: a result for each, and the jobs that do the rest. */
export interface UsersLeft {
  readonly results: readonly ItemOutcome[];
  readonly jobs: readonly JobMessage[];
}

interface LeavingUser {
  readonly user: Stored<User> | undefined;
  readonly contact: { readonly addedAt: number; readonly _r: number } | undefined;
  /** Whether anything lies in the partition of a user that the tenant does not know. */
  readonly traces: boolean;
}

export class UserRemover {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Removes users from an organization, or from one of its folders or documents (spec 4.18): from then on nothing counts that they were
   * given there before, and their jobs, begun before anything else, remove it. Ids are distinct. A user exists when the tenant knows it, or
   * when something of it lies in the organization; another one fails alone.
   */
  async remove(
    tenant: string,
    organization: Stored<Organization>,
    resource: Resource,
    userIds: readonly string[],
    now: number,
  ): Promise<UsersLeft> {
    const scope = organizationScope(tenant, organization);
    const jobOf = new Map<string, string>();
    const isFolder = resource.resourceType === 'folder';
    const begun = lazy(async () => {
      const jobs = inJobs(userIds).map((some) => {
        const jobId = newId('job', now);
        for (const userId of some) jobOf.set(userId, jobId);
        const data: Leaving = {
          organizationKey: organization.internalId,
          organizationId: organization.organizationId,
          resource: { resourceType: resource.resourceType, internalId: resource.internalId },
          userIds: some,
          at: now,
        };
        return { jobId, op: beginJob(tenant, { jobId, kind: 'removeUsers', data, dueAt: now + TIME_TO_SEND }, now) };
      });
      if (!isFolder) return void (await Promise.all(jobs.map(({ op }) => this.#table.write([op]))));
      const head = new OrganizationHead(this.#table, tenant, organization);
      await retryOnConflict(async () => {
        await head.scope();
        return head.write(
          'folderDepartures',
          jobs.length,
          jobs.flatMap(({ jobId, op }) => [op, leaveFolder(scope, jobId, resource.internalId, now)]),
        );
      });
    });
    const results = await writeEach<string, LeavingUser, ItemOutcome>({
      table: this.#table,
      items: userIds,
      read: async (items) => (await Promise.all([this.#read(scope, resource, items), begun()]))[0],
      decide: (userId, state) =>
        decide(scope, resource, state, {
          organizationKey: scope.organizationKey,
          resource: resource.internalId,
          at: now,
          jobId: jobOf.get(userId) as string,
          ...(isFolder && { folder: true }),
        }),
      conflicted: () => changing,
    });
    if (isFolder) return { results, jobs: distinct([...jobOf.values()]).map((jobId) => ({ tenant, jobId })) };
    const wanted = new Set(
      userIds.flatMap((userId, index) => (results[index]?.success ? [jobOf.get(userId) as string] : [])),
    );
    await this.#table.writeAll(
      [...new Set(jobOf.values())].filter((jobId) => !wanted.has(jobId)).map((jobId) => endJob(tenant, jobId)),
    );
    return { results, jobs: [...wanted].map((jobId) => ({ tenant, jobId })) };
  }

  async #read(scope: OrganizationScope, resource: Resource, userIds: readonly string[]): Promise<LeavingUser[]> {
    const [users, contacts] = await Promise.all([
      this.#table.getMany(
        UserEntity,
        userIds.map((userId) => ({ tenant: scope.tenant, userId })),
      ),
      this.#table.getMany(
        ContactEntity,
        userIds.map((userId) => ({ ...scope, resource: resource.internalId, userId })),
      ),
    ]);
    const traces = new Set<string>();
    await inParallel(
      userIds.filter((_userId, index) => !users[index]),
      PARALLEL,
      async (userId) => {
        const { values } = await this.#table.query(anything, { ...scope, userId }, { limit: 1 });
        if (values.length > 0) traces.add(userId);
      },
    );
    return userIds.map((userId, index) => ({
      user: users[index],
      contact: contacts[index],
      traces: traces.has(userId),
    }));
  }
}

const changing: ItemOutcome = { success: false, message: 'User is being changed by another request.' };

/** Whatever lies in a user's partition of an organization. */
const anything: QueryableEntity<object, OrganizationScope & { readonly userId: string }> = {
  partition: GrantEntity.partition,
  fromItem: (item) => ({ _r: item._r as number }),
};

function decide(
  scope: OrganizationScope,
  resource: Resource,
  { user, contact, traces }: LeavingUser,
  leaving: Departure,
) {
  const removed: ItemOutcome = { success: true, message: 'User removed.' };
  if (!user) return { result: traces ? removed : { success: false, message: 'User does not exist.' }, ops: [] };
  const departures = depart(user.departures, leaving, [contact?.addedAt]);
  if (!departures) return { result: changing, ops: [] };
  const ops: WriteOp[] = [replace(UserEntity, { tenant: scope.tenant, ...user, departures }, user._r)];
  if (contact)
    ops.push(remove(ContactEntity, { ...scope, resource: resource.internalId, userId: user.userId }, contact._r));
  return { result: removed, ops };
}

/** Ids in lists that each fit into a job. */
function inJobs(userIds: readonly string[]): string[][] {
  const lists: string[][] = [];
  let room = 0;
  for (const userId of userIds) {
    const bytes = Buffer.byteLength(JSON.stringify(userId)) + 1;
    if (bytes > room) {
      lists.push([]);
      room = JOB_BYTES;
    }
    lists.at(-1)?.push(userId);
    room -= bytes;
  }
  return lists;
}

export const removeUsers = /* @__PURE__ */ storeCapability(UserRemover, [
  'GetItem',
  'BatchGetItem',
  'Query',
  'PutItem',
  'DeleteItem',
]);
