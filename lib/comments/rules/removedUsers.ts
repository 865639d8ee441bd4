import type { ContentUser } from '../../content/rules/contentUser.ts';
import {
  changedFieldsWithoutPersonal,
  isMadeBy,
  keepId,
  type Open,
  type RemovedUsers,
  withChanges,
  withoutUsers,
  withoutVisibleUsers,
} from '../../content/rules/removedUsers.ts';
import { readJson } from '../../shared/jsonFields.ts';
import type { Comment } from './comments.ts';
import { withoutComments } from './decideComments.ts';
import type { ExistingThread, ThreadParts } from './threadParts.ts';
import { participantsOf, type Thread } from './threads.ts';

/** A thread that a removed user started before the removal is deleted. */
export function isThreadOf({ from, createdAt }: Pick<Thread, 'from' | 'createdAt'>, removed: RemovedUsers): boolean {
  return isMadeBy(from.userId, createdAt, removed);
}

export function removeFromThread(thread: Thread, removed: RemovedUsers): Thread {
  if (thread.createdAt > removed.removedAt) return thread;
  return withChanges(thread, {
    from: keepId(thread.from, removed),
    assignedTo: thread.assignedTo && keepId(thread.assignedTo, removed),
    subscribedUsers: withoutUsers(thread.subscribedUsers, removed),
    unsubscribedUsers: withoutUsers(thread.unsubscribedUsers, removed),
  });
}

/** Comments are erased separately, and participants with them. */
export function eraseFromThread(thread: Thread, removed: RemovedUsers): Thread {
  if (thread.createdAt > removed.removedAt) return thread;
  const { assignedTo, resolvedByUserId, statusUpdatedByUserId, visibility } = thread;
  const keepOther = (userId: string | undefined) =>
    userId === undefined || removed.userIds.has(userId) ? undefined : userId;
  return withChanges(thread, {
    ...removeFromThread(thread, removed),
    assignedTo: assignedTo && keepOther(assignedTo.userId) === undefined ? undefined : assignedTo,
    resolvedByUserId: keepOther(resolvedByUserId),
    statusUpdatedByUserId: keepOther(statusUpdatedByUserId),
    visibility: withoutVisibleUsers(visibility, removed),
    participants: withoutTimes(thread, removed),
    ...changedFieldsWithoutPersonal(
      thread,
      [
        'status',
        'location',
        'targetElement',
        'priority',
        'customList',
        'pageInfo',
        'progress',
        'actions',
        'metadata',
        'suggestion',
      ],
      removed,
    ),
  });
}

/** When an erased user last wrote is not kept. The user's comments are deleted one by one. */
function withoutTimes(thread: Thread, { userIds, removedAt }: RemovedUsers): string {
  return JSON.stringify(
    participantsOf(thread).map(([userId, wrote, mentioned, addedAt]) =>
      addedAt === undefined || (userIds.has(userId) && addedAt <= removedAt)
        ? [userId, wrote, mentioned]
        : [userId, wrote, mentioned, addedAt],
    ),
  );
}

export function isCommentOf({ from, createdAt }: Pick<Comment, 'from' | 'createdAt'>, removed: RemovedUsers): boolean {
  return isMadeBy(from.userId, createdAt, removed);
}

export function removeFromComment(comment: Comment, removed: RemovedUsers): Comment {
  return isCommentOf(comment, removed) ? withChanges(comment, { from: keepId(comment.from, removed) }) : comment;
}

/** For a comment of another user: a comment that an erased user wrote is deleted. */
export function eraseFromComment(comment: Comment, removed: RemovedUsers): Comment {
  if (comment.createdAt > removed.removedAt) return comment;
  const { to, taggedUserContacts } = comment;
  return withChanges(comment, {
    from: keepId(comment.from, removed),
    to: to && JSON.stringify((readJson<ContentUser[]>(to) ?? []).map((user) => keepId(user, removed))),
    taggedUserContacts:
      taggedUserContacts &&
      JSON.stringify((readJson<Open[]>(taggedUserContacts) ?? []).map((tagged) => keepTaggedId(tagged, removed))),
    ...changedFieldsWithoutPersonal(comment, ['attachments', 'agent', 'progress', 'actions', 'metadata'], removed),
  });
}

/** The other fields of a mention can contain the user's name. */
function keepTaggedId(tagged: Open, { userIds }: RemovedUsers): Open {
  const contact = tagged.contact as Open | null | undefined;
  const userId = tagged.userId ?? contact?.userId;
  if (typeof userId !== 'string' || !userIds.has(userId)) return tagged;
  return {
    ...(tagged.userId != null && { userId }),
    ...(contact?.userId != null && { contact: { userId: contact.userId } }),
  };
}

/** Removes users from the head and from one comment, or deletes the comment. Keeps `lastUpdated`. */
export function decideUserRemoval(
  before: ExistingThread,
  commentId: number | undefined,
  users: RemovedUsers,
  mode: 'remove' | 'erase',
): ThreadParts {
  const [removeThread, removeComment] =
    mode === 'remove' ? [removeFromThread, removeFromComment] : [eraseFromThread, eraseFromComment];
  const comment = before.comments.find((candidate) => candidate.commentId === commentId);
  const isDeleted = mode === 'erase' && comment !== undefined && isCommentOf(comment, users);
  const parts = isDeleted ? withoutComments(before, [comment], before.thread.lastUpdated) : before;
  return {
    ...parts,
    thread: removeThread(parts.thread, users),
    comments: parts.comments.map((part) => (part === comment ? removeComment(part, users) : part)),
  };
}
