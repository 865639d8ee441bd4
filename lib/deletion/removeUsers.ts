import { combine } from '../app/capability.ts';
import type { Revocation } from '../app/rules/access.ts';
import { AccessRemovalEntity, recordRemoval } from '../directory/accessRemovals.ts';
import { startFolderRevocations } from '../directory/folders/folderRevocations.ts';
import { OrganizationLock } from '../directory/organizationLock.ts';
import type { Organization } from '../directory/organizations.ts';
import { type OrganizationScope, organizationScope } from '../directory/organizationScope.ts';
import { addRevocation } from '../directory/rules/access.ts';
import { ContactEntity, findUsers, GrantEntity, type Resource, type User, UserEntity } from '../directory/users.ts';
import { endJob, notifyJobs, startJob } from '../jobs/jobStore.ts';
import type { Log } from '../observability/log.ts';
import { jsonBytes } from '../shared/bytes.ts';
import { newId } from '../shared/ids.ts';
import { inParallel } from '../shared/inParallel.ts';
import { lazy } from '../shared/lazy.ts';
import type { ItemOutcome } from '../shared/results.ts';
import type { Stored } from '../table/entity.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { tableWith } from '../table/storeCapability.ts';
import { type QueryableEntity, remove, replace, type Table, type WriteOp } from '../table/table.ts';
import { type Decision, writeEach } from '../table/writeEach.ts';
import type { QueueSender } from '../workers/sender.ts';
import * as sendTo from '../workers/sendTo.ts';
import type { UserRemoval } from './removeUsersStep.ts';

const SWEPT_AFTER = 5 * 60_000;
/** Each step writes the job again with its user ids, so larger jobs would cost more. */
const JOB_BYTES = 64_000;
const PARALLEL = 8;
const BUSY: ItemOutcome = { success: false, message: 'User is being changed by another request.' };

interface RemovableUser {
  readonly user: Stored<User> | undefined;
  readonly contact: { readonly addedAt: number; readonly _r: number } | undefined;
  /** Whether a user without a profile has items in the organization. */
  readonly hasItems: boolean;
}

/** User ids must be distinct. */
export interface UserRemovalRequest {
  readonly tenant: string;
  readonly organization: Stored<Organization>;
  readonly resource: Resource;
  readonly userIds: readonly string[];
  readonly now: number;
  readonly log: Log;
}

export class UserRemover {
  readonly #table: Table;
  readonly #queue: QueueSender;

  constructor(table: Table, queue: QueueSender) {
    this.#table = table;
    this.#queue = queue;
  }

  /**
   * Ends earlier access to an organization, folder or document. Jobs, which are stored first, then purge the items of
   * the users. A user who cannot be removed fails in its own result only.
   */
  async remove(request: UserRemovalRequest): Promise<ItemOutcome[]> {
    const { tenant, organization, resource, userIds, now, log } = request;
    const scope = organizationScope(tenant, organization);
    const isFolder = resource.resourceType === 'folder';
    const jobs = splitIntoJobs(userIds).map((ids) => ({ jobId: newId('job', now), userIds: ids }));
    const jobOf = new Map(jobs.flatMap((job) => job.userIds.map((userId) => [userId, job.jobId] as const)));
    const start = lazy(() => this.#startJobs(request, jobs));
    const results = await writeEach<string, RemovableUser, ItemOutcome>({
      table: this.#table,
      items: userIds,
      read: async (items) => (await Promise.all([this.#read(scope, resource, items), start()]))[0],
      decide: (userId, state) =>
        decide(scope, resource, state, {
          organizationKey: scope.organizationKey,
          resource: resource.internalId,
          at: now,
          jobId: jobOf.get(userId) as string,
          ...(isFolder && { folder: true }),
        }),
      conflicted: () => BUSY,
    });
    const removed = new Set(userIds.filter((_userId, index) => results[index]?.success));
    // A job of a folder runs even without users, because its end allows moves into and out of the folder again.
    const needed = jobs.filter((job) => isFolder || job.userIds.some((userId) => removed.has(userId)));
    await this.#table.writeAll(jobs.filter((job) => !needed.includes(job)).map(({ jobId }) => endJob(tenant, jobId)));
    await notifyJobs(
      this.#queue,
      needed.map(({ jobId }) => ({ tenant, jobId })),
      log,
    );
    return results;
  }

  /** For a folder, the transaction also forbids moves into and out of the folder until the jobs have ended. */
  async #startJobs(
    { tenant, organization, resource, now }: UserRemovalRequest,
    jobs: readonly { readonly jobId: string; readonly userIds: string[] }[],
  ): Promise<void> {
    const { resourceType, internalId } = resource;
    const ops = jobs.map(({ jobId, userIds }) => {
      const data: UserRemoval = {
        organizationKey: organization.internalId,
        organizationId: organization.organizationId,
        resource: { resourceType, internalId },
        userIds,
        at: now,
      };
      return startJob(tenant, { jobId, kind: 'removeUsers', data, dueAt: now + SWEPT_AFTER }, now);
    });
    if (resourceType !== 'folder') {
      await Promise.all(ops.map((op) => this.#table.write([op])));
      return;
    }
    const scope = organizationScope(tenant, organization);
    const lock = new OrganizationLock(this.#table, tenant, organization);
    const jobIds = jobs.map(({ jobId }) => jobId);
    const revocations = startFolderRevocations(scope, jobIds, internalId, now);
    await retryOnConflict(async () => {
      await lock.scope();
      return lock.write('folderRevocations', jobs.length, [...ops, ...revocations]);
    });
  }

  async #read(scope: OrganizationScope, resource: Resource, userIds: readonly string[]): Promise<RemovableUser[]> {
    const [users, contacts] = await Promise.all([
      findUsers(this.#table, scope.tenant, userIds),
      this.#table.getMany(
        ContactEntity,
        userIds.map((userId) => ({ ...scope, resource: resource.internalId, userId })),
      ),
    ]);
    return inParallel(userIds, PARALLEL, async (userId, index) => {
      const [user, contact] = [users[index], contacts[index]];
      if (user) return { user, contact, hasItems: false };
      const { values } = await this.#table.query(anyItemOfUser, { ...scope, userId }, { limit: 1 });
      return { user, contact, hasItems: values.length > 0 };
    });
  }
}

/** Finds items of any type, except records of removed access. */
const anyItemOfUser: QueryableEntity<object, OrganizationScope & { readonly userId: string }> = {
  partition: (of) => GrantEntity.partition(of),
  fromItem: (item) => (item._t === AccessRemovalEntity.type ? undefined : { _r: item._r as number }),
};

function decide(
  scope: OrganizationScope,
  resource: Resource,
  { user, contact, hasItems }: RemovableUser,
  revocation: Revocation,
): Decision<ItemOutcome> {
  const removed: ItemOutcome = { success: true, message: 'User removed.' };
  if (!user) return { result: hasItems ? removed : { success: false, message: 'User does not exist.' }, ops: [] };
  const revocations = addRevocation(user.revocations, revocation, [contact?.addedAt]);
  if (!revocations) return { result: BUSY, ops: [] };
  const removal = {
    internalId: resource.internalId,
    isRevocation: true,
    folder: revocation.folder,
  };
  const ops: WriteOp[] = [
    replace(UserEntity, { tenant: scope.tenant, ...user, revocations }, user._r),
    recordRemoval(scope, user.userId, removal),
  ];
  if (contact)
    ops.push(remove(ContactEntity, { ...scope, resource: resource.internalId, userId: user.userId }, contact._r));
  return { result: removed, ops };
}

function splitIntoJobs(userIds: readonly string[]): string[][] {
  const lists: string[][] = [];
  let room = 0;
  for (const userId of userIds) {
    const bytes = jsonBytes(userId) + 1;
    if (bytes > room) {
      lists.push([]);
      room = JOB_BYTES;
    }
    lists.at(-1)?.push(userId);
    room -= bytes;
  }
  return lists;
}

export const removeUsers = /* @__PURE__ */ combine(
  {
    table: /* @__PURE__ */ tableWith(['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'DeleteItem']),
    queue: sendTo.jobs,
  },
  ({ table, queue }) => new UserRemover(table, queue),
);
