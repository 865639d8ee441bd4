import * as z from 'zod';
import { resourceTypes } from '../app/rules/access.ts';
import { endFolderRevocation } from '../directory/folders/folderRevocations.ts';
import { type FolderVisitor, walkFolders, walkFrom, WalkStack } from '../directory/folders/folderWalk.ts';
import { endCountedJob } from '../directory/organizationLock.ts';
import type { OrganizationScope } from '../directory/organizationScope.ts';
import { withoutRevocations } from '../directory/rules/access.ts';
import { findUsers, type MaybeUser, UserEntity } from '../directory/users.ts';
import { REQUESTS_ENDED_MS, type StepResult, type StoredJob } from '../jobs/jobStore.ts';
import { inParallel } from '../shared/inParallel.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { replace, type Table } from '../table/table.ts';
import { type UserLimits, type UserWalk, WalkPosition, walkUsers } from './userWalk.ts';

const STEP_MILLISECONDS = 2_000;
const PARALLEL = 8;
const MAX_KEYS = 5_000;
const ENTRIES_AT_A_TIME = 500;

export const UserRemoval = z.object({
  organizationKey: z.string(),
  organizationId: z.string(),
  resource: z.object({ resourceType: z.enum(resourceTypes), internalId: z.string() }),
  userIds: z.array(z.string()),
  /** Epoch ms. Later data of users without a profile stays. For other users, the time of their revocation counts. */
  at: z.number(),
});
export type UserRemoval = z.output<typeof UserRemoval>;

/** The job walks twice, because some items are written or indexed during the first pass. */
const RemovalProgress = WalkPosition.extend({
  stage: z.enum(['first', 'second', 'revocations']),
  stack: WalkStack.optional(),
});
type RemovalProgress = z.output<typeof RemovalProgress>;

interface RemovalStep {
  readonly table: Table;
  readonly scope: OrganizationScope;
  readonly job: StoredJob;
  readonly removal: UserRemoval;
  readonly clock: () => number;
}

/** Idempotent: it can run twice, or from older progress. */
export async function removeUsersStep(
  table: Table,
  job: StoredJob,
  clock: () => number,
  maxKeys = MAX_KEYS,
): Promise<StepResult> {
  const removal = UserRemoval.parse(JSON.parse(job.data));
  const progress: RemovalProgress =
    job.progress === undefined ? { stage: 'first', user: 0 } : RemovalProgress.parse(JSON.parse(job.progress));
  const scope: OrganizationScope = { tenant: job.tenant, organizationKey: removal.organizationKey };
  const step: RemovalStep = { table, scope, job, removal, clock };
  const secondPassAt = job.createdAt + REQUESTS_ENDED_MS;
  if (progress.stage === 'second' && clock() < secondPassAt) return { progress, notBefore: secondPassAt };
  if (progress.stage === 'revocations') return endRevocations(step, progress);

  const { stage, stack, ...position } = progress;
  const { keys, next } = await readPortion(step, stack, maxKeys);
  const walk: UserWalk = {
    table,
    scope,
    mode: 'remove',
    isLastPass: stage === 'second',
    userIds: removal.userIds,
    at: removal.at,
    within: keys,
    limitsOf: (user) => limitsOf(step, user),
  };
  const stop = await walkUsers(walk, position, { clock, deadline: clock() + STEP_MILLISECONDS });
  if (stop !== 'done') return { progress: { ...progress, ...stop } };
  if (next) return { progress: { stage, stack: next, user: 0 } };
  if (stage === 'first') return { progress: { stage: 'second', user: 0 }, notBefore: secondPassAt };
  return { progress: { stage: 'revocations', user: 0 } };
}

interface Portion {
  /** Internal ids. Undefined for the whole organization. */
  readonly keys: ReadonlySet<string> | undefined;
  readonly next: WalkStack | undefined;
}

/** Returns about `most` internal ids of the folder and of what is below it. */
async function readPortion(
  { table, scope, removal }: RemovalStep,
  from: WalkStack | undefined,
  most: number,
): Promise<Portion> {
  const { resourceType, internalId: resourceKey } = removal.resource;
  if (resourceType !== 'folder') {
    const keys = resourceType === 'organization' ? undefined : new Set([resourceKey]);
    return { keys, next: undefined };
  }
  const keys = new Set<string>(from ? [] : [resourceKey]);
  const visitor: FolderVisitor = {
    visit(_folder, entries) {
      for (const { internalId } of entries) keys.add(internalId);
      return Promise.resolve(new Set(entries.filter(({ kind }) => kind === 'folder').map(({ id }) => id)));
    },
  };
  const budget = { page: Math.min(ENTRIES_AT_A_TIME, most), pages: Infinity, hasTime: () => keys.size < most };
  // The visitor ignores `id`.
  const start = from ?? walkFrom({ internalId: resourceKey, id: '' });
  return { keys, next: await walkFolders(table, scope, start, visitor, budget) };
}

/**
 * Returns the time of the user's revocation by this job, or of the request if the user had no profile then. Undefined
 * if neither applies: the user stays.
 */
function limitsOf({ job, removal }: RemovalStep, user: MaybeUser): UserLimits | undefined {
  const revocation = user?.revocations?.find(({ jobId }) => jobId === job.jobId);
  const existed = user !== undefined && user.createdAt <= removal.at;
  const at = revocation?.at ?? (existed ? undefined : removal.at);
  return at === undefined ? undefined : { access: at, content: at };
}

async function endRevocations(step: RemovalStep, progress: RemovalProgress): Promise<StepResult> {
  const { table, scope, job, removal } = step;
  const { jobId } = job;
  const { userIds, resource, ...ids } = removal;
  const revoked = (await findUsers(table, scope.tenant, userIds)).flatMap((user) =>
    user && withoutRevocations(user, jobId) !== user ? [user.userId] : [],
  );
  await inParallel(revoked, PARALLEL, (userId) =>
    retryOnConflict(async () => {
      const key = { tenant: scope.tenant, userId };
      const user = await table.get(UserEntity, key);
      const next = user && withoutRevocations(user, jobId);
      if (!next || next === user) return 'done';
      return table.tryWrite([replace(UserEntity, { ...key, ...next }, user._r)]);
    }),
  );
  if (resource.resourceType !== 'folder') return 'done';
  return endCountedJob(table, job, 'folderRevocations', ids, { progress }, (isLast) =>
    endFolderRevocation(scope, jobId, { isLast }),
  );
}
