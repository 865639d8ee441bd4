import * as z from 'zod';
import { resourceTypes, type Sides } from '../directory/rules/access.ts';
import { inParallel } from '../shared/inParallel.ts';
import { removeUserContent } from './purgeUserContent.ts';
import type { Stored } from '../table/entity.ts';
import { forgetFolder, leftFolders } from '../directory/folders/folderDepartures.ts';
import { type FolderVisitor, walkFolders, walkFrom, WalkStack } from '../directory/folders/folderWalk.ts';
import type { OrganizationScope } from '../directory/folders/folders.ts';
import { READS_SETTLED_MS, type StepResult, type StoredJob } from '../jobs/jobStore.ts';
import { eraseReviewers } from '../memory/eraseReviewers.ts';
import { endCounted } from '../directory/organizationHead.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { replace, type Table } from '../table/table.ts';
import { removeBelongings } from './purgeGrants.ts';
import { type User, UserEntity } from '../directory/users.ts';

/** How long a step goes on taking up work. */
const STEP = 1_000;
/** How many users a step begins with, and for how many at a time something is read. */
const USERS_AT_A_TIME = 24;
const PARALLEL = 8;
/** How many folders and documents beneath a folder are in memory at a time. */
const PORTION = 5_000;
const ENTRIES_AT_A_TIME = 500;

/** Users who are to go from a resource. Whoever the tenant does not know, such as the author of an imported comment, goes by the time of the call. */
export const Leaving = z.object({
  /** Internal id. */
  organizationKey: z.string(),
  /** The customer's id. */
  organizationId: z.string(),
  resource: z.object({ resourceType: z.enum(resourceTypes), internalId: z.string() }),
  userIds: z.array(z.string()),
  /** Epoch ms. */
  at: z.number(),
});
export type Leaving = z.output<typeof Leaving>;

/**
 * How far a removal got: everything goes once, and once more after a while, as some of it may have been written just then or not yet been
 * indexed; then the departures. Beneath a folder, portion by portion; in each, user by user.
 */
const Progress = z.object({
  stage: z.enum(['first', 'second', 'departures']),
  portion: z
    .object({
      /** Beneath what, by its internal id: the folder, or something that was moved out of it. */ root: z.string(),
      stack: WalkStack,
    })
    .optional(),
  /** Of how many things it was known at the beginning of the round that they were moved into the folder or out of it. */
  moved: z.number().optional(),
  user: z.number(),
  /** Where the user's content goes on. */
  after: z.string().optional(),
  /** How far the judgments were, once the users' content is done. */
  judgments: z.string().optional(),
});
type Progress = z.output<typeof Progress>;

/**
 * A step of the removal of users: what they were given up to their departure goes, with their groups, contacts, notification settings and
 * data, in two passes a minute apart, then the departure. What they were given later stays. Done again, beside itself or from an older state
 * it does no harm. Beneath a folder it looks at `portion` folders and documents at a time.
 */
export async function removeUsersStep(
  table: Table,
  job: StoredJob,
  clock: () => number,
  portion = PORTION,
): Promise<StepResult> {
  const leaving = Leaving.parse(JSON.parse(job.data));
  const progress: Progress =
    job.progress === undefined ? { stage: 'first', user: 0 } : Progress.parse(JSON.parse(job.progress));
  const scope: OrganizationScope = { tenant: job.tenant, organizationKey: leaving.organizationKey };
  const settled = job.createdAt + READS_SETTLED_MS;
  if (progress.stage === 'second' && clock() < settled) return { progress, notBefore: settled };
  if (progress.stage === 'departures') return endDepartures(table, scope, job, leaving, progress);

  const { within, next, known } = await portionOf(table, scope, job, leaving, progress.portion, portion);
  const moved = progress.moved ?? known;
  const stopped = await removeSome({ table, scope, job, leaving, within }, progress, clock);
  if (stopped) return { progress: { ...progress, moved, ...stopped } };
  const reviewers = { userIds: new Set(leaving.userIds), until: leaving.at, documents: within };
  const judgments =
    progress.stage === 'second'
      ? await eraseReviewers(table, scope, reviewers, progress.judgments, clock, clock() + STEP)
      : 'done';
  if (judgments !== 'done')
    return {
      progress: { ...progress, moved, user: leaving.userIds.length, after: undefined, judgments: judgments.after },
    };
  if (next) return { progress: { stage: progress.stage, portion: next, moved, user: 0 } };
  if (progress.stage === 'first') return { progress: { stage: 'second', user: 0 }, notBefore: settled };
  // What was moved during the round may not have been met, neither where it had been nor where it is.
  const isComplete = moved === (await sidesFor(table, scope, job, leaving)).size;
  return { progress: { stage: isComplete ? 'departures' : 'second', user: 0 } };
}

/** What was moved into the folder that users leave, or out of it; nothing where they leave something else. */
async function sidesFor(
  table: Table,
  scope: OrganizationScope,
  { jobId }: StoredJob,
  { resource }: Leaving,
): Promise<Sides> {
  const left = resource.resourceType === 'folder' ? await leftFolders(table, scope) : undefined;
  return left?.get(jobId)?.sides ?? new Map();
}

interface Removal {
  readonly table: Table;
  readonly scope: OrganizationScope;
  readonly job: StoredJob;
  readonly leaving: Leaving;
  /** Of which organization, folders and documents, by internal ids; everything of the organization when there are none. */
  readonly within: ReadonlySet<string> | undefined;
}

interface Portion {
  readonly within: ReadonlySet<string> | undefined;
  readonly next: Progress['portion'];
  /** Of how many things it is known that they were moved. */
  readonly known: number;
}

/**
 * The internal ids of what lay in the resource when the users left it, or of some of it and where the rest begins; none when it is the whole
 * organization. That is what lies beneath the folder, and beneath what was moved out of it, without what was moved in.
 */
async function portionOf(
  table: Table,
  scope: OrganizationScope,
  job: StoredJob,
  leaving: Leaving,
  from: Progress['portion'],
  most: number,
): Promise<Portion> {
  const { resource } = leaving;
  if (resource.resourceType === 'organization') return { within: undefined, next: undefined, known: 0 };
  if (resource.resourceType === 'document')
    return { within: new Set([resource.internalId]), next: undefined, known: 0 };
  const sides = await sidesFor(table, scope, job, leaving);
  const roots = [
    resource.internalId,
    ...[...sides].flatMap(([internalId, inside]) => (inside ? [internalId] : [])).sort(),
  ];
  const within = new Set<string>();
  const visitor: FolderVisitor = {
    async visit(_folder, entries) {
      const lay = entries.filter(({ internalId }) => sides.get(internalId) !== false);
      for (const { internalId } of lay) within.add(internalId);
      return new Set(lay.flatMap(({ kind, id }) => (kind === 'folder' ? [id] : [])));
    },
  };
  const budget = { page: Math.min(ENTRIES_AT_A_TIME, most), pages: Infinity, goesOn: () => within.size < most };
  for (const root of from ? roots.slice(roots.indexOf(from.root)) : roots) {
    if (root !== from?.root) within.add(root);
    // Only who visits needs the customer's id of the folder.
    const stack = await walkFolders(
      table,
      scope,
      root === from?.root ? from.stack : walkFrom({ internalId: root, id: '' }),
      visitor,
      budget,
    );
    if (stack) return { within, next: { root, stack }, known: sides.size };
  }
  return { within, next: undefined, known: sides.size };
}

/** Removes what is to go of users from `progress` on, for about a second; gives where it stopped, undefined after the last user. */
async function removeSome(
  removal: Removal,
  progress: Progress,
  clock: () => number,
): Promise<Pick<Progress, 'user' | 'after'> | undefined> {
  const {
    table,
    scope,
    leaving: { userIds },
  } = removal;
  const deadline = clock() + STEP;
  let { user: first, after } = progress;
  while (first < userIds.length) {
    const some = userIds.slice(first, first + USERS_AT_A_TIME);
    const users = await table.getMany(
      UserEntity,
      some.map((userId) => ({ tenant: scope.tenant, userId })),
    );
    const stops = new Map<number, string>();
    await inParallel([...some.entries()], PARALLEL, async ([index, userId]) => {
      const until = endOf(removal, users[index]);
      if (until === undefined) return;
      await removeBelongings(table, { ...scope, userId }, { until, within: removal.within });
      const content = {
        until,
        mode: 'leave',
        documents: removal.within,
        after: index === 0 ? after : undefined,
      } as const;
      const stop = await removeUserContent(table, scope, userId, content, clock, deadline);
      if (stop !== 'done') stops.set(index, stop.after);
    });
    // Those behind the first who is not done are taken up again: little of them is left.
    const stop = Math.min(...stops.keys(), Infinity);
    if (stop < Infinity) return { user: first + stop, after: stops.get(stop) };
    first += some.length;
    after = undefined;
    if (first < userIds.length && clock() > deadline) return { user: first, after: undefined };
  }
  return undefined;
}

/**
 * Until when a user's things go in this job: up to the departure, or up to the call where the tenant did not know the user then; undefined when
 * the user has no departure for the job any more, or did not get one.
 */
function endOf({ job, leaving }: Removal, user: Stored<User> | undefined): number | undefined {
  const departure = user?.departures?.find(({ jobId }) => jobId === job.jobId);
  const wasKnown = user !== undefined && user.createdAt <= leaving.at;
  return departure?.at ?? (wasKnown ? undefined : leaving.at);
}

/** Removes the departures that the job was for, and ends it. */
async function endDepartures(
  table: Table,
  scope: OrganizationScope,
  job: StoredJob,
  { userIds, resource, ...ids }: Leaving,
  progress: Progress,
): Promise<StepResult> {
  const { tenant, jobId } = job;
  const users = await table.getMany(
    UserEntity,
    userIds.map((userId) => ({ tenant, userId })),
  );
  const departed = users.flatMap((user) =>
    user?.departures?.some((departure) => departure.jobId === jobId) ? [user.userId] : [],
  );
  await inParallel(departed, PARALLEL, (userId) =>
    retryOnConflict(async () => {
      const user = await table.get(UserEntity, { tenant, userId });
      const left = user?.departures?.filter((departure) => departure.jobId !== jobId);
      if (!user || left?.length === user.departures?.length) return;
      if (
        (await table.write([
          replace(UserEntity, { tenant, ...user, departures: left?.length ? left : undefined }, user._r),
        ])) !== 'done'
      )
        return 'conflict';
    }),
  );
  if (resource.resourceType !== 'folder') return 'done';
  await forgetFolder(table, scope, jobId);
  return endCounted(table, job, 'folderDepartures', ids, { progress });
}
