import type { DocumentScope } from '../content/documentScope.ts';
import { addInvolvement, type Involvement, removeInvolvement } from '../content/involvements.ts';
import type { WriteOp } from '../table/table.ts';
import { type Comment, usersOfComment } from './rules/comments.ts';
import type { Thread } from './rules/threads.ts';

/** The fields of a thread that decide which users a comment involves. */
export type AssignedThread = Pick<Thread, 'first'> & { readonly assignedTo?: { readonly userId: string } | undefined };

export interface CommentInThread {
  readonly thread: AssignedThread;
  readonly comment: Comment;
}

/**
 * Returns the users whom a comment involves: its author, the mentioned users, and for the first comment also the thread's
 * assignee. The value is true for the author and false for the other users.
 */
function usersInvolved(state: CommentInThread | undefined): ReadonlyMap<string, boolean> {
  if (!state) return new Map();
  const { thread, comment } = state;
  const users = usersOfComment(comment).map(({ userId, made }) => [userId, made] as const);
  const isAssigned = thread.assignedTo && thread.first.commentId === comment.commentId;
  return new Map(isAssigned ? [[thread.assignedTo.userId, false], ...users] : users);
}

/**
 * Returns the operations that update the involvements of a comment after a change. An involvement is the item which says that a
 * comment involves a user. `before` is undefined for a new comment, `after` for a deleted comment. `since` (epoch ms) is the time
 * of a request that involves users in an existing comment.
 */
export function commentInvolvementOps(
  scope: DocumentScope,
  before: CommentInThread | undefined,
  after: CommentInThread | undefined,
  since?: number,
): WriteOp[] {
  const comment = (after ?? before)?.comment;
  if (!comment) return [];
  const { annotationId, threadCreatedAt, commentId, createdAt } = comment;
  const record = {
    kind: 'comment',
    documentKey: scope.documentKey,
    id: annotationId,
    createdAt: threadCreatedAt,
    commentId,
    at: createdAt,
  } as const;
  const [old, current] = [usersInvolved(before), usersInvolved(after)];
  const removed = [...old.keys()].filter((userId) => !current.has(userId));
  // A user who was removed and added again can be assigned again. The removal has deleted the former involvement.
  const assignee =
    before?.thread.assignedTo === after?.thread.assignedTo ? undefined : after?.thread.assignedTo?.userId;
  const changed = [...current].filter(([userId, made]) => old.get(userId) !== made || userId === assignee);
  return [
    ...removed.map((userId) => removeInvolvement(scope, { ...record, userId })),
    ...changed.map(([userId, made]) => addInvolvement(scope, { ...record, userId, made, since })),
  ];
}

/** Returns the key of the assignee's involvement: the item which says that the first comment involves the assignee. */
export function assigneeInvolvement(
  { documentKey }: DocumentScope,
  { annotationId, first }: Pick<Thread, 'annotationId' | 'first'>,
  { userId }: { readonly userId: string },
): Omit<Involvement, 'made' | 'createdAt' | 'since'> {
  return { kind: 'comment', documentKey, id: annotationId, commentId: first.commentId, at: first.createdAt, userId };
}
