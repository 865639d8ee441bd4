import { type Comment, usersOfComment } from './rules/comments.ts';
import type { Thread } from './rules/threads.ts';
import type { WriteOp } from '../table/table.ts';
import { removeInvolvement, addInvolvement } from '../content/involvements.ts';
import type { DocumentScope } from '../content/documentScope.ts';

/** What of a thread decides whom its comments involve. */
export type AssignedThread = Pick<Thread, 'first'> & { readonly assignedTo?: { readonly userId: string } | undefined };

/** A comment as a part of a thread. */
export interface CommentInThread {
  readonly thread: AssignedThread;
  readonly comment: Comment;
}

/** Everybody whose data a comment is a part of, and whether they wrote it: its author, whom it mentions, and with a thread's first comment the assignee. */
function involvedWith(placed: CommentInThread | undefined): ReadonlyMap<string, boolean> {
  if (!placed) return new Map();
  const {
    thread: { first, assignedTo },
    comment,
  } = placed;
  const assigned = assignedTo && first.commentId === comment.commentId ? [[assignedTo.userId, false] as const] : [];
  return new Map([...assigned, ...usersOfComment(comment).map(({ userId, made }) => [userId, made] as const)]);
}

/** The operations that make a comment part of the data of those whom it involves now, and no longer of those whom it involved before. */
export function commentInvolvementOps(
  scope: DocumentScope,
  before: CommentInThread | undefined,
  after: CommentInThread | undefined,
): WriteOp[] {
  const [was, is] = [involvedWith(before), involvedWith(after)];
  return [
    ...[...was.keys()]
      .filter((userId) => !is.has(userId))
      .map((userId) => removeInvolvement(scope, { ...edge(scope, before as CommentInThread), userId })),
    ...[...is]
      .filter(([userId, made]) => was.get(userId) !== made)
      .map(([userId, made]) => addInvolvement(scope, { ...edge(scope, after as CommentInThread), userId, made })),
  ];
}

function edge(
  { documentKey }: DocumentScope,
  { comment: { annotationId, threadCreatedAt, commentId, createdAt } }: CommentInThread,
) {
  return {
    kind: 'comment',
    documentKey,
    id: annotationId,
    createdAt: threadCreatedAt,
    commentId,
    at: createdAt,
  } as const;
}
