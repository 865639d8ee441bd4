import { type ContentUser, MAX_INVOLVED_USERS } from '../../content/rules/contentUser.ts';
import { userFieldsAfter } from '../../content/rules/userFields.ts';
import { toStoredFields } from '../../shared/jsonFields.ts';
import type { CommentChange, NewComment } from './commentRequests.ts';
import {
  type Comment,
  COMMENT_TOO_LARGE,
  commentJsonFields,
  commentTextFields,
  hasContent,
  isTooLarge,
  readList,
  usersOfComment,
} from './comments.ts';
import { type Open, taggedUserId } from './taggedUsers.ts';

const linkFields = ['commentText', 'commentHtml'] as const;

function toStored(sent: CommentChange | NewComment): Partial<Comment> {
  return toStoredFields<CommentChange>(sent, commentJsonFields, [...commentTextFields, 'from']);
}

/** `createdAt` is the time (epoch ms) of comments that were sent without one, `now` that of the request. */
export interface NewCommentContext {
  readonly annotationId: string;
  readonly threadCreatedAt: number;
  readonly createdAt: number;
  readonly now: number;
  readonly byUser?: boolean | undefined;
}

/** A comment that was sent without an id gets one after `lastCommentId` and all ids of the request. */
export function newComments(sent: readonly NewComment[], lastCommentId: number, context: NewCommentContext): Comment[] {
  let last = Math.max(lastCommentId, ...sent.map(({ commentId }) => commentId ?? 0));
  return sent.map((comment) => {
    const createdAt = comment.createdAt ?? context.createdAt;
    return {
      ...toStored(comment),
      annotationId: context.annotationId,
      threadCreatedAt: context.threadCreatedAt,
      commentId: comment.commentId ?? (last += 1),
      from: comment.from,
      isEdited: false,
      userFields: userFieldsAfter(undefined, comment, linkFields, context.byUser ?? false),
      createdAt,
      addedAt: createdAt === context.now ? undefined : context.now,
      lastUpdated: comment.lastUpdated ?? createdAt,
    };
  });
}

export function changeComment(
  comment: Comment,
  change: CommentChange,
  now: number,
  byUser = false,
): Comment | { refused: string } {
  const userFields = userFieldsAfter(comment.userFields, change, linkFields, byUser);
  const changed: Comment = { ...comment, ...toStored(change), userFields, isEdited: true, lastUpdated: now };
  if (!hasContent({ ...changed, attachments: readList(changed.attachments) }))
    return { refused: 'Comment would be empty.' };
  if (isTooLarge(changed)) return { refused: COMMENT_TOO_LARGE };
  if (usersOfComment(changed).length > MAX_INVOLVED_USERS)
    return { refused: `Comment would involve more than ${MAX_INVOLVED_USERS} users.` };
  return changed;
}

export function hasTextChange(before: Comment, after: Comment): boolean {
  return before.commentText !== after.commentText || before.commentHtml !== after.commentHtml;
}

/** Returns the same object if nothing changes. */
export function replaceCommentUsers(
  comment: Comment,
  replacement: (userId: string) => ContentUser | undefined,
): Comment {
  const replaceUser = (user: ContentUser) => replacement(user.userId) ?? user;
  const replaceTagged = (tagged: Open): Open => {
    const user = replacement(taggedUserId(tagged) as string);
    if (!user) return tagged;
    return {
      ...tagged,
      ...(tagged.userId !== undefined && { userId: user.userId }),
      ...(tagged.contact !== undefined && { contact: user }),
    };
  };
  const { from, to, taggedUserContacts } = comment;
  const changed = {
    ...comment,
    from: replaceUser(from),
    to: to && JSON.stringify(readList<ContentUser>(to).map(replaceUser)),
    taggedUserContacts: taggedUserContacts && JSON.stringify(readList<Open>(taggedUserContacts).map(replaceTagged)),
  };
  return JSON.stringify(changed) === JSON.stringify(comment) ? comment : changed;
}
