import * as z from 'zod';
import { OrganizationEntity } from '../directory/organizations.ts';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import { withoutRevocations } from '../directory/rules/access.ts';
import { GrantEntity, type MaybeUser, UserEntity } from '../directory/users.ts';
import { REQUESTS_ENDED_MS, type StepResult, type StoredJob } from '../jobs/jobStore.ts';
import { inParallel } from '../shared/inParallel.ts';
import type { PurgeBudget } from '../table/purgePartition.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { remove, replace, type Table } from '../table/table.ts';
import { ErasureEntity, ErasureJob, hideUsers } from './erasures.ts';
import { type UserWalk, WalkPosition, walkUsers } from './userWalk.ts';

/** How long a step runs, in milliseconds. The progress is stored after each step, so steps are short. */
const STEP_MILLISECONDS = 2_000;
/** The number of users that are erased in parallel. */
const PARALLEL = 4;

const Progress = z.object({
  /**
   * The number of the pass. Pass 1 erases the existing data. Pass 2 erases data that earlier requests wrote during pass 1, and
   * counts finished tasks.
   */
  pass: z.number(),
  /**
   * The organization id of the last organization that the pass has started. Present only if the job erases the users in all
   * organizations.
   */
  organizationId: z.string().optional(),
  /** The number of organizations in the job's list that the current pass has started. */
  index: z.number(),
  /** The internal id of the current organization. */
  organizationKey: z.string().optional(),
  /** The position in the current organization. Progress of an earlier version has none, and begins the organization again. */
  walk: WalkPosition.optional(),
  /** The number of finished users in the current organization. */
  users: z.number(),
  /** The number of finished tasks. A task is one user in one organization, or one user's profile. */
  tasksDone: z.number(),
  /** The time of the last finished task, epoch ms. */
  doneAt: z.number().optional(),
  /**
   * The users who keep their profile, because they got new access after the request. Each number is an index in the job's list of
   * users.
   */
  kept: z.array(z.number()),
});
type Progress = z.output<typeof Progress>;

const initialProgress: Progress = { pass: 1, index: 0, users: 0, tasksDone: 0, kept: [] };

/**
 * Runs a step of a job that erases users (GDPR). The job hides the users whom the request did not hide. It erases the access and
 * the data of the users in one organization after the other. Then it erases their profiles. Data that was made after the request
 * stays, and so does the profile of a user who was added again.
 *
 * The first pass starts at once, the second when all earlier requests have ended. A step is idempotent: it can run twice, in
 * parallel, or from older progress.
 */
export async function eraseUsersStep(table: Table, job: StoredJob, clock: () => number): Promise<StepResult> {
  return new ErasureStep(table, job, clock).run();
}

class ErasureStep {
  readonly #table: Table;
  readonly #job: StoredJob;
  readonly #budget: PurgeBudget;
  readonly #data: ErasureJob;
  #progress: Progress;

  constructor(table: Table, job: StoredJob, clock: () => number) {
    this.#table = table;
    this.#job = job;
    this.#budget = { clock, deadline: clock() + STEP_MILLISECONDS };
    this.#data = ErasureJob.parse(JSON.parse(job.data));
    this.#progress = job.progress === undefined ? initialProgress : Progress.parse(JSON.parse(job.progress));
  }

  async run(): Promise<StepResult> {
    const { clock, deadline } = this.#budget;
    const secondPassAt = this.#data.at + REQUESTS_ENDED_MS;
    if (this.#job.progress === undefined) await hideUsers(this.#table, this.#job.tenant, this.#data, this.#job.jobId);
    do {
      if (this.#progress.pass === 2 && clock() < secondPassAt)
        return { progress: this.#progress, notBefore: secondPassAt };
      const hasMore =
        this.#progress.organizationKey === undefined
          ? await this.#startNextOrganization()
          : await this.#continueOrganization(this.#progress.organizationKey);
      if (!hasMore && this.#progress.pass === 2) {
        await this.#end();
        return 'done';
      }
      if (!hasMore) this.#progress = { ...initialProgress, pass: 2 };
    } while (clock() <= deadline);
    await this.#storeTasksLeft(this.#progress.tasksDone);
    return { progress: this.#progress };
  }

  /** Starts the next organization. Returns false if none remains. */
  async #startNextOrganization(): Promise<boolean> {
    const { organizations } = this.#data;
    const { organizationId, index } = this.#progress;
    const started = { ...this.#progress, walk: undefined, users: 0 };
    if (organizations) {
      this.#progress = { ...started, organizationKey: organizations[index], index: index + 1 };
      return index < organizations.length;
    }
    const { tenant } = this.#job;
    const after = organizationId === undefined ? undefined : OrganizationEntity.key({ tenant, organizationId }).SK;
    const {
      values: [next],
    } = await this.#table.query(OrganizationEntity, { tenant }, { limit: 1, after });
    this.#progress = { ...started, organizationKey: next?.internalId, organizationId: next?.organizationId };
    return next !== undefined;
  }

  async #continueOrganization(organizationKey: string): Promise<true> {
    const { userIds, at } = this.#data;
    const { pass, users, tasksDone, kept } = this.#progress;
    const scope: OrganizationScope = { tenant: this.#job.tenant, organizationKey };
    const walk: UserWalk = {
      table: this.#table,
      scope,
      mode: 'erase',
      isLastPass: pass === 2,
      userIds,
      at,
      limitsOf: (user) => ({ access: this.#accessEndedAt(user, organizationKey), content: at }),
    };
    const position = await walkUsers(walk, this.#progress.walk ?? { user: users }, this.#budget);
    const finished = position === 'done' ? userIds.length : position.user;
    this.#progress = {
      ...this.#progress,
      organizationKey: position === 'done' ? undefined : organizationKey,
      walk: position === 'done' ? undefined : position,
      users: finished,
    };
    if (pass === 1 || finished === users) return true;
    const withNewAccess = await this.#findAccess(scope, users, finished);
    this.#progress = {
      ...this.#progress,
      tasksDone: tasksDone + finished - users,
      doneAt: this.#budget.clock(),
      kept: [...new Set([...kept, ...withNewAccess])],
    };
    return true;
  }

  /**
   * Returns when the user's access ended, epoch ms: the revocation that this job gave the user, or the request if there is none.
   */
  #accessEndedAt(user: MaybeUser, organizationKey: string): number {
    const { organizations, at } = this.#data;
    const own = (user?.revocations ?? []).filter(
      ({ jobId, resource }) => jobId === this.#job.jobId && (resource === organizationKey || !organizations),
    );
    return Math.max(at, ...own.map((revocation) => revocation.at));
  }

  /** Returns the indexes of users who have access, from `first` to before `end` of the job's list. */
  async #findAccess(scope: OrganizationScope, first: number, end: number): Promise<number[]> {
    const users = this.#data.userIds.slice(first, end);
    const found = await inParallel(users, PARALLEL, async (userId, index) =>
      (await this.#hasAccess(scope, userId)) ? [first + index] : [],
    );
    return found.flat();
  }

  async #hasAccess(scope: OrganizationScope, userId: string): Promise<boolean> {
    const { values } = await this.#table.query(GrantEntity, { ...scope, userId }, { prefix: ['GRANT'], limit: 1 });
    return values.length > 0;
  }

  /**
   * If the users are erased everywhere, removes their profiles, except those of users who were added again. Removes this job's
   * revocations from the profiles that remain. Marks the erasure as done.
   */
  async #end(): Promise<void> {
    const { userIds } = this.#data;
    await inParallel(userIds, PARALLEL, (userId, index) => retryOnConflict(() => this.#endUser(userId, index)));
    this.#progress = { ...this.#progress, doneAt: this.#budget.clock() };
    await this.#storeTasksLeft(Infinity);
  }

  async #endUser(userId: string, index: number): Promise<'done' | 'conflict'> {
    const { tenant, jobId } = this.#job;
    const user = await this.#table.get(UserEntity, { tenant, userId });
    if (!user) return 'done';
    const { organizations, at } = this.#data;
    const wasAddedAgain = user.lastUpdated > at || user.createdAt > at || this.#progress.kept.includes(index);
    if (!organizations && !wasAddedAgain)
      return this.#table.tryWrite([remove(UserEntity, { tenant, userId }, user._r)]);
    const next = withoutRevocations(user, jobId);
    if (next === user) return 'done';
    return this.#table.tryWrite([replace(UserEntity, { tenant, ...next }, user._r)]);
  }

  /**
   * Stores the number of remaining tasks. The number never increases, even if two workers run the job. It is at least 1 until the
   * job ends.
   */
  async #storeTasksLeft(tasksDone: number): Promise<void> {
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
