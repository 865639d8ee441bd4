import * as z from 'zod';
import type { DocumentScope } from '../content/documentScope.ts';
import { removeInvolvement } from '../content/involvements.ts';
import { findRecordIds, recordIdKey, releaseRecordId } from '../content/recordIds.ts';
import { isOpenToAll } from '../content/rules/threadAccess.ts';
import { DeletedEditor, purgeEditor } from '../editors/deleteEditors.ts';
import { endJob, startJob } from '../jobs/jobStore.ts';
import { reactionDeletionOps, readCommentReactions } from '../reactions/reactions.ts';
import { ReactionReference } from '../reactions/rules.ts';
import { newId } from '../shared/ids.ts';
import { inParallel } from '../shared/inParallel.ts';
import { inSlices } from '../shared/inSlices.ts';
import type { Stored } from '../table/entity.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { inTransactions, remove, type Table, type WriteOp } from '../table/table.ts';
import { type Decision, writeEach } from '../table/writeEach.ts';
import { type AssignedThread, assigneeInvolvement, commentInvolvementOps } from './commentInvolvements.ts';
import { recordThreadDeletion } from './deletedThreads.ts';
import type { Comment } from './rules/comments.ts';
import { type Thread, threadAccessOf } from './rules/threads.ts';
import { CommentEntity, ThreadEntity, threadHeadReader, ThreadReader } from './threads.ts';

/** How long a request has to purge the leftover of its own deletion (milliseconds). After this time, a job purges the leftover. */
const PURGE_DEADLINE_MILLISECONDS = 5 * 60 * 1000;
/** The largest thread that one transaction deletes completely: its number of comments, and their size in bytes. */
const MAX_COMMENTS_IN_TRANSACTION = 20;
const MAX_BYTES_IN_TRANSACTION = 300_000;
/** The number of threads that are loaded at the same time. Each can have `MAX_COMMENTS_IN_TRANSACTION` comments in memory. */
const THREADS_PER_BATCH = 50;
/** The largest number of operations in one DynamoDB transaction. */
const MAX_OPERATIONS = 100;
/** The number of comments that one read of a purge returns. */
const COMMENTS_PER_PAGE = 25;
const PARALLEL = 4;

/** Records that a deletion left in the table. No endpoint returns them. The job that purges them has this object as its data. */
const Leftover = z.object({
  /** The internal ids of the organization and the document. */
  organizationKey: z.string(),
  documentKey: z.string(),
  /** The document id that the customer chose. */
  documentId: z.string(),
  /**
   * A thread whose head (the item of the thread itself) is deleted. Its id stays reserved until its last comment is purged.
   * Otherwise a new thread with this id would contain old comments.
   */
  thread: z
    .object({
      annotationId: z.string(),
      createdAt: z.number(),
      first: z.object({ commentId: z.number(), createdAt: z.number() }),
      assignedTo: z.object({ userId: z.string() }).optional(),
    })
    .optional(),
  /** The reactions on deleted comments. */
  reactions: z.array(ReactionReference).optional(),
  /** An editor whose head (the item of the editor itself) is deleted. */
  editor: DeletedEditor.optional(),
});
export type Leftover = z.output<typeof Leftover>;

/** A deletion whose leftover is not purged yet. */
export interface UnfinishedLeftover {
  readonly jobId: string;
  readonly leftover: Leftover;
}

/**
 * Returns the operation that starts the job for a leftover. Write it in the transaction of the deletion. Call
 * `finishLeftoverPurge` after that transaction.
 */
export function startLeftoverPurge(
  { tenant, organizationKey, documentKey }: DocumentScope,
  fields: Omit<Leftover, 'organizationKey' | 'documentKey'>,
  now: number,
): { op: WriteOp; unfinished: UnfinishedLeftover } {
  const jobId = newId('job', now);
  const leftover = { organizationKey, documentKey, ...fields };
  const job = { jobId, kind: 'purgeLeftover', data: leftover, dueAt: now + PURGE_DEADLINE_MILLISECONDS } as const;
  return { op: startJob(tenant, job, now), unfinished: { jobId, leftover } };
}

/** Purges a leftover and deletes its job. */
export async function finishLeftoverPurge(
  table: Table,
  tenant: string,
  { jobId, leftover }: UnfinishedLeftover,
): Promise<void> {
  await purgeLeftover(table, tenant, leftover);
  await table.writeAll([endJob(tenant, jobId)]);
}

/** Purges the leftover that a job has as its data. Several workers can do this for the same job at the same time. */
export async function purgeLeftover(table: Table, tenant: string, data: unknown): Promise<void> {
  const { organizationKey, documentKey, documentId, thread, reactions = [], editor } = Leftover.parse(data);
  const scope: DocumentScope = { tenant, organizationKey, documentKey };
  await deleteReactions(table, scope, documentId, reactions);
  if (thread) await purgeThread(table, scope, documentId, thread);
  if (editor) await purgeEditor(table, scope, editor);
}

async function purgeThread(
  table: Table,
  scope: DocumentScope,
  documentId: string,
  thread: NonNullable<Leftover['thread']>,
): Promise<void> {
  const reader = new ThreadReader(table);
  const recordId = recordIdKey('thread', thread.annotationId, documentId);
  for (;;) {
    const [head, { values }, [position]] = await Promise.all([
      table.get(ThreadEntity, { ...scope, ...thread }),
      reader.listComments(scope, thread, { limit: COMMENTS_PER_PAGE }),
      findRecordIds(table, scope, [recordId]),
    ]);
    // A head exists only if another worker has finished this purge, and the customer has then added a thread with the same id.
    // Nothing of the deleted thread remains to be purged.
    if (head) return;
    if (values.length === 0) {
      // After the deletion of the head, only the leftover names the assignee.
      if (thread.assignedTo)
        await table.write([removeInvolvement(scope, assigneeInvolvement(scope, thread, thread.assignedTo))]);
      if (position?.createdAt === thread.createdAt) await table.write([releaseRecordId(scope, recordId, position._r)]);
      return;
    }
    const references = values.flatMap((comment) => comment.reactions ?? []);
    await deleteReactions(table, scope, documentId, references);
    const groups = inTransactions(values.map((comment) => ({ ops: commentDeletionOps(scope, thread, comment) })));
    // On a conflict, a comment got a new reaction. The comment stays, and the loop reads it again with that reaction.
    for (const group of groups) await table.write(group.flatMap(({ ops }) => ops));
  }
}

async function deleteReactions(
  table: Table,
  scope: DocumentScope,
  documentId: string,
  references: readonly ReactionReference[],
): Promise<void> {
  await inParallel(references, PARALLEL, async (reference) => {
    await retryOnConflict(async () => {
      const reactions = await readCommentReactions(table, scope, [reference]);
      const ops = reactionDeletionOps(scope, documentId, reactions);
      return table.tryWrite(ops);
    });
  });
}

/** Returns the operations that delete a comment and its involvements, but not its reactions. */
export function commentDeletionOps(scope: DocumentScope, thread: AssignedThread, comment: Stored<Comment>): WriteOp[] {
  return [
    remove(CommentEntity, { ...scope, ...comment }, comment._r),
    ...commentInvolvementOps(scope, { thread, comment }, undefined),
  ];
}

/** A thread to delete, with its first comments. */
export interface DeletableThread {
  readonly thread: Stored<Thread>;
  readonly comments: readonly Stored<Comment>[];
}

/**
 * `deleted`: the thread was deleted. `absent`: the thread did not exist, or `isSelected` returned false for it. `busy`: other
 * requests changed the thread during every try.
 */
export type ThreadDeletion = 'deleted' | 'absent' | 'busy';

interface ThreadDeletionOptions {
  /** Returns the operations of a thread's events. By default a deletion has no events. */
  readonly eventOps?: (thread: DeletableThread) => readonly WriteOp[];
  /** Returns whether the thread, as it is stored now, is to be deleted. By default it is, whatever other requests changed. */
  readonly isSelected?: ((thread: Stored<Thread>) => boolean) | undefined;
}

/**
 * Deletes threads with their comments, reactions, ids and involvements. Returns one result per thread. Each thread disappears in
 * one transaction. Records that do not fit into it are purged before this function returns, or by a job if the invocation ends
 * early. `threads` must be distinct.
 */
export async function deleteThreads(
  table: Table,
  scope: DocumentScope,
  threads: readonly Stored<Thread>[],
  now: number,
  { eventOps = () => [], isSelected = () => true }: ThreadDeletionOptions = {},
): Promise<ThreadDeletion[]> {
  return inSlices(threads, THREADS_PER_BATCH, async (slice) => {
    const readHeads = threadHeadReader(table, scope);
    const results = await writeEach<Stored<Thread>, LoadedThread | undefined, DeletionResult>({
      table,
      items: slice,
      read: async (items) => loadThreads(table, scope, await readHeads(items)),
      decide: (_thread, loaded) =>
        loaded && isSelected(loaded.thread)
          ? decideDeletion(scope, loaded, eventOps(loaded), now)
          : { result: { outcome: 'absent' }, ops: [] },
      conflicted: () => ({ outcome: 'busy' }),
    });
    await inParallel(results, PARALLEL, async ({ unfinished }) => {
      if (unfinished) await finishLeftoverPurge(table, scope.tenant, unfinished);
    });
    return results.map(({ outcome }) => outcome);
  });
}

interface LoadedThread extends DeletableThread {
  /** True if `comments` and `reactionOps` cover all comments and reactions of the thread. */
  readonly isComplete: boolean;
  readonly reactionOps: readonly WriteOp[];
}

async function loadThreads(
  table: Table,
  scope: DocumentScope,
  threads: readonly (Stored<Thread> | undefined)[],
): Promise<(LoadedThread | undefined)[]> {
  const reader = new ThreadReader(table);
  return inParallel(threads, PARALLEL, async (thread) => {
    if (!thread) return undefined;
    const options = { limit: MAX_COMMENTS_IN_TRANSACTION, bytes: MAX_BYTES_IN_TRANSACTION };
    const { values: comments, next } = await reader.listComments(scope, thread, options);
    const references = comments.flatMap((comment) => comment.reactions ?? []);
    const isComplete = next === undefined && references.length <= MAX_COMMENTS_IN_TRANSACTION;
    const reactions = isComplete ? await readCommentReactions(table, scope, references) : [];
    const reactionOps = reactionDeletionOps(scope, thread.documentId, reactions);
    return { thread, comments, isComplete, reactionOps };
  });
}

interface DeletionResult {
  readonly outcome: ThreadDeletion;
  readonly unfinished?: UnfinishedLeftover;
}

function decideDeletion(
  scope: DocumentScope,
  { thread, comments, isComplete, reactionOps }: LoadedThread,
  eventOps: readonly WriteOp[],
  now: number,
): Decision<DeletionResult> {
  const { annotationId, createdAt, first, assignedTo, documentId } = thread;
  // The record of the deletion (tombstone) does not need the organization id, because every reader has it. An empty text stands
  // for it.
  const access = threadAccessOf(thread, '');
  const headOps = [
    remove(ThreadEntity, { ...scope, ...thread }, thread._r),
    recordThreadDeletion(scope, thread, now, isOpenToAll({ thread: access }) ? undefined : access),
    ...eventOps,
  ];
  const otherOps = [
    releaseRecordId(scope, recordIdKey('thread', annotationId, documentId)),
    ...comments.flatMap((comment) => commentDeletionOps(scope, thread, comment)),
    ...reactionOps,
  ];
  if (isComplete && headOps.length + otherOps.length <= MAX_OPERATIONS)
    return { result: { outcome: 'deleted' }, ops: [...headOps, ...otherOps] };
  const leftThread = { annotationId, createdAt, first, assignedTo: assignedTo && { userId: assignedTo.userId } };
  const { op, unfinished } = startLeftoverPurge(scope, { documentId, thread: leftThread }, now);
  return { result: { outcome: 'deleted', unfinished }, ops: [...headOps, op] };
}
