import * as z from 'zod';
import { REQUESTS_ENDED_MS, type StepResult, type StoredJob } from '../../jobs/jobStore.ts';
import { inParallel } from '../../shared/inParallel.ts';
import { remove, replace, type Table } from '../../table/table.ts';
import { endCountedJob } from '../organizationLock.ts';
import { type OrganizationScope } from '../organizationScope.ts';
import { computePosition, isSamePosition, ownAccess, parentOf } from '../rules/folders.ts';
import { FolderChangeEntity, folderChangesOf, FolderEntity, type StoredFolderChange } from './folders.ts';
import {
  type FolderEntry,
  type FolderVisitor,
  type WalkBudget,
  walkFolders,
  walkFrom,
  WalkStack,
} from './folderWalk.ts';

/** The limits of one step: its time in milliseconds, and the number of pages of folder entries that it reads. */
const STEP_MILLISECONDS = 2_000;
const PAGES = 40;
/** The number of entries that one query reads below a folder that was moved or got another access type. */
const REWRITTEN_PAGE = 100;
/** The number of entries that one query reads below a deleted folder. */
const REMOVED_PAGE = 25;
const PARALLEL = 8;
/** The time between two checks of whether the jobs in `waitFor` have ended (milliseconds). */
const CHECK_INTERVAL = 5_000;

const Data = z.object({
  organizationKey: z.string(),
  /** The organization id that the customer chose. */ organizationId: z.string(),
});
/**
 * The organization of a job that changes folders. The changed folders are stored as items (`FolderChangeEntity`), not in the job.
 */
export type FolderJobData = z.output<typeof Data>;

const FolderProgress = z.object({
  /** The current round. The second round starts after the end of all requests that may have read the tree before the change. */
  round: z.enum(['first', 'second']),
  /**
   * The internal id of the changed folder that the round is processing. Changed folders with smaller internal ids are done in
   * this round.
   */
  at: z.string().optional(),
  stack: WalkStack.optional(),
  /**
   * True if the job reached a folder that no longer existed. Another job may be deleting it, and this job then waits for that
   * job.
   */
  missed: z.boolean(),
  /** The ids of the jobs that this job waits for. They delete folders. */
  waitFor: z.array(z.string()).optional(),
});
type FolderProgress = z.output<typeof FolderProgress>;

/**
 * Runs one step of the job that applies a request's changes to the folders below the changed folders.
 * 1. The first round rewrites the folders below each folder that was moved or has another access type. It computes the fields
 *    of each folder from the folder's parent.
 * 2. The second round starts after the end of all requests that may have read the tree before the change. It rewrites the
 *    folders again, and deletes the content of deleted folders.
 * 3. The last step deletes the records of the changes, and subtracts the job from the organization's count of jobs.
 */
export async function changeFoldersStep(
  table: Table,
  job: StoredJob,
  clock: () => number,
  purgeFolders: PurgeFolders,
): Promise<StepResult> {
  const { organizationKey, organizationId } = Data.parse(JSON.parse(job.data));
  const scope = { tenant: job.tenant, organizationKey };
  const progress: FolderProgress =
    job.progress === undefined ? { round: 'first', missed: false } : FolderProgress.parse(JSON.parse(job.progress));
  const secondRoundAt = job.createdAt + REQUESTS_ENDED_MS;
  if (progress.round === 'second' && clock() < secondRoundAt) return { progress, notBefore: secondRoundAt };

  const allChanges = await folderChangesOf(table, scope);
  const ownChanges = allChanges.filter(({ jobId }) => jobId === job.jobId);
  const deadline = clock() + STEP_MILLISECONDS;
  const walk = { table, scope, clock, deadline, missed: progress.missed };
  if (progress.waitFor === undefined) {
    const stopped = await applyChanges(walk, progress, ownChanges, purgeFolders);
    if (stopped) return { progress: stopped };
    if (progress.round === 'first')
      return { progress: { round: 'second', missed: walk.missed } satisfies FolderProgress, notBefore: secondRoundAt };
  }

  // This job cannot rewrite folders that another job is deleting, so their stored ancestors stay outdated. Without this job's
  // records, requests would see these folders. This job therefore keeps its records until the other job has ended.
  const otherDeletions = allChanges
    .filter(({ kind, jobId }) => kind === 'removed' && jobId !== job.jobId)
    .map(({ jobId }) => jobId);
  const waitFor = progress.waitFor ?? (walk.missed ? otherDeletions : []);
  if (waitFor.some((jobId) => otherDeletions.includes(jobId)))
    return {
      progress: { round: 'second', missed: walk.missed, waitFor } satisfies FolderProgress,
      notBefore: clock() + CHECK_INTERVAL,
    };

  await inParallel(ownChanges, PARALLEL, ({ folderKey, _r }) =>
    table.write([remove(FolderChangeEntity, { ...scope, folderKey }, _r)]),
  );
  return endCountedJob(
    table,
    job,
    'folderChanges',
    { organizationKey, organizationId },
    { progress: { round: 'second', missed: walk.missed, waitFor } satisfies FolderProgress },
  );
}

/** Returns a visitor that purges the documents and folders in a deleted folder. */
export type PurgeFolders = (walk: FolderWalk) => FolderVisitor;

/** A walk through the folders of an organization. It stops at `deadline` (epoch ms). */
export interface FolderWalk {
  readonly table: Table;
  readonly scope: OrganizationScope;
  readonly clock: () => number;
  readonly deadline: number;
  /** True if the walk reached a folder that no longer existed. */
  missed: boolean;
}

/**
 * Applies a job's changes in the order of the folders' internal ids. Returns undefined if all changes are applied. Otherwise
 * returns the progress for the next step.
 */
async function applyChanges(
  walk: FolderWalk,
  { round, at, stack }: FolderProgress,
  ownChanges: readonly StoredFolderChange[],
  purgeFolders: PurgeFolders,
): Promise<FolderProgress | undefined> {
  const budget = { pages: PAGES };
  const hasTime = () => walk.clock() < walk.deadline;
  for (const { folderKey, folderId, kind } of ownChanges) {
    if ((at !== undefined && folderKey < at) || (kind === 'removed' && round === 'first')) continue;
    const from = folderKey === at && stack ? stack : walkFrom({ internalId: folderKey, id: folderId });
    const stoppedAt =
      kind === 'removed'
        ? await walkFolders(walk.table, walk.scope, from, purgeFolders(walk), counted(REMOVED_PAGE))
        : await walkFolders(walk.table, walk.scope, from, rewriteVisitor(walk), counted(REWRITTEN_PAGE));
    if (stoppedAt) return { round, at: folderKey, stack: stoppedAt, missed: walk.missed };
  }
  return undefined;

  /** Returns a walk budget with this page size. All budgets of a step share its remaining pages and time. */
  function counted(page: number): WalkBudget {
    return { page, pages: Infinity, hasTime: () => budget.pages-- > 0 && hasTime() };
  }
}

/**
 * Returns a visitor for subfolders. It computes the position and access type of a subfolder from its parent, and writes the
 * subfolder if one of them has changed.
 */
function rewriteVisitor(walk: FolderWalk): FolderVisitor {
  const { table, scope } = walk;
  return {
    kind: 'folder',
    async visit(parent, entries) {
      const subfolders = new Set<string>();
      let waiting = entries;
      while (waiting.length > 0) {
        // The children are read before the parent. Another request can then write a child that it computed from an older parent.
        // That write changes the child's revision, so the write of this job conflicts and is tried again.
        const children = await table.getMany(
          FolderEntity,
          waiting.map(({ id }) => ({ ...scope, folderId: id })),
        );
        const storedParent = await table.get(FolderEntity, { ...scope, folderId: parent.id });
        if (storedParent?.internalId !== parent.internalId) {
          walk.missed = true;
          return new Set();
        }
        const conflicted: FolderEntry[] = [];
        await inParallel(waiting, PARALLEL, async (entry, index) => {
          const child = children[index];
          if (child?.internalId !== entry.internalId) walk.missed = true;
          else if (parentOf(child) === parent.internalId) {
            const position = computePosition(storedParent, ownAccess(child));
            const written =
              isSamePosition(position, child) ||
              (await table.write([replace(FolderEntity, { ...scope, ...child, ...position }, child._r)])) === 'done';
            if (written) subfolders.add(entry.id);
            else conflicted.push(entry);
          }
        });
        waiting = conflicted;
      }
      return subfolders;
    },
  };
}
