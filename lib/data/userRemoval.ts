import * as z from 'zod';
import { resourceTypes } from '../domain/access.ts';
import { inParallel } from '../inParallel.ts';
import { removeUserContent } from './content/userRemoval.ts';
import type { Stored } from './entity.ts';
import { type FolderVisitor, walkFolders, walkFrom, WalkStack } from './folderWalk.ts';
import type { Place } from './folders.ts';
import { SETTLED_MS, type StepResult, type StoredJob } from './jobs.ts';
import { settle } from './settle.ts';
import { replace, type Table } from './table.ts';
import { removeBelongings } from './userBelongings.ts';
import { type User, UserEntity } from './users.ts';

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
  /** Internal ids. */
  organization: z.string(),
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
  portion: WalkStack.optional(),
  user: z.number(),
  /** Where the user's content goes on. */
  after: z.string().optional(),
});
type Progress = z.output<typeof Progress>;

/**
 * A step of the removal of users: what they were given up to their departure goes, with their groups, contacts, notification settings and
 * data, in two passes a minute apart, then the departure. What they were given later stays. Done again, beside itself or from an older state
 * it does no harm. Beneath a folder it looks at `portion` folders and documents at a time.
 */
export async function removeUsersStep(table: Table, job: StoredJob, clock: () => number, portion = PORTION): Promise<StepResult> {
  const leaving = Leaving.parse(JSON.parse(job.data));
  const progress: Progress = job.progress === undefined ? { stage: 'first', user: 0 } : Progress.parse(JSON.parse(job.progress));
  const place: Place = { tenant: job.tenant, organization: leaving.organization };
  const settled = job.createdAt + SETTLED_MS;
  if (progress.stage === 'second' && clock() < settled) return { progress, notBefore: settled };
  if (progress.stage === 'departures') return endDepartures(table, job, leaving);

  const { within, next } = await portionOf(table, place, leaving, progress.portion, portion);
  const stopped = await removeSome({ table, place, job, leaving, within }, progress, clock);
  if (stopped) return { progress: { ...progress, ...stopped } };
  if (next) return { progress: { stage: progress.stage, portion: next, user: 0 } };
  return progress.stage === 'first'
    ? { progress: { stage: 'second', user: 0 }, notBefore: settled }
    : { progress: { stage: 'departures', user: 0 } };
}

interface Removal {
  readonly table: Table;
  readonly place: Place;
  readonly job: StoredJob;
  readonly leaving: Leaving;
  /** Of which organization, folders and documents, by internal ids; everything of the organization when there are none. */
  readonly within: ReadonlySet<string> | undefined;
}

/** The internal ids of what users leave, or of some of it and where the rest begins; none when it is the whole organization. */
async function portionOf(table: Table, place: Place, { resource }: Leaving, from: WalkStack | undefined, most: number): Promise<{ within: ReadonlySet<string> | undefined; next: WalkStack | undefined }> {
  if (resource.resourceType === 'organization') return { within: undefined, next: undefined };
  if (resource.resourceType === 'document') return { within: new Set([resource.internalId]), next: undefined };
  const within = new Set(from ? [] : [resource.internalId]);
  const visitor: FolderVisitor = {
    async visit(_folder, entries) {
      for (const { internalId } of entries) within.add(internalId);
      return new Set(entries.flatMap(({ kind, id }) => (kind === 'folder' ? [id] : [])));
    },
  };
  const budget = { page: Math.min(ENTRIES_AT_A_TIME, most), pages: Infinity, goesOn: () => within.size < most };
  // Only who visits needs the customer's id of the folder.
  const next = await walkFolders(table, place, from ?? walkFrom({ internalId: resource.internalId, id: '' }), visitor, budget);
  return { within, next };
}

/** Removes what is to go of users from `progress` on, for about a second; gives where it stopped, undefined after the last user. */
async function removeSome(removal: Removal, progress: Progress, clock: () => number): Promise<Pick<Progress, 'user' | 'after'> | undefined> {
  const { table, place, leaving: { userIds } } = removal;
  const deadline = clock() + STEP;
  let { user: first, after } = progress;
  while (first < userIds.length) {
    const some = userIds.slice(first, first + USERS_AT_A_TIME);
    const users = await table.getMany(UserEntity, some.map((userId) => ({ tenant: place.tenant, userId })));
    const stops = new Map<number, string>();
    await inParallel([...some.entries()], PARALLEL, async ([index, userId]) => {
      const until = endOf(removal, users[index]);
      if (until === undefined) return;
      await removeBelongings(table, { ...place, userId }, { until, within: removal.within });
      const content = { until, mode: 'leave', documents: removal.within, after: index === 0 ? after : undefined } as const;
      const stop = await removeUserContent(table, place, userId, content, clock, deadline);
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

/** Removes the departures that the job was for. */
async function endDepartures(table: Table, job: StoredJob, { userIds }: Leaving): Promise<'done'> {
  const { tenant, jobId } = job;
  const users = await table.getMany(UserEntity, userIds.map((userId) => ({ tenant, userId })));
  const departed = users.flatMap((user) => (user?.departures?.some((departure) => departure.jobId === jobId) ? [user.userId] : []));
  await inParallel(departed, PARALLEL, (userId) => settle(async () => {
    const user = await table.get(UserEntity, { tenant, userId });
    const left = user?.departures?.filter((departure) => departure.jobId !== jobId);
    if (!user || left?.length === user.departures?.length) return;
    if ((await table.write([replace(UserEntity, { tenant, ...user, departures: left?.length ? left : undefined }, user._r)])) !== 'done') return 'conflict';
  }));
  return 'done';
}
