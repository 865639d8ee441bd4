import * as z from 'zod';
import { inParallel } from '../shared/inParallel.ts';
import { eraseTraces, TracePosition, type Traces } from './eraseTraces.ts';
import { purgeUserContent } from './purgeUserContent.ts';
import type { Stored } from '../table/entity.ts';
import { ErasureEntity, ErasureJob } from './erasures.ts';
import { eraseReviewers } from '../memory/eraseReviewers.ts';
import type { OrganizationScope } from '../directory/folders/folders.ts';
import { READS_SETTLED_MS, type StepResult, type StoredJob } from '../jobs/jobStore.ts';
import { OrganizationEntity } from '../directory/organizations.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { remove, replace, type Table } from '../table/table.ts';
import { purgeUserAccess } from './purgeUserAccess.ts';
import { GrantEntity, type User, UserEntity } from '../directory/users.ts';

/** How long a step goes on, so that what it did is written down often enough. */
const STEP_MILLISECONDS = 2_000;
/** Users of whom something is removed at a time. */
const PARALLEL = 4;

const Progress = z.object({
  /** 1 removes what there is, 2 once more what came until nobody could write beneath any more, and counts. */
  pass: z.number(),
  /** The place in the list of organizations: the last one that was begun. */
  organizationId: z.string().optional(),
  index: z.number(),
  /** The organization in hand, by its internal id. */
  organizationKey: z.string().optional(),
  /** How far its content was looked through. */
  traces: z.union([TracePosition, z.literal('done')]).optional(),
  /** How far its judgments were. */
  judgments: z.union([z.object({ after: z.string() }), z.literal('done')]).optional(),
  /** How many users have no more in it, and where the removals of the next ones stopped. */
  users: z.number(),
  /** Tasks done, and when the last one was. */
  tasksDone: z.number(),
  doneAt: z.number().optional(),
  /** Who was given something again meanwhile and stays known, by the place in the job's list. */
  kept: z.array(z.number()),
});
type Progress = z.output<typeof Progress>;

const begins: Progress = { pass: 1, index: 0, users: 0, tasksDone: 0, kept: [] };

/**
 * A step of the deletion of users' data (GDPR): organization by organization what they had access to and what names them, at last their
 * profiles; all of it once at once and once more when nobody writes any more who began before. Done again, beside itself or from an earlier
 * state it does no harm. What was made after the request stays; so does the profile of a user who was added again.
 */
export async function eraseUsersStep(table: Table, job: StoredJob, clock: () => number): Promise<StepResult> {
  return new ErasureStep(table, job, clock).run();
}

class ErasureStep {
  readonly #table: Table;
  readonly #job: StoredJob;
  readonly #clock: () => number;
  readonly #deadline: number;
  readonly #data: ErasureJob;
  #progress: Progress;

  constructor(table: Table, job: StoredJob, clock: () => number) {
    this.#table = table;
    this.#job = job;
    this.#clock = clock;
    this.#deadline = clock() + STEP_MILLISECONDS;
    this.#data = ErasureJob.parse(JSON.parse(job.data));
    this.#progress = job.progress === undefined ? begins : Progress.parse(JSON.parse(job.progress));
  }

  async run(): Promise<StepResult> {
    const settledAt = this.#data.at + READS_SETTLED_MS;
    do {
      if (this.#progress.pass === 2 && this.#clock() < settledAt)
        return { progress: this.#progress, notBefore: settledAt };
      const more =
        this.#progress.organizationKey === undefined
          ? await this.#nextOrganization()
          : await this.#goOn(this.#progress.organizationKey);
      if (!more && this.#progress.pass === 2) {
        await this.#end();
        return 'done';
      }
      if (!more) this.#progress = { ...begins, pass: 2 };
    } while (this.#clock() <= this.#deadline);
    await this.#count(this.#progress.tasksDone);
    return { progress: this.#progress };
  }

  /** Takes the next organization in hand; false when there is none. */
  async #nextOrganization(): Promise<boolean> {
    const { organizations } = this.#data;
    const { organizationId, index } = this.#progress;
    if (organizations) {
      const organization = organizations[index];
      this.#progress = {
        ...this.#progress,
        organizationKey: organization,
        index: index + 1,
        traces: undefined,
        judgments: undefined,
        users: 0,
      };
      return organization !== undefined;
    }
    const { tenant } = this.#job;
    const after = organizationId === undefined ? undefined : OrganizationEntity.key({ tenant, organizationId }).SK;
    const {
      values: [next],
    } = await this.#table.query(OrganizationEntity, { tenant }, { limit: 1, after });
    this.#progress = {
      ...this.#progress,
      organizationKey: next?.internalId,
      organizationId: next?.organizationId,
      traces: undefined,
      judgments: undefined,
      users: 0,
    };
    return next !== undefined;
  }

  /** Goes on in an organization: first its content, as what quotes users' comments is told by these, then what lies in the users' partitions. */
  async #goOn(organization: string): Promise<true> {
    const scope: OrganizationScope = { tenant: this.#job.tenant, organizationKey: organization };
    const { pass, traces, judgments, users } = this.#progress;
    const { userIds, at } = this.#data;
    if (traces !== 'done') {
      const what: Traces = pass === 1 ? 'notifications' : 'everything';
      const reached = await eraseTraces(
        this.#table,
        scope,
        { userIds: new Set(userIds), until: at },
        { what, from: traces },
        this.#clock,
        this.#deadline,
      );
      this.#progress = { ...this.#progress, traces: reached };
      return true;
    }
    if (judgments !== 'done') {
      const reached = await eraseReviewers(
        this.#table,
        scope,
        { userIds: new Set(userIds), until: at },
        judgments?.after,
        this.#clock,
        this.#deadline,
      );
      this.#progress = { ...this.#progress, judgments: reached };
      return true;
    }
    const some = userIds.slice(users, users + PARALLEL);
    const kept: number[] = [];
    const finished: boolean[] = [];
    await inParallel([...some.entries()], PARALLEL, async ([index, userId]) => {
      finished[index] = await this.#eraseUser(scope, userId);
      if (pass === 2 && finished[index] && (await this.#hasAccess(scope, userId))) kept.push(users + index);
    });
    // Who is not finished is begun anew with the next step: what is gone is not there to be removed again.
    if (!finished.every(Boolean)) return true;
    const isLast = users + some.length >= userIds.length;
    this.#progress = {
      ...this.#progress,
      organizationKey: isLast ? undefined : organization,
      users: users + some.length,
      ...(pass === 2 && {
        tasksDone: this.#progress.tasksDone + some.length,
        doneAt: this.#clock(),
        kept: [...new Set([...this.#progress.kept, ...kept])],
      }),
    };
    return true;
  }

  /** Erases what lies in a user's partition of an organization and what leads from there; whether that is all. */
  async #eraseUser(scope: OrganizationScope, userId: string): Promise<boolean> {
    const until = await this.#until(userId, scope.organizationKey);
    await purgeUserAccess(this.#table, { ...scope, userId }, { until });
    return (
      (await purgeUserContent(
        this.#table,
        scope,
        userId,
        { until: this.#data.at, mode: 'erase' },
        this.#clock,
        this.#deadline,
      )) === 'done'
    );
  }

  /** Up to when a user's access ends: that of the departure, which can be a moment after the request. */
  async #until(userId: string, organization: string): Promise<number> {
    const user = await this.#table.get(UserEntity, { tenant: this.#job.tenant, userId });
    const own =
      user?.departures?.filter(
        ({ jobId, resource }) => jobId === this.#job.jobId && (resource === organization || !this.#data.organizations),
      ) ?? [];
    return Math.max(this.#data.at, ...own.map(({ at }) => at));
  }

  async #hasAccess(scope: OrganizationScope, userId: string): Promise<boolean> {
    const { values } = await this.#table.query(GrantEntity, { ...scope, userId }, { prefix: ['GRANT'], limit: 1 });
    return values.length > 0;
  }

  /** The users' profiles where they are erased everywhere, else what says that they left; and that all is done. */
  async #end(): Promise<void> {
    const { userIds } = this.#data;
    await inParallel([...userIds.entries()], PARALLEL, async ([index, userId]) => {
      await retryOnConflict(() => this.#endUser(userId, index));
    });
    this.#progress = { ...this.#progress, doneAt: this.#clock() };
    await this.#count(Infinity);
  }

  async #endUser(userId: string, index: number): Promise<'done' | 'conflict'> {
    const { tenant, jobId } = this.#job;
    const user = await this.#table.get(UserEntity, { tenant, userId });
    if (!user) return 'done';
    const { organizations, at } = this.#data;
    const isBack = user.lastUpdated > at || user.createdAt > at || this.#progress.kept.includes(index);
    if (!organizations && !isBack)
      return (await this.#table.write([remove(UserEntity, { tenant, userId }, user._r)])) === 'done'
        ? 'done'
        : 'conflict';
    const departures = user.departures?.filter((departure) => departure.jobId !== jobId);
    if (departures === undefined || departures.length === user.departures?.length) return 'done';
    const next: Stored<User> = { ...user, departures: departures.length > 0 ? departures : undefined };
    return (await this.#table.write([replace(UserEntity, { tenant, ...next }, user._r)])) === 'done'
      ? 'done'
      : 'conflict';
  }

  /** Says how many tasks are done. Of two who are at the job the one who is further counts; until the end at least one task is left. */
  async #count(tasksDone: number): Promise<void> {
    const { tenant, jobId } = this.#job;
    const erasure = await this.#table.get(ErasureEntity, { tenant, jobId });
    if (!erasure) return;
    const tasksLeft = tasksDone === Infinity ? 0 : Math.max(1, erasure.tasksCount - tasksDone);
    if (tasksLeft >= erasure.tasksLeft) return;
    await this.#table.write([
      replace(ErasureEntity, { tenant, ...erasure, tasksLeft, lastTaskCompletedAt: this.#progress.doneAt }, erasure._r),
    ]);
  }
}
