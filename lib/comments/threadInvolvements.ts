import type { DocumentScope } from '../content/documentScope.ts';
import { addInvolvement, type Involvement, InvolvementEntity, removeInvolvement } from '../content/involvements.ts';
import { reactionInvolvements } from '../reactions/reactions.ts';
import type { WriteOp } from '../table/table.ts';
import { usersOfComment } from './rules/comments.ts';
import type { ThreadParts } from './rules/threadParts.ts';
import type { Thread } from './rules/threads.ts';

export type AssignedThread = Pick<Thread, 'first'> & { readonly assignedTo?: { readonly userId: string } | undefined };

type Involved = Omit<Involvement, 'since'>;

type InvolvingParts = Pick<ThreadParts, 'comments' | 'reactions'> & { readonly thread?: AssignedThread | undefined };

/** The first comment also involves the assignee of the thread. */
export function involvementsOf(scope: DocumentScope, { thread, comments, reactions }: InvolvingParts): Involved[] {
  return [
    ...comments.flatMap((comment) => {
      const { annotationId, threadCreatedAt, commentId, createdAt } = comment;
      const record = { kind: 'comment', documentKey: scope.documentKey, id: annotationId, commentId } as const;
      const users = usersOfComment(comment);
      const assignee = thread?.first.commentId === commentId ? thread.assignedTo?.userId : undefined;
      const isAdded = assignee !== undefined && !users.some(({ userId }) => userId === assignee);
      return [...(isAdded ? [{ userId: assignee, made: false }] : []), ...users].map((user) => ({
        ...record,
        ...user,
        createdAt: threadCreatedAt,
        at: createdAt,
      }));
    }),
    ...reactions.flatMap((reaction) => reactionInvolvements(scope, reaction)),
  ];
}

/** `since` (epoch ms) is for users who become involved in existing comments. `reassigned` is the new assignee. */
export function involvementOps(
  scope: DocumentScope,
  before: InvolvingParts,
  after: InvolvingParts,
  { since, reassigned }: { readonly since: number | undefined; readonly reassigned: string | undefined },
): WriteOp[] {
  const keyed = (parts: InvolvingParts) =>
    new Map(involvementsOf(scope, parts).map((involved) => [keyOf(scope, involved), involved]));
  const [old, current] = [keyed(before), keyed(after)];
  const existing = new Set(before.comments.map(({ commentId }) => commentId));
  const isAssignee = ({ userId, commentId }: Involved) =>
    userId === reassigned && commentId === after.thread?.first.commentId;
  return [
    ...[...old].flatMap(([key, involved]) => (current.has(key) ? [] : [removeInvolvement(scope, involved)])),
    ...[...current]
      .filter(([key, involved]) => old.get(key)?.made !== involved.made || isAssignee(involved))
      .map(([, involved]) =>
        addInvolvement(scope, { ...involved, since: existing.has(involved.commentId ?? -1) ? since : undefined }),
      ),
  ];
}

function keyOf(scope: DocumentScope, involved: Involved): string {
  const { PK, SK } = InvolvementEntity.key({ ...scope, ...involved });
  return `${PK} ${SK}`;
}

export function assigneeInvolvement(
  { documentKey }: DocumentScope,
  { annotationId, first }: Pick<Thread, 'annotationId' | 'first'>,
  { userId }: { readonly userId: string },
): Omit<Involvement, 'made' | 'createdAt' | 'since'> {
  return { kind: 'comment', documentKey, id: annotationId, commentId: first.commentId, at: first.createdAt, userId };
}
