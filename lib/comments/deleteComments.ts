import type { DocumentScope } from '../content/documentScope.ts';
import { InvolvementEntity } from '../content/involvements.ts';
import { joinOps } from '../content/userRemoval.ts';
import { reactionDeletionOps, readCommentReactions } from '../reactions/reactions.ts';
import type { Stored } from '../table/entity.ts';
import { replace, type Table, type WriteOp } from '../table/table.ts';
import { OPS_BESIDE_HEAD } from './commentChanges.ts';
import { assigneeInvolvement, commentInvolvementOps } from './commentInvolvements.ts';
import { commentDeletionOps, finishLeftoverPurge, startLeftoverPurge } from './deleteThreads.ts';
import type { Comment } from './rules/comments.ts';
import { removeComments, type Thread } from './rules/threads.ts';
import { hiddenDeletionOps } from './threadAccessChanges.ts';
import { ThreadEntity, ThreadReader } from './threads.ts';

/** How a thread changes with the deletion of some of its comments. `now` is the time of the deletion in epoch ms. */
interface CommentDeletion {
  /** Returns the thread to store, from the thread without the comments. By default the thread does not change further. */
  readonly changeThread?: (thread: Thread) => Thread;
  /** Further operations of the transaction. They can delete the same items as the deletion. */
  readonly extraOps: readonly WriteOp[];
  readonly now: number;
}

/**
 * Tries once to delete comments with their reactions from a thread that keeps at least one comment. If the reactions do not fit into
 * the transaction, they are deleted after it, or by a job if the invocation ends early. Returns the stored thread.
 */
export async function deleteComments(
  table: Table,
  scope: DocumentScope,
  thread: Stored<Thread>,
  comments: readonly Stored<Comment>[],
  { changeThread = (changed) => changed, extraOps, now }: CommentDeletion,
): Promise<Stored<Thread> | 'conflict'> {
  const ends = await findNewEnds(table, scope, thread, comments);
  const next = changeThread(removeComments(thread, comments, ends, now));
  const { first } = ends;
  // The assignee's involvement is the item which says that the first comment involves the assignee. If that comment is deleted,
  // the involvement moves to the next comment, with the time of the assignment.
  const { assignedTo } = thread;
  const [involvement] = await table.getMany(
    InvolvementEntity,
    first && assignedTo ? [{ ...scope, ...assigneeInvolvement(scope, thread, assignedTo) }] : [],
  );
  const deletionOps = [
    replace(ThreadEntity, { ...scope, ...next }, thread._r),
    ...(first
      ? commentInvolvementOps(scope, { thread, comment: first }, { thread: next, comment: first }, involvement?.since)
      : []),
    ...comments.flatMap((comment) => [
      ...commentDeletionOps(scope, thread, comment),
      ...hiddenDeletionOps(scope, thread, comment, now),
    ]),
  ];
  const ops = joinOps(deletionOps, extraOps);
  const { documentId } = thread;
  const references = comments.flatMap(({ reactions = [] }) => reactions);
  const reactions = await readCommentReactions(table, scope, references);
  const reactionOps = reactionDeletionOps(scope, documentId, reactions);
  const stored = { ...next, _r: thread._r + 1 };
  if (ops.length + reactionOps.length <= OPS_BESIDE_HEAD + 1) return table.tryWrite([...ops, ...reactionOps], stored);
  const { op, unfinished } = startLeftoverPurge(scope, { documentId, reactions: references }, now);
  if ((await table.write([...ops, op])) !== 'done') return 'conflict';
  await finishLeftoverPurge(table, scope.tenant, unfinished);
  return stored;
}

/** Returns the comments that become the first and the last comment of the thread. Each is undefined if the current one stays. */
async function findNewEnds(
  table: Table,
  scope: DocumentScope,
  thread: Thread,
  removed: readonly Comment[],
): Promise<{ first?: Comment | undefined; last?: Comment | undefined }> {
  const removedIds = new Set(removed.map(({ commentId }) => commentId));
  const findEnd = async (commentId: number, descending: boolean) => {
    if (!removedIds.has(commentId)) return undefined;
    const options = { limit: removed.length + 1, descending };
    const { values } = await new ThreadReader(table).listComments(scope, thread, options);
    return values.find((comment) => !removedIds.has(comment.commentId));
  };
  const [first, last] = await Promise.all([
    findEnd(thread.first.commentId, false),
    findEnd(thread.last.commentId, true),
  ]);
  return { first, last };
}
