import type { ContentUser } from '../../content/rules/contentUser.ts';
import { contextAllows } from '../../directory/rules/access.ts';
import type { ChangeOptions } from './changeOptions.ts';
import { changeComment, hasTextChange, newComments, replaceCommentUsers } from './commentChanges.ts';
import { accessFieldsOf } from './commentContext.ts';
import type { ContentChange } from './commentEvents.ts';
import type { CommentChange, NewComment } from './commentRequests.ts';
import { type Comment, COMMENT_TOO_LARGE, isTooLarge, MAX_COMMENTS } from './comments.ts';
import { decideThreadDeletion } from './decideThread.ts';
import { addComments, changeComments, type Refused, removeComments, replaceThreadUsers } from './threadChanges.ts';
import {
  type Decided,
  decideEach,
  type ExistingThread,
  type Refusals,
  type ThreadParts,
  unchanged,
} from './threadParts.ts';
import type { Thread } from './threads.ts';

export const NOT_FOUND = 'Not found';
export const TOO_MANY_USERS = 'Comment would involve too many other users at once.';

/** By id and by author. Without both, selects all comments. */
export interface CommentSelection {
  readonly commentIds?: readonly number[] | undefined;
  readonly userIds?: readonly string[] | undefined;
}

export function isSelected({ userIds }: CommentSelection, { from }: Comment): boolean {
  return userIds?.includes(from.userId) ?? true;
}

/** Returns the addition of all comments with their ids, or why none of them is added. */
export function decideCommentAddition(
  before: ExistingThread,
  sent: readonly NewComment[],
  { now, byUser }: { now: number; byUser: boolean },
): Decided<number[]> | Refused {
  const { thread } = before;
  if (thread.commentCount + sent.length > MAX_COMMENTS)
    return { refused: `A thread takes at most ${MAX_COMMENTS} comments` };
  const { annotationId, createdAt: threadCreatedAt } = thread;
  const added = newComments(sent, thread.lastCommentId, { annotationId, threadCreatedAt, createdAt: now, now, byUser });
  const next = addComments(thread, added, now);
  if ('refused' in next) return next;
  const events = added.map((comment, index): ContentChange => {
    const { triggerNotification: notify = false, triggerActivities: log = false } = sent[index] as NewComment;
    return { verb: 'added', actor: comment.from, thread: next, revision: 1, comment, notify, log };
  });
  return {
    after: { ...before, thread: next, comments: [...before.comments, ...added] },
    events,
    result: added.map(({ commentId }) => commentId),
  };
}

/** A comment that cannot be changed is refused alone. */
export function decideCommentUpdate(
  before: ExistingThread,
  ids: readonly number[],
  { selection, change, options }: { selection: CommentSelection; change: CommentChange; options: ChangeOptions },
): Decided<Refusals> {
  const { now, byUser } = options;
  return decideEach(before, ids, (current, id) => {
    const comment = before.comments.find(({ commentId }) => commentId === id);
    if (!comment || !isSelected(selection, comment)) return NOT_FOUND;
    const changed = changeComment(comment, change, now, byUser);
    if ('refused' in changed) return changed.refused;
    const after = withComment(current, comment, changed, now);
    if ('refused' in after) return after.refused;
    const { thread } = after;
    return { after, events: [updateEvent(comment, changed, { ...options, thread, revision: comment._r + 1 })] };
  });
}

function updateEvent(
  before: Comment,
  after: Comment,
  { actor = before.from, notify, log, thread, revision }: ChangeOptions & Pick<ContentChange, 'thread' | 'revision'>,
): ContentChange {
  // Users who have the new access context, but not the former one, may not read the former text.
  const isFormerTextOpen = contextAllows(
    { accessFields: accessFieldsOf(before.context) },
    accessFieldsOf(after.context),
  );
  return {
    verb: 'updated',
    actor,
    thread,
    revision,
    comment: after,
    from: isFormerTextOpen ? before.commentText : undefined,
    to: after.commentText,
    notify,
    log: log && hasTextChange(before, after),
  };
}

/**
 * Replaces authors and mentioned users. With the first comment, also replaces the author and the assignee of the
 * thread, whom this comment involves.
 */
export function decideUserReplacement(
  before: ExistingThread,
  ids: readonly number[],
  replacement: (userId: string) => ContentUser | undefined,
  now: number,
): Decided<Refusals> {
  const { thread, comments } = before;
  const head = comments.some(({ commentId }) => commentId === thread.first.commentId)
    ? replaceThreadUsers(thread, replacement)
    : thread;
  const isSame = head.from === thread.from && head.assignedTo === thread.assignedTo;
  return decideEach(isSame ? before : { ...before, thread: { ...head, lastUpdated: now } }, ids, (current, id) => {
    const comment = comments.find(({ commentId }) => commentId === id);
    const changed = comment && replaceCommentUsers(comment, replacement);
    if (!comment || !changed || changed === comment) return unchanged(current, undefined);
    // A comment can mention a user many times, and the new user can have a longer profile.
    if (isTooLarge(changed)) return COMMENT_TOO_LARGE;
    const after = withComment(current, comment, changed, now);
    return 'refused' in after ? after.refused : { after, events: [] };
  });
}

function withComment(parts: ThreadParts, before: Comment, after: Comment, now: number) {
  const thread = changeComments(parts.thread as Thread, [before], [after], now);
  if ('refused' in thread) return thread;
  return { ...parts, thread, comments: parts.comments.map((comment) => (comment === before ? after : comment)) };
}

/** If no comment would remain, the thread is deleted. */
export function decideCommentDeletion(
  before: ExistingThread,
  ids: readonly number[],
  selection: CommentSelection,
  options: ChangeOptions,
): Decided<Refusals> {
  const { thread } = before;
  const { actor, notify, log, now } = options;
  const deleted = before.comments.filter(
    (comment) => ids.includes(comment.commentId) && isSelected(selection, comment),
  );
  const deletedIds = new Set(deleted.map(({ commentId }) => commentId));
  const result = ids.map((id) => (deletedIds.has(id) ? undefined : NOT_FOUND));
  if (deleted.length === 0) return unchanged(before, result);
  if (deleted.length === thread.commentCount) return { ...decideThreadDeletion(before, options), result };
  return {
    after: withoutComments(before, deleted, now),
    events: deleted.map((comment): ContentChange => {
      return { verb: 'deleted', actor: actor ?? comment.from, thread, revision: comment._r, comment, notify, log };
    }),
    result,
  };
}

/** Deletes comments and their reactions. `before` must have the comments that take the first and the last place. */
export function withoutComments(before: ExistingThread, deleted: readonly Comment[], now: number) {
  const { thread } = before;
  const isDeleted = ({ commentId }: Pick<Comment, 'commentId'>) =>
    deleted.some((comment) => comment.commentId === commentId);
  const references = new Set(deleted.flatMap(({ reactions = [] }) => reactions.map(({ id }) => id)));
  const comments = before.comments.filter((comment) => !isDeleted(comment));
  const byId = comments.toSorted((a, b) => a.commentId - b.commentId);
  const ends = {
    first: isDeleted(thread.first) ? byId[0] : undefined,
    last: isDeleted(thread.last) ? byId.at(-1) : undefined,
  };
  return {
    thread: removeComments(thread, deleted, ends, now),
    comments,
    reactions: before.reactions.filter(({ annotationId }) => !references.has(annotationId)),
  } satisfies ThreadParts;
}
