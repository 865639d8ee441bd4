import * as z from 'zod';
import { REQUESTS_ENDED_MS, type StepResult, type StoredJob } from '../../jobs/jobStore.ts';
import { inParallel } from '../../shared/inParallel.ts';
import { remove, replace, type Table } from '../../table/table.ts';
import { endCountedJob } from '../organizationLock.ts';
import type { OrganizationScope } from '../organizationScope.ts';
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

const STEP_MILLISECONDS = 2_000;
const PAGES = 40;
const REWRITTEN_PAGE = 100;
const REMOVED_PAGE = 25;
const PARALLEL = 8;
const CHECK_INTERVAL = 5_000;

const Data = z.object({
  organizationKey: z.string(),
  organizationId: z.string(),
});
/** The changed folders are items (`FolderChangeEntity`), not in the job. */
export type FolderJobData = z.output<typeof Data>;

const FolderProgress = z.object({
  /** The second round starts after the end of all requests that may have read the tree before the change. */
  round: z.enum(['first', 'second']),
  /** The changed folder (internal id) that the round is processing. Those with smaller ids are done. */
  at: z.string().optional(),
  stack: WalkStack.optional(),
  /** The job reached a folder that no longer existed. If another job is deleting it, this job waits for that one. */
  missed: z.boolean(),
  waitFor: z.array(z.string()).optional(),
});
type FolderProgress = z.output<typeof FolderProgress>;

/**
 * 1. The first round rewrites the folders below each folder that moved or got another access type, each from its
 * parent.
 * 2. The second round rewrites them again, and deletes the content of deleted folders.
 * 3. The last step deletes the records of the changes, and subtracts the job from the organization's count.
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

  // Stored ancestors of folders that another job is deleting stay outdated, and requests would see these folders
  // without this job's `FolderChange` items. So this job keeps the items until the other job has ended.
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

export type PurgeFolders = (walk: FolderWalk) => FolderVisitor;

export interface FolderWalk {
  readonly table: Table;
  readonly scope: OrganizationScope;
  readonly clock: () => number;
  readonly deadline: number;
  missed: boolean;
}

/** In the order of internal ids. Returns undefined at the end. */
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

  function counted(page: number): WalkBudget {
    return { page, pages: Infinity, hasTime: () => budget.pages-- > 0 && hasTime() };
  }
}

function rewriteVisitor(walk: FolderWalk): FolderVisitor {
  const { table, scope } = walk;
  return {
    kind: 'folder',
    async visit(parent, entries) {
      const subfolders = new Set<string>();
      let waiting = entries;
      while (waiting.length > 0) {
        // Children are read before the parent. A child that another request computed from an older parent then has a
        // new revision, and the write conflicts.
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
