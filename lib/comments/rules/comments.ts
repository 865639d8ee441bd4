import * as z from 'zod';
import { type ContentUser, StoredUser } from '../../content/rules/contentUser.ts';
import { ReactionReference } from '../../reactions/rules.ts';
import { isLongerThan } from '../../shared/bytes.ts';
import { readJson } from '../../shared/jsonFields.ts';
import { defineSchema } from '../../shared/schema.ts';
import { mentionedBy, type Open } from './taggedUsers.ts';

export const MAX_COMMENTS = 1_000;

/** As JSON, without its reactions. DynamoDB limits an item to 400 KB. */
export const MAX_COMMENT_BYTES = 256 * 1024;

/** Most objects and lists of the request are stored as JSON text. */
export const Comment = /* @__PURE__ */ defineSchema(() =>
  z.object({
    annotationId: z.string(),
    /** Epoch ms. Part of the comment's key. */
    threadCreatedAt: z.number(),
    commentId: z.number(),
    from: StoredUser,
    commentText: z.string().optional(),
    commentHtml: z.string().optional(),
    to: z.string().optional(),
    taggedUserContacts: z.string().optional(),
    attachments: z.string().optional(),
    context: z.string().optional(),
    agent: z.string().optional(),
    progress: z.string().optional(),
    actions: z.string().optional(),
    metadata: z.string().optional(),
    isCommentResolverUsed: z.boolean().optional(),
    isCommentTextAvailable: z.boolean().optional(),
    isEdited: z.boolean(),
    /** The fields, of those in which mails show links, that a user token wrote last. */
    userFields: z.array(z.string()).optional(),
    reactions: z.array(ReactionReference).optional(),
    createdAt: z.number(),
    /** The server's time of the request that added the comment, if it differs from `createdAt`. */
    addedAt: z.number().optional(),
    lastUpdated: z.number(),
  }),
);
export type Comment = z.output<typeof Comment>;

export function addedAtOf({ addedAt, createdAt }: Pick<Comment, 'addedAt' | 'createdAt'>): number {
  return addedAt ?? createdAt;
}

interface CommentContent {
  readonly commentText?: string | undefined;
  readonly commentHtml?: string | undefined;
  readonly attachments?: readonly unknown[] | undefined;
  readonly isCommentResolverUsed?: boolean | undefined;
}

export function hasContent({
  commentText,
  commentHtml,
  attachments = [],
  isCommentResolverUsed,
}: CommentContent): boolean {
  return Boolean(commentText) || Boolean(commentHtml) || attachments.length > 0 || isCommentResolverUsed === true;
}

export const commentJsonFields = [
  'to',
  'taggedUserContacts',
  'attachments',
  'context',
  'agent',
  'progress',
  'actions',
  'metadata',
] as const;
export const commentTextFields = [
  'commentText',
  'commentHtml',
  'isCommentResolverUsed',
  'isCommentTextAvailable',
] as const;

export const COMMENT_TOO_LARGE = 'Comment would be too large.';

export function isTooLarge(comment: Comment): boolean {
  return isLongerThan(JSON.stringify({ ...comment, reactions: undefined }), MAX_COMMENT_BYTES);
}

/** The author is included only if the comment mentions the author. */
export function commentMentions({ to, taggedUserContacts }: Comment): string[] {
  return mentionedBy(readList<ContentUser>(to), readList<Open>(taggedUserContacts));
}

/** The users whose data a comment belongs to: its author (`made`) and the mentioned users. */
export function usersOfComment(comment: Comment): { userId: string; made: boolean }[] {
  const author = comment.from.userId;
  const others = commentMentions(comment).filter((userId) => userId !== author);
  return [{ userId: author, made: true }, ...others.map((userId) => ({ userId, made: false }))];
}

export function readList<T>(text: string | undefined): T[] {
  return readJson<T[]>(text) ?? [];
}
