import * as z from 'zod';
import type { Comment } from './rules/comments.ts';
import { ReactionReference } from '../reactions/rules.ts';
import type { Thread } from './rules/threads.ts';
import { newId } from '../shared/ids.ts';
import { inParallel } from '../shared/inParallel.ts';
import { inSlices } from '../shared/inSlices.ts';
import { DeletedEditor, purgeEditor } from '../editors/deleteEditors.ts';
import type { Stored } from '../table/entity.ts';
import { beginJob, endJob } from '../jobs/jobStore.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { inTransactions, remove, type Table, type WriteOp } from '../table/table.ts';
import { type Decision, writeEach } from '../table/writeEach.ts';
import { recordThreadDeletion } from './deletedThreads.ts';
import { removeInvolvement } from '../content/involvements.ts';
import type { DocumentScope } from '../content/documentScope.ts';
import { reactionDeletionOps, readCommentReactions } from '../reactions/reactions.ts';
import { findRecordIds, releaseRecordId } from '../content/recordIds.ts';
import { type AssignedThread, commentInvolvementOps } from './commentInvolvements.ts';
import { CommentEntity, threadHeadReader, ThreadEntity, ThreadReader } from './threads.ts';

/** How long whoever began a removal has to end it, before the job worker does. */
const TIME_TO_END = 5 * 60 * 1000;
/** How many of a thread's comments, and how much of them, are removed together with it, in one transaction; all or none. */
const TOGETHER = 20;
const TOGETHER_BYTES = 300_000;
/** How many threads are removed at a time: so many are in memory, with these comments. */
const THREADS_AT_A_TIME = 50;
/** What DynamoDB takes in one transaction. */
const MOST_OPERATIONS = 100;
/** How many comments the rest of a removal takes at a time. */
const AT_A_TIME = 25;
const PARALLEL = 4;

/** What is left to remove of something that nobody sees any more. */
const Leftover = z.object({
  /** Internal ids. */
  organizationKey: z.string(),
  documentKey: z.string(),
  /** The customer's id of the document. */
  documentId: z.string(),
  /** A thread whose head is gone; its id stays taken until the last comment is gone, so that nobody gets a thread with old comments. */
  thread: z
    .object({
      annotationId: z.string(),
      createdAt: z.number(),
      first: z.object({ commentId: z.number(), createdAt: z.number() }),
      assignedTo: z.object({ userId: z.string() }).optional(),
    })
    .optional(),
  /** Reactions on comments that are gone. */
  reactions: z.array(ReactionReference).optional(),
  /** A collaborative editor whose head is gone. */
  editor: DeletedEditor.optional(),
});
export type Leftover = z.output<typeof Leftover>;

/** A removal that goes on after its first transaction. */
export interface UnfinishedLeftover {
  readonly jobId: string;
  readonly leftover: Leftover;
}

/** Begins a removal that one transaction cannot hold: the operation goes into the first one, `endRemoval` does the rest. */
export function startLeftoverPurge(
  scope: DocumentScope,
  left: Omit<Leftover, 'organizationKey' | 'documentKey'>,
  now: number,
): { op: WriteOp; unfinished: UnfinishedLeftover } {
  const { tenant, organizationKey, documentKey } = scope;
  const unfinished = { jobId: newId('job', now), leftover: { organizationKey, documentKey, ...left } };
  return {
    unfinished,
    op: beginJob(
      tenant,
      { jobId: unfinished.jobId, kind: 'removeRecords', data: unfinished.leftover, dueAt: now + TIME_TO_END },
      now,
    ),
  };
}

/** Removes the rest, and the job that would do it otherwise. */
export async function finishLeftoverPurge(
  table: Table,
  tenant: string,
  { jobId, leftover }: UnfinishedLeftover,
): Promise<void> {
  await purgeLeftover(table, tenant, leftover);
  await table.writeAll([endJob(tenant, jobId)]);
}

/** Removes what a removal left, from the data of its job; whatever is gone already is no matter, so it can be run again and beside itself. */
export async function purgeLeftover(table: Table, tenant: string, data: unknown): Promise<void> {
  const { organizationKey, documentKey, documentId, thread, reactions = [], editor } = Leftover.parse(data);
  const scope: DocumentScope = { tenant, organizationKey, documentKey };
  await removeReactions(table, scope, documentId, reactions);
  if (thread) await removeHeadless(table, scope, documentId, thread);
  if (editor) await purgeEditor(table, scope, editor);
}

async function removeHeadless(
  table: Table,
  scope: DocumentScope,
  documentId: string,
  thread: Leftover['thread'] & {},
): Promise<void> {
  const reader = new ThreadReader(table);
  for (;;) {
    const [head, { values }] = await Promise.all([
      table.get(ThreadEntity, { ...scope, ...thread }),
      reader.listComments(scope, thread, { limit: AT_A_TIME }),
    ]);
    // Somebody else ended this removal, and the thread was added again.
    if (head) return;
    if (values.length === 0) break;
    await removeReactions(
      table,
      scope,
      documentId,
      values.flatMap((comment) => comment.reactions ?? []),
    );
    const groups = inTransactions(values.map((comment) => ({ ops: commentDeletionOps(scope, thread, comment) })));
    // One that somebody reacted to in between is read again, with the reaction.
    for (const group of groups) await table.write(group.flatMap(({ ops }) => ops));
  }
  if (thread.assignedTo) await table.write([removeAssigneeInvolvement(scope, thread, thread.assignedTo)]);
  const name = { kind: 'thread', id: thread.annotationId, within: documentId } as const;
  const [named] = await findRecordIds(table, scope, [name]);
  if (named?.createdAt === thread.createdAt) await table.write([releaseRecordId(scope, name, named._r)]);
}

/**
 * The operation that forgets that a thread's assignee is involved in its first comment: only the head says so, and the comment may be gone without it
 * where the document is removed at the same time.
 */
export function removeAssigneeInvolvement(
  scope: DocumentScope,
  { annotationId, first }: Pick<Thread, 'annotationId' | 'first'>,
  { userId }: { readonly userId: string },
): WriteOp {
  return removeInvolvement(scope, {
    kind: 'comment',
    documentKey: scope.documentKey,
    id: annotationId,
    commentId: first.commentId,
    at: first.createdAt,
    userId,
  });
}

async function removeReactions(
  table: Table,
  scope: DocumentScope,
  documentId: string,
  references: readonly ReactionReference[],
): Promise<void> {
  await inParallel(references, PARALLEL, (reference) =>
    retryOnConflict(async () => {
      const there = (await readCommentReactions(table, scope, [reference])).filter(
        (reaction) => reaction !== undefined,
      );
      return (await table.write(reactionDeletionOps(scope, documentId, there))) === 'done' ? 'done' : 'conflict';
    }).then(() => undefined),
  );
}

/** The operations that remove a comment as it was read, and it from the data of those whom it involves. Its reactions are another matter. */
export function commentDeletionOps(scope: DocumentScope, thread: AssignedThread, comment: Stored<Comment>): WriteOp[] {
  return [
    remove(CommentEntity, { ...scope, ...comment }, comment._r),
    ...commentInvolvementOps(scope, { thread, comment }, undefined),
  ];
}

/** A thread that is to be removed, with its first comments. */
export interface DeletableThread {
  readonly thread: Stored<Thread>;
  readonly comments: readonly Stored<Comment>[];
}

/** What became of the removal of a thread: `absent` when it was not there, `busy` when others kept changing it. */
export type ThreadDeletion = 'removed' | 'absent' | 'busy';

/**
 * Removes threads with all that hangs on them: comments, reactions, ids, and what makes them part of users' data. A thread is gone at
 * once; what one transaction cannot hold goes before this returns, or by a job if it is cut short. `threads` are distinct, as they were
 * read; `told` makes the operations of a thread's events, for its transaction.
 */
export async function deleteThreads(
  table: Table,
  scope: DocumentScope,
  threads: readonly Stored<Thread>[],
  now: number,
  told: (removed: DeletableThread) => readonly WriteOp[] = () => [],
): Promise<ThreadDeletion[]> {
  return inSlices(threads, THREADS_AT_A_TIME, async (some) => {
    const heads = threadHeadReader(table, scope);
    const results = await writeEach<Stored<Thread>, Whole | undefined, Removed>({
      table,
      items: some,
      read: async (items) => readWhole(table, scope, await heads(items)),
      decide: (_thread, whole) =>
        whole ? removal(scope, whole, told(whole), now) : { result: { outcome: 'absent' }, ops: [] },
      conflicted: () => ({ outcome: 'busy' }),
    });
    await inParallel(results, PARALLEL, async ({ unfinished }) => {
      if (unfinished) await finishLeftoverPurge(table, scope.tenant, unfinished);
    });
    return results.map(({ outcome }) => outcome);
  });
}

/** A thread, its first comments, and what else goes with them. */
interface Whole extends DeletableThread {
  /** Whether that is all there is. */
  readonly complete: boolean;
  readonly reactionOps: readonly WriteOp[];
}

async function readWhole(
  table: Table,
  scope: DocumentScope,
  threads: readonly (Stored<Thread> | undefined)[],
): Promise<(Whole | undefined)[]> {
  const reader = new ThreadReader(table);
  const wholes: (Whole | undefined)[] = threads.map(() => undefined);
  await inParallel([...threads.entries()], PARALLEL, async ([index, thread]) => {
    if (!thread) return;
    const { values: comments, next } = await reader.listComments(scope, thread, {
      limit: TOGETHER,
      bytes: TOGETHER_BYTES,
    });
    const references = comments.flatMap((comment) => comment.reactions ?? []);
    const complete = next === undefined && references.length <= TOGETHER;
    const reactions = complete ? await readCommentReactions(table, scope, references) : [];
    wholes[index] = {
      thread,
      comments,
      complete,
      reactionOps: reactionDeletionOps(
        scope,
        thread.documentId,
        reactions.filter((reaction) => reaction !== undefined),
      ),
    };
  });
  return wholes;
}

/** What became of the removal of a thread, and what is left to do. */
interface Removed {
  readonly outcome: ThreadDeletion;
  readonly unfinished?: UnfinishedLeftover;
}

function removal(
  scope: DocumentScope,
  { thread, comments, complete, reactionOps }: Whole,
  told: readonly WriteOp[],
  now: number,
): Decision<Removed> {
  const { annotationId, createdAt, first, assignedTo, documentId } = thread;
  const name = releaseRecordId(scope, { kind: 'thread', id: annotationId, within: documentId });
  const head = [
    remove(ThreadEntity, { ...scope, ...thread }, thread._r),
    recordThreadDeletion(scope, thread, now),
    ...told,
  ];
  const rest = [name, ...comments.flatMap((comment) => commentDeletionOps(scope, thread, comment)), ...reactionOps];
  if (complete && head.length + rest.length <= MOST_OPERATIONS)
    return { result: { outcome: 'removed' }, ops: [...head, ...rest] };
  const headless = { annotationId, createdAt, first, assignedTo: assignedTo && { userId: assignedTo.userId } };
  const { op, unfinished } = startLeftoverPurge(scope, { documentId, thread: headless }, now);
  return { result: { outcome: 'removed', unfinished }, ops: [...head, op] };
}
