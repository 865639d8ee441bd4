import * as z from 'zod';
import type { Capability } from '../app/capability.ts';
import { depart, everywhere } from '../directory/rules/access.ts';
import { inSlices } from '../shared/inSlices.ts';
import { defineEntity, type Stored } from '../table/entity.ts';
import { beginJob } from '../jobs/jobStore.ts';
import { type Organization, OrganizationEntity } from '../directory/organizations.ts';
import { insert, type QueryPage, replace, type Table } from '../table/table.ts';
import { type User, UserEntity } from '../directory/users.ts';
import { writeEach } from '../table/writeEach.ts';
import { storeCapability } from '../table/storeCapability.ts';

const LIFETIME_SECONDS = 90 * 24 * 60 * 60;
/** How long after the request the sweeper begins the job at the latest. */
const BEGINS_WITHIN = 5 * 60_000;
/** How many organizations are read at a time to be counted, and in how many users at a time something is written. */
const COUNTED = 1_000;
const USERS_AT_A_TIME = 100;

const Schema = z.object({
  jobId: z.string(),
  /** How many pairs of a user and an organization there are to erase, and profiles of users. */
  tasksCount: z.number(),
  tasksLeft: z.number(),
  /** Epoch ms. */
  lastTaskCompletedAt: z.number().optional(),
  createdAt: z.number(),
});
export type Erasure = z.output<typeof Schema>;

/** How far an erasure got. It names nobody: it stays when they are erased. */
export const ErasureEntity = defineEntity({
  type: 'Erasure',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'How far a GDPR deletion got, for 90 days; without naming anybody',
  schema: Schema,
  pk: (of: { tenant: string; jobId: string }) => [of.tenant, 'ERASURE', of.jobId],
  sk: (_key: unknown) => ['STATUS'],
  expiresAt: ({ createdAt }) => Math.floor(createdAt / 1000) + LIFETIME_SECONDS,
});

/** What a job of kind `eraseUsers` is about. */
export const ErasureJob = z.object({
  userIds: z.array(z.string()),
  /** The internal ids of organizations; all of the tenant's, and the users' profiles, when left out. */
  organizations: z.array(z.string()).optional(),
  /** Epoch ms: what was made later stays. */
  at: z.number(),
});
export type ErasureJob = z.output<typeof ErasureJob>;

/** Begins erasures of users, and says how far they got. */
export class Erasures {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Begins to erase users in some organizations; everywhere, profiles included, when none are given. What they had access to and what their data
   * list is hidden at once, and everywhere also what their profiles say; the job does the rest. The same `jobId` again begins nothing new.
   * Users and organizations are distinct.
   */
  async begin(
    tenant: string,
    jobId: string,
    userIds: readonly string[],
    organizations: readonly Organization[] | undefined,
    now: number,
  ): Promise<{ jobId: string; tasksCount: number }> {
    const tasksCount =
      userIds.length * (organizations ? organizations.length : (await this.#organizationsCount(tenant)) + 1);
    const data: ErasureJob = {
      userIds: [...userIds],
      organizations: organizations?.map(({ internalId }) => internalId),
      at: now,
    };
    const outcome = await this.#table.write([
      insert(ErasureEntity, { tenant, jobId, tasksCount, tasksLeft: tasksCount, createdAt: now }),
      beginJob(tenant, { jobId, kind: 'eraseUsers', data, dueAt: now + BEGINS_WITHIN }, now),
    ]);
    if (outcome !== 'done') return { jobId, tasksCount: (await this.status(tenant, jobId))?.tasksCount ?? tasksCount };
    await this.#hide(tenant, userIds, data, jobId);
    return { jobId, tasksCount };
  }

  /** How far an erasure got; undefined when there is none, or none any more. */
  async status(tenant: string, jobId: string): Promise<Stored<Erasure> | undefined> {
    return this.#table.get(ErasureEntity, { tenant, jobId });
  }

  /** Has the users leave what they are erased from. One of whom that cannot be written (too many departures, others at it) is erased no less, later. */
  async #hide(
    tenant: string,
    userIds: readonly string[],
    { organizations = [everywhere], at }: ErasureJob,
    jobId: string,
  ): Promise<void> {
    const isEverywhere = organizations[0] === everywhere;
    await inSlices(userIds, USERS_AT_A_TIME, (some) =>
      writeEach<string, Stored<User> | undefined, boolean>({
        table: this.#table,
        items: some,
        read: (ids) =>
          this.#table.getMany(
            UserEntity,
            ids.map((userId) => ({ tenant, userId })),
          ),
        decide: (userId, user) => {
          const departures = organizations.reduce<User['departures']>(
            (departed, organization) =>
              departed && depart(departed, { organizationKey: organization, resource: organization, at, jobId }),
            user?.departures ?? [],
          );
          if (!user || (!departures && !isEverywhere)) return { result: false, ops: [] };
          const { internalId, createdAt } = user;
          const left = isEverywhere ? { userId, internalId, createdAt, lastUpdated: at } : user;
          return {
            result: true,
            ops: [replace(UserEntity, { tenant, ...left, departures: departures ?? user.departures }, user._r)],
          };
        },
        conflicted: () => false,
      }),
    );
  }

  async #organizationsCount(tenant: string): Promise<number> {
    let [count, after]: [number, string | undefined] = [0, undefined];
    do {
      const page: QueryPage<Organization> = await this.#table.query(
        OrganizationEntity,
        { tenant },
        { limit: COUNTED, after },
      );
      [count, after] = [count + page.values.length, page.next];
    } while (after !== undefined);
    return count;
  }
}

/** Begin erasures. */
export const beginErasures: Capability<Pick<Erasures, 'begin'>> = /* @__PURE__ */ storeCapability(Erasures, [
  'GetItem',
  'BatchGetItem',
  'Query',
  'PutItem',
]);

/** See how far erasures got. */
export const readErasures: Capability<Pick<Erasures, 'status'>> = /* @__PURE__ */ storeCapability(Erasures, [
  'GetItem',
]);
