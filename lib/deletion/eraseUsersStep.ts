import * as z from 'zod';
import { ChatUserEntity } from '../chat/chatStore.ts';
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

const STEP_MILLISECONDS = 2_000;
const PARALLEL = 4;

const ErasureProgress = z.object({
  /** 1 or 2. Pass 2 also counts finished tasks. */
  pass: z.number(),
  /** The last organization that the pass has started, if the job erases the users everywhere. */
  organizationId: z.string().optional(),
  /** How many organizations of the job's list the pass has started. */
  index: z.number(),
  organizationKey: z.string().optional(),
  /**
   * Absent before the first step in an organization, and in progress that an earlier version stored. The step then
   * begins with the documents, and continues at the user `users`.
   */
  walk: WalkPosition.optional(),
  users: z.number(),
  tasksDone: z.number(),
  doneAt: z.number().optional(),
  /** Indexes of users who got new access after the request, and therefore keep their profile. */
  kept: z.array(z.number()),
});
type ErasureProgress = z.output<typeof ErasureProgress>;

const initialProgress: ErasureProgress = { pass: 1, index: 0, users: 0, tasksDone: 0, kept: [] };

/** Idempotent: it can run twice, in parallel, or from older progress. */
export async function eraseUsersStep(table: Table, job: StoredJob, clock: () => number): Promise<StepResult> {
  return new ErasureStep(table, job, clock).run();
}

class ErasureStep {
  readonly #table: Table;
  readonly #job: StoredJob;
  readonly #budget: PurgeBudget;
  readonly #data: ErasureJob;
  #progress: ErasureProgress;

  constructor(table: Table, job: StoredJob, clock: () => number) {
    this.#table = table;
    this.#job = job;
    this.#budget = { clock, deadline: clock() + STEP_MILLISECONDS };
    this.#data = ErasureJob.parse(JSON.parse(job.data));
    this.#progress = job.progress === undefined ? initialProgress : ErasureProgress.parse(JSON.parse(job.progress));
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
    const { userIds, recipients, at } = this.#data;
    const { pass, users, tasksDone, kept } = this.#progress;
    const scope: OrganizationScope = { tenant: this.#job.tenant, organizationKey };
    const walk: UserWalk = {
      table: this.#table,
      scope,
      mode: 'erase',
      isLastPass: pass === 2,
      userIds,
      recipients: new Set(recipients),
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

  /** The time of this job's revocation, or of the request if there is none. */
  #accessEndedAt(user: MaybeUser, organizationKey: string): number {
    const { organizations, at } = this.#data;
    const own = (user?.revocations ?? []).filter(
      ({ jobId, resource }) => jobId === this.#job.jobId && (resource === organizationKey || !organizations),
    );
    return Math.max(at, ...own.map((revocation) => revocation.at));
  }

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

  async #end(): Promise<void> {
    const { userIds, organizations } = this.#data;
    if (!organizations) await this.#forgetChannels();
    await inParallel(userIds, PARALLEL, (userId, index) => retryOnConflict(() => this.#endUser(userId, index)));
    this.#progress = { ...this.#progress, doneAt: this.#budget.clock() };
    await this.#storeTasksLeft(Infinity);
  }

  async #forgetChannels(): Promise<void> {
    const keys = this.#data.userIds.map((userId) => ({ tenant: this.#job.tenant, userId }));
    const stored = await this.#table.getMany(ChatUserEntity, keys);
    await this.#table.removeKeys(keys.filter((_key, index) => stored[index]).map((key) => ChatUserEntity.key(key)));
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

  /** `tasksLeft` never increases, even if two workers run the job, and is at least 1 until the job ends. */
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
