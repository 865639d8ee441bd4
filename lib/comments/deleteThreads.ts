import * as z from 'zod';
import type { DocumentScope } from '../content/documentScope.ts';
import { removeInvolvement } from '../content/involvements.ts';
import { findRecordIds, recordIdKey, releaseRecordId } from '../content/recordIds.ts';
import { DeletedEditor, purgeEditor } from '../editors/deleteEditors.ts';
import { endJob, startJob } from '../jobs/jobStore.ts';
import { readCommentReactions } from '../reactions/reactions.ts';
import { type Reaction, ReactionReference } from '../reactions/rules.ts';
import { newId } from '../shared/ids.ts';
import { inParallel } from '../shared/inParallel.ts';
import { inSlices } from '../shared/inSlices.ts';
import type { Stored } from '../table/entity.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { inTransactions, remove, type Table, type WriteOp } from '../table/table.ts';
import { writeEach } from '../table/writeEach.ts';
import {
  type CommitTarget,
  commitThread,
  type LoadedThread,
  MAX_OPERATIONS,
  type ThreadChanges,
  type ThreadTransaction,
  threadTransaction,
} from './commitThread.ts';
import { loadWholeThread, MAX_BYTES_IN_TRANSACTION, MAX_COMMENTS_IN_TRANSACTION } from './loadDeletion.ts';
import type { ChangeOptions } from './rules/changeOptions.ts';
import type { Comment } from './rules/comments.ts';
import { decideThreadDeletion } from './rules/decideThread.ts';
import { NO_PARTS } from './rules/threadParts.ts';
import type { Thread } from './rules/threads.ts';
import { type AssignedThread, assigneeInvolvement, involvementsOf } from './threadInvolvements.ts';
import { CommentEntity, ThreadEntity, threadHeadReader, ThreadReader } from './threads.ts';

/** After this time (ms), a job purges what a request has not purged itself. */
const PURGE_DEADLINE_MILLISECONDS = 5 * 60 * 1000;
/** Threads that are loaded at the same time, each with up to `MAX_COMMENTS_IN_TRANSACTION` comments. */
const THREADS_PER_BATCH = 50;
const COMMENTS_PER_PAGE = 25;
const PARALLEL = 4;

/** The data of the job: records that a deletion left, which no endpoint returns. */
const Leftover = z.object({
  organizationKey: z.string(),
  documentKey: z.string(),
  documentId: z.string(),
  /**
   * A thread without head. Its id stays reserved until its last comment is purged. Otherwise a new thread with the same
   * id and creation time would get old comments.
   */
  thread: z
    .object({
      annotationId: z.string(),
      createdAt: z.number(),
      first: z.object({ commentId: z.number(), createdAt: z.number() }),
      assignedTo: z.object({ userId: z.string() }).optional(),
    })
    .optional(),
  reactions: z.array(ReactionReference).optional(),
  editor: DeletedEditor.optional(),
});
type Leftover = z.output<typeof Leftover>;

/** Several workers can purge the same leftover at the same time. */
export async function purgeLeftover(table: Table, tenant: string, data: unknown): Promise<void> {
  const { organizationKey, documentKey, documentId, thread, reactions = [], editor } = Leftover.parse(data);
  const scope: DocumentScope = { tenant, organizationKey, documentKey };
  await deleteReactions(table, scope, reactions);
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
    // Another worker has finished this purge, and the customer has added a thread with the same id and creation time.
    if (head) return;
    if (values.length === 0) {
      if (thread.assignedTo)
        await table.write([removeInvolvement(scope, assigneeInvolvement(scope, thread, thread.assignedTo))]);
      if (position?.createdAt === thread.createdAt) await table.write([releaseRecordId(scope, recordId, position._r)]);
      return;
    }
    const references = values.flatMap((comment) => comment.reactions ?? []);
    await deleteReactions(table, scope, references);
    const groups = inTransactions(values.map((comment) => ({ ops: commentPurgeOps(scope, thread, comment) })));
    // After a conflict, the loop reads the comments again.
    for (const group of groups) await table.write(group.flatMap(({ ops }) => ops));
  }
}

async function deleteReactions(
  table: Table,
  scope: DocumentScope,
  references: readonly ReactionReference[],
): Promise<void> {
  await inParallel(references, PARALLEL, (reference) =>
    retryOnConflict(async () => {
      const [reaction] = await readCommentReactions(table, scope, [reference]);
      const before = { comments: [], reactions: reaction ? [reaction] : [] };
      return commitThread(table, { scope, now: Date.now() }, before, { after: NO_PARTS, events: [] });
    }),
  );
}

function commentPurgeOps(scope: DocumentScope, thread: AssignedThread, comment: Stored<Comment>): WriteOp[] {
  return [
    remove(CommentEntity, { ...scope, ...comment }, comment._r),
    ...involvementsOf(scope, { thread, comments: [comment], reactions: [] }).map((involved) =>
      removeInvolvement(scope, involved),
    ),
  ];
}

/**
 * Derives the transaction of a deletion. A transaction that would be too large leaves the reactions of deleted
 * comments, or all of a thread besides its head. `onWritten` purges what is left, or a job if the invocation ends
 * early.
 */
export function deletionTransaction(
  target: CommitTarget,
  before: LoadedThread,
  changes: ThreadChanges,
): ThreadTransaction {
  const transaction = threadTransaction(target, before, changes);
  if (!before.isPartial && transaction.ops.length <= MAX_OPERATIONS) return transaction;
  const { scope, now } = target;
  const { after, ops = [] } = changes;
  const { documentId, annotationId, createdAt, first, assignedTo } = before.thread;
  const kept = before.reactions.filter((reaction) => after.reactions.includes(reaction));
  const left = after.thread
    ? { reactions: before.reactions.filter((reaction) => !kept.includes(reaction)).map(toReference) }
    : { thread: { annotationId, createdAt, first, assignedTo: assignedTo && { userId: assignedTo.userId } } };
  const data: Leftover = {
    organizationKey: scope.organizationKey,
    documentKey: scope.documentKey,
    documentId,
    ...left,
  };
  const jobId = newId('job', now);
  const job = { jobId, kind: 'purgeLeftover', data, dueAt: now + PURGE_DEADLINE_MILLISECONDS } as const;
  const rest = { ...before, ...(after.thread ? { reactions: kept } : NO_PARTS), isPartial: true };
  return {
    ...threadTransaction(target, rest, { ...changes, ops: [...ops, startJob(scope.tenant, job, now)] }),
    onWritten: async (table) => {
      await purgeLeftover(table, scope.tenant, data);
      await table.writeAll([endJob(scope.tenant, jobId)]);
    },
  };
}

function toReference({ annotationId: id, createdAt }: Reaction): ReactionReference {
  return { id, createdAt };
}

/** `absent`: the thread did not exist or was not selected. `busy`: other requests changed it during every try. */
export type ThreadDeletion = 'deleted' | 'absent' | 'busy';

interface ThreadDeletionOptions extends Pick<CommitTarget, 'report'> {
  /** By default the deletion is not reported. */
  readonly options?: Pick<ChangeOptions, 'actor' | 'notify' | 'log'>;
  /** Checks the thread as it is stored now. By default it is deleted, whatever other requests changed. */
  readonly isSelected?: ((thread: Stored<Thread>) => boolean) | undefined;
}

/**
 * Deletes threads with their comments, reactions, ids and involvements. Returns one result per thread. Each disappears
 * in one transaction. What does not fit is purged before the return, or by a job. `threads` must be distinct.
 */
export async function deleteThreads(
  table: Table,
  scope: DocumentScope,
  threads: readonly Stored<Thread>[],
  now: number,
  { report, options = { notify: false, log: false }, isSelected = () => true }: ThreadDeletionOptions,
): Promise<ThreadDeletion[]> {
  return inSlices(threads, THREADS_PER_BATCH, async (slice) => {
    const readHeads = threadHeadReader(table, scope);
    const results = await writeEach<Stored<Thread>, LoadedThread | undefined, DeletionResult>({
      table,
      items: slice,
      read: async (items) => loadThreads(table, scope, await readHeads(items)),
      decide: (_thread, loaded) => {
        if (!loaded || !isSelected(loaded.thread)) return { result: { outcome: 'absent' }, ops: [] };
        const decided = decideThreadDeletion(loaded, options);
        const { ops, onWritten } = deletionTransaction({ scope, now, report }, loaded, decided);
        return { result: { outcome: 'deleted', onWritten }, ops };
      },
      conflicted: () => ({ outcome: 'busy' }),
    });
    await inParallel(results, PARALLEL, async ({ onWritten }) => {
      await onWritten?.(table);
    });
    return results.map(({ outcome }) => outcome);
  });
}

interface DeletionResult extends Pick<ThreadTransaction, 'onWritten'> {
  readonly outcome: ThreadDeletion;
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
    return loadWholeThread(table, scope, { thread, comments, reactions: [] }, next !== undefined);
  });
}
