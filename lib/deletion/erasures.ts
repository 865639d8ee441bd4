import * as z from 'zod';
import { type Capability, combine } from '../app/capability.ts';
import { recordRemoval } from '../directory/accessRemovals.ts';
import { type Organization, OrganizationEntity } from '../directory/organizations.ts';
import { addRevocation, everywhere } from '../directory/rules/access.ts';
import { findUsers, type User, UserEntity } from '../directory/users.ts';
import { recipientOf } from '../invitations/entities.ts';
import { notifyJobs, startJob } from '../jobs/jobStore.ts';
import type { Log } from '../observability/log.ts';
import { newId } from '../shared/ids.ts';
import { inSlices } from '../shared/inSlices.ts';
import { defineEntity, type Stored } from '../table/entity.ts';
import { storeCapability, tableWith } from '../table/storeCapability.ts';
import { insert, replace, type Table, type WriteOp } from '../table/table.ts';
import { writeEach } from '../table/writeEach.ts';
import * as sendTo from '../workers/sendTo.ts';

const LIFETIME_SECONDS = 90 * 24 * 60 * 60;
const SWEPT_AFTER = 5 * 60_000;
const USERS_AT_A_TIME = 100;

const Schema = z.object({
  jobId: z.string(),
  /** A task is one user in one organization, or one profile. */
  tasksCount: z.number(),
  tasksLeft: z.number(),
  lastTaskCompletedAt: z.number().optional(),
  createdAt: z.number(),
});
export type Erasure = z.output<typeof Schema>;

/** Contains no user ids, because it stays after the users were erased. */
export const ErasureEntity = defineEntity({
  type: 'Erasure',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'The progress of a GDPR deletion, without user ids, for 90 days',
  schema: Schema,
  pk: (of: { tenant: string; jobId: string }) => [of.tenant, 'ERASURE', of.jobId],
  sk: (_key: unknown) => ['STATUS'],
  expiresAt: ({ createdAt }) => Math.floor(createdAt / 1000) + LIFETIME_SECONDS,
});

export const ErasureJob = z.object({
  userIds: z.array(z.string()),
  /** The recipients (`recipientOf`) of the addresses in the profiles, which the erasure empties first. */
  recipients: z.array(z.string()).optional(),
  /** Internal ids. If undefined, the job erases the users in all organizations, and their profiles. */
  organizations: z.array(z.string()).optional(),
  /** Data that was made after this time (epoch ms) stays. */
  at: z.number(),
});
export type ErasureJob = z.output<typeof ErasureJob>;

/** Users and organizations must be distinct. */
export interface ErasureRequest {
  readonly tenant: string;
  readonly jobId: string;
  readonly userIds: readonly string[];
  /** If undefined, the users are erased everywhere. */
  readonly organizations: readonly Organization[] | undefined;
  readonly now: number;
  readonly log: Log;
}

export class ErasureReader {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async status(tenant: string, jobId: string): Promise<Stored<Erasure> | undefined> {
    return this.#table.get(ErasureEntity, { tenant, jobId });
  }
}

/**
 * Hides the users before it returns, if possible. With the same `jobId`, a repeated call starts no second erasure, and
 * hides the users that the first call did not hide.
 */
type StartErasure = (request: ErasureRequest) => Promise<{ jobId: string; tasksCount: number }>;

export const startErasure: Capability<StartErasure> = /* @__PURE__ */ combine(
  { table: /* @__PURE__ */ tableWith(['GetItem', 'BatchGetItem', 'Query', 'PutItem']), queue: sendTo.jobs },
  ({ table, queue }) =>
    async ({ tenant, jobId, userIds, organizations, now, log }) => {
      const tasksPerUser = organizations
        ? organizations.length
        : (await table.count(OrganizationEntity, { tenant })) + 1;
      const tasksCount = userIds.length * tasksPerUser;
      const users = await findUsers(table, tenant, userIds);
      const data: ErasureJob = {
        userIds: [...userIds],
        recipients: users.flatMap((user) => (user?.email === undefined ? [] : [recipientOf(user.email)])),
        organizations: organizations?.map(({ internalId }) => internalId),
        at: now,
      };
      const erasure = { jobId, tasksCount, tasksLeft: tasksCount, createdAt: now };
      const outcome = await table.write([
        insert(ErasureEntity, { tenant, ...erasure }),
        startJob(tenant, { jobId, kind: 'eraseUsers', data, dueAt: now + SWEPT_AFTER }, now),
      ]);
      const started = (outcome === 'done' ? undefined : await table.get(ErasureEntity, { tenant, jobId })) ?? erasure;
      if (started.tasksLeft > 0) await hideUsers(table, tenant, { ...data, at: started.createdAt }, jobId);
      await notifyJobs(queue, [{ tenant, jobId }], log);
      return { jobId, tasksCount: started.tasksCount };
    },
);

/**
 * Hides users by revocations. For an erasure everywhere, also empties profiles that did not change after the request.
 * The job repeats this, because the request can be interrupted. Users with too many revocations stay visible until the
 * job erases them.
 *
 * User tokens must stay invalid when the revocations are removed. An erasure everywhere therefore gives users another
 * internal id, any other erasure records the removals.
 */
export async function hideUsers(
  table: Table,
  tenant: string,
  { userIds, organizations = [everywhere], at }: ErasureJob,
  jobId: string,
): Promise<void> {
  const isEverywhere = organizations[0] === everywhere;
  await inSlices(userIds, USERS_AT_A_TIME, (slice) =>
    writeEach<string, Stored<User> | undefined, boolean>({
      table,
      items: slice,
      read: (ids) => findUsers(table, tenant, ids),
      decide: (userId, user) => {
        let revocations: User['revocations'] = user?.revocations ?? [];
        if (!user || user.createdAt > at || revocations.some((revocation) => revocation.jobId === jobId))
          return { result: false, ops: [] };
        const removals: WriteOp[] = [];
        for (const organizationKey of organizations) {
          const revocation = { organizationKey, resource: organizationKey, at, jobId };
          revocations = revocations && addRevocation(revocations, revocation);
          const removal = { internalId: organizationKey, isRevocation: true };
          if (!isEverywhere) removals.push(recordRemoval({ tenant, organizationKey }, userId, removal));
        }
        const { createdAt, lastUpdated } = user;
        const profile = lastUpdated > at ? user : { userId, createdAt, lastUpdated: at };
        const hidden = isEverywhere ? { ...profile, internalId: newId('usr', at) } : user;
        const next = { tenant, ...hidden, revocations: revocations ?? user.revocations };
        return { result: true, ops: [replace(UserEntity, next, user._r), ...removals] };
      },
      conflicted: () => false,
    }),
  );
}

export const readErasures = /* @__PURE__ */ storeCapability(ErasureReader, ['GetItem']);
