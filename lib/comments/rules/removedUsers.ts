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
import type { Thread } from './threads.ts';

/** Returns whether a removed user started the thread before the removal. Such a thread is deleted. */
export function isThreadOf({ from, createdAt }: Pick<Thread, 'from' | 'createdAt'>, removed: RemovedUsers): boolean {
  return isMadeBy(from.userId, createdAt, removed);
}

/** Returns a thread after users were removed. Their subscriptions are deleted. A removed author or assignee keeps only the id. */
export function removeFromThread(thread: Thread, removed: RemovedUsers): Thread {
  if (thread.createdAt > removed.removedAt) return thread;
  return withChanges(thread, {
    from: keepId(thread.from, removed),
    assignedTo: thread.assignedTo && keepId(thread.assignedTo, removed),
    subscribedUsers: withoutUsers(thread.subscribedUsers, removed),
    unsubscribedUsers: withoutUsers(thread.unsubscribedUsers, removed),
  });
}

/**
 * Returns a thread after users were erased. The thread no longer names these users as subscribers or assignee, in status changes,
 * or in its visibility. The comments and participants of the thread are erased separately.
 */
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

/** Returns whether a removed user wrote the comment before the removal. */
export function isCommentOf({ from, createdAt }: Pick<Comment, 'from' | 'createdAt'>, removed: RemovedUsers): boolean {
  return isMadeBy(from.userId, createdAt, removed);
}

/** Returns a comment after users were removed. A removed author keeps only the id. */
export function removeFromComment(comment: Comment, removed: RemovedUsers): Comment {
  return isCommentOf(comment, removed) ? withChanges(comment, { from: keepId(comment.from, removed) }) : comment;
}

/** Returns another user's comment after users were erased. Erased users whom the comment mentions or addresses keep only the id. */
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

/**
 * Returns a mention of an erased user with only the id, because its other fields can contain the user's name. Returns other
 * mentions unchanged.
 */
function keepTaggedId(tagged: Open, { userIds }: RemovedUsers): Open {
  const contact = tagged.contact as Open | null | undefined;
  const userId = tagged.userId ?? contact?.userId;
  if (typeof userId !== 'string' || !userIds.has(userId)) return tagged;
  return {
    ...(tagged.userId != null && { userId }),
    ...(contact?.userId != null && { contact: { userId: contact.userId } }),
  };
}

/**
 * Returns a thread after users were removed from its head and from one comment. In mode `erase`, a comment that one of them wrote is
 * deleted. No removal changes `lastUpdated`.
 */
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
