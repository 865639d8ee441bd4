import type { DocumentScope } from '../content/documentScope.ts';
import { InvolvementEntity } from '../content/involvements.ts';
import { readCommentReactions } from '../reactions/reactions.ts';
import type { Reaction } from '../reactions/rules.ts';
import type { Stored } from '../table/entity.ts';
import type { Table } from '../table/table.ts';
import type { LoadedThread } from './commitThread.ts';
import type { Comment } from './rules/comments.ts';
import type { ExistingThread } from './rules/threadParts.ts';
import { assigneeInvolvement } from './threadInvolvements.ts';
import { ThreadReader } from './threads.ts';

/** The most comments, and the most reactions, that one transaction deletes with their thread. */
export const MAX_COMMENTS_IN_TRANSACTION = 20;

/** The most bytes of comments that one transaction deletes with their thread. */
export const MAX_BYTES_IN_TRANSACTION = 300_000;

/** Adds the reactions. If there are too many, the thread is partial. */
export async function loadWholeThread(
  table: Table,
  scope: DocumentScope,
  thread: ExistingThread,
  isPartial = false,
): Promise<LoadedThread> {
  const references = thread.comments.flatMap(({ reactions = [] }) => reactions);
  if (isPartial || references.length > MAX_COMMENTS_IN_TRANSACTION) return { ...thread, isPartial: true };
  return { ...thread, reactions: await readReactionsOn(table, scope, thread.comments) };
}

/**
 * Adds the reactions, the comments that become the first and the last one, and the involvement of the assignee, which
 * moves to the new first comment.
 */
export async function loadForDeletion(
  table: Table,
  scope: DocumentScope,
  before: ExistingThread,
  deleted: readonly Comment[],
): Promise<LoadedThread> {
  const { thread } = before;
  const deletedIds = new Set(deleted.map(({ commentId }) => commentId));
  const findEnd = async (commentId: number, descending: boolean) => {
    if (!deletedIds.has(commentId)) return [];
    const options = { limit: deleted.length + 1, descending };
    const { values } = await new ThreadReader(table).listComments(scope, thread, options);
    return values.filter((comment) => !deletedIds.has(comment.commentId)).slice(0, 1);
  };
  const [first, last] = await Promise.all([
    findEnd(thread.first.commentId, false),
    findEnd(thread.last.commentId, true),
  ]);
  const { assignedTo } = thread;
  const [involvement] = await table.getMany(
    InvolvementEntity,
    first[0] && assignedTo ? [{ ...scope, ...assigneeInvolvement(scope, thread, assignedTo) }] : [],
  );
  const comments = new Map([...first, ...last, ...before.comments].map((comment) => [comment.commentId, comment]));
  return {
    thread,
    comments: [...comments.values()],
    reactions: await readReactionsOn(table, scope, deleted),
    assignment: { since: involvement?.since },
  };
}

async function readReactionsOn(
  table: Table,
  scope: DocumentScope,
  comments: readonly Comment[],
): Promise<Stored<Reaction>[]> {
  const references = comments.flatMap(({ reactions = [] }) => reactions);
  return (await readCommentReactions(table, scope, references)).filter((reaction) => reaction !== undefined);
}
