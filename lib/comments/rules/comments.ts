import * as z from 'zod';
import { isLongerThan } from '../../shared/bytes.ts';
import { distinct } from '../../shared/collections.ts';
import {
  AccessContext,
  Id,
  IsoTime,
  unchangedObject,
  list,
  Name,
  OpenObject,
  optional,
  Text,
  withFieldRule,
} from '../../shared/schema.ts';
import { accessFields } from '../../directory/rules/access.ts';
import { type ContentNames, recordMetadata } from '../../content/rules/names.ts';
import { Actions, Progress } from './progress.ts';
import { ReactionReference } from '../../reactions/rules.ts';
import { importedTimes } from '../../shared/times.ts';
import { ContentUser, MOST_INVOLVED, StoredUser } from '../../content/rules/user.ts';

/** How many comments one call brings, and how many a thread takes (design 5). */
export const MAX_COMMENTS_PER_CALL = 50;
export const MAX_COMMENTS = 1_000;

/** What a comment takes in all, as JSON: DynamoDB holds 400 KB in one item, and reactions are named in it too. */
const LARGEST_BYTES = 256 * 1024;
const MOST_ATTACHMENTS = 50;

/** A comment's id. Sort keys have room for 16 digits: the ids that follow the largest one have to fit as well. */
export const CommentId = z.int().min(0).max(999_999_999_999_999);

/** What became of the comments of a call, by id. */
export const CommentResults = z.object({
  data: z.record(z.string(), z.object({ success: z.boolean(), id: z.number(), message: z.string() })),
});

/** Access context of a thread or comment (facts B19). */
export const Context = z.object({ access: optional(AccessContext) });

/** What an agent says of a finding, and who it is (facts C8). */
const KnownAgent = z
  .object({
    /** `external`, or the service: under its own name or as `svc` (`requireAgentSources`). */
    agentSource: Name,
    agentId: Id,
    executionId: optional(Id),
    agentType: optional(Name),
    agentName: optional(Name),
    url: optional(z.string().max(2_048)),
    reason: z.object({
      title: Text.min(1),
      description: Text,
      severity: Name,
      findingId: optional(Id),
      findingType: optional(z.enum(['text', 'pin', 'page'])),
      confidence: optional(z.number().min(0).max(100)),
      source: optional(z.enum(['instructions', 'knowledge'])),
    }),
  })
  .check(
    z.refine(({ agentSource, agentName }) => agentSource !== 'external' || agentName !== undefined, {
      path: ['agentName'],
      error: 'is required for external agents',
    }),
  );
type Open = Readonly<Record<string, unknown>>;
const Agent = unchangedObject(KnownAgent);

/** Whose agent an `agentSource` means; the service's own name is one for `svc`. */
export function agentSourceOf(agentSource: string): 'svc' | 'external' {
  return agentSource === 'external' ? 'external' : 'svc';
}

/** The documented part of an agent block. */
export function parseAgent(agent: Open): z.output<typeof KnownAgent> {
  return KnownAgent.parse(agent);
}

const Contact = z.object({ userId: optional(Id), contact: optional(z.object({ userId: optional(Id) })) });
/** Somebody whom a comment mentions: the user is `userId`, else that of the `contact`. */
const Tagged = unchangedObject(
  Contact.check(
    z.refine((tagged) => taggedUserId(tagged) !== undefined, {
      path: ['userId'],
      error: 'must be given, or that of the contact',
    }),
  ),
);

function taggedUserId(tagged: Open): string | undefined {
  const { userId, contact } = tagged as z.output<typeof Contact>;
  return userId ?? contact?.userId ?? undefined;
}

/** What a comment says; an update can send any of it. */
const fields = {
  commentText: optional(Text),
  commentHtml: optional(Text),
  to: optional(list(ContentUser, MOST_INVOLVED, 0)),
  taggedUserContacts: optional(list(Tagged, MOST_INVOLVED, 0)),
  attachments: optional(list(OpenObject, MOST_ATTACHMENTS, 0)),
  context: optional(Context),
  agent: optional(Agent),
  progress: optional(Progress),
  actions: optional(Actions),
  /** Whether the customer keeps the text, and a resolver fills it in. */
  isCommentResolverUsed: optional(z.boolean()),
  isCommentTextAvailable: optional(z.boolean()),
  metadata: optional(OpenObject),
};

interface Addressed {
  readonly from?: ContentUser | undefined;
  readonly to?: readonly ContentUser[] | undefined;
  readonly taggedUserContacts?: readonly Open[] | undefined;
}

const isSmall = z.refine<object>((comment) => !isLongerThan(JSON.stringify(comment), LARGEST_BYTES), {
  error: `must be at most ${LARGEST_BYTES} bytes as JSON`,
});
const involvesFew = z.refine<Addressed>(
  ({ from, to, taggedUserContacts }) =>
    mentionedBy(to, taggedUserContacts, from ? [from.userId] : []).length <= MOST_INVOLVED,
  {
    path: ['taggedUserContacts'],
    error: `must not involve more than ${MOST_INVOLVED} users, together with from and to`,
  },
);

/** A comment as callers add it. */
export const NewComment = z
  .object({
    commentId: optional(CommentId),
    ...fields,
    from: ContentUser,
    ...importedTimes,
    /** Whether others are told of it: webhooks, e-mail, in-app notifications (facts B6). */
    triggerNotification: optional(z.boolean()),
    /** Whether an activity is logged. */
    triggerActivities: optional(z.boolean()),
  })
  .check(
    isSmall,
    involvesFew,
    withFieldRule(
      'anyOf',
      ['commentText', 'commentHtml', 'attachments', 'isCommentResolverUsed'],
      z.refine(hasContent, {
        path: ['commentText'],
        error: 'must be given, or commentHtml, an attachment or isCommentResolverUsed',
      }),
    ),
  );
export type NewComment = z.output<typeof NewComment>;

/** Several comments of one call; an id that the caller chooses is there once. */
export const NewComments = list(NewComment, MAX_COMMENTS_PER_CALL).check(({ value, issues }) => {
  const seen = new Set<number>();
  for (const [index, { commentId }] of value.entries()) {
    if (commentId !== undefined && seen.has(commentId))
      issues.push({ code: 'custom', input: value, path: [index, 'commentId'], message: 'is given twice' });
    if (commentId !== undefined) seen.add(commentId);
  }
});

/** The comments of a call under their name in the interface, or under its alias: exactly one of the two. */
export const commentLists = { commentData: optional(NewComments), comments: optional(NewComments) };

interface CommentLists {
  readonly commentData?: NewComment[] | undefined;
  readonly comments?: NewComment[] | undefined;
}

export const oneCommentList = withFieldRule(
  'oneOf',
  ['commentData', 'comments'],
  z.refine<CommentLists>(({ commentData, comments }) => (commentData === undefined) !== (comments === undefined), {
    path: ['commentData'],
    error: 'must be given, or comments, and not both',
  }),
);

/** The comments of a call that passed `oneCommentList`. */
export function sentComments({ commentData, comments }: CommentLists): NewComment[] {
  return commentData ?? comments ?? [];
}

/** What an update changes of a comment; at least one field. */
export const CommentChange = z.object({ ...fields, from: optional(ContentUser) }).check(
  isSmall,
  involvesFew,
  z.refine((change) => Object.values(change).some((value) => value !== undefined), {
    error: 'must have at least one field that can be changed',
  }),
);
export type CommentChange = z.output<typeof CommentChange>;

/** A comment as it is stored (facts B17). What is the caller's own is JSON text. */
export const Comment = z.object({
  annotationId: z.string(),
  /** When its thread was created, epoch ms: a part of its key. */
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
  /** The reactions on it. */
  reactions: z.array(ReactionReference).optional(),
  createdAt: z.number(),
  lastUpdated: z.number(),
});
export type Comment = z.output<typeof Comment>;

interface Content {
  readonly commentText?: string | undefined;
  readonly commentHtml?: string | undefined;
  readonly attachments?: readonly unknown[] | undefined;
  readonly isCommentResolverUsed?: boolean | undefined;
}

function hasContent({ commentText, commentHtml, attachments = [], isCommentResolverUsed }: Content): boolean {
  return Boolean(commentText) || Boolean(commentHtml) || attachments.length > 0 || isCommentResolverUsed === true;
}

const openFields = [
  'to',
  'taggedUserContacts',
  'attachments',
  'context',
  'agent',
  'progress',
  'actions',
  'metadata',
] as const;
const plainFields = ['commentText', 'commentHtml', 'isCommentResolverUsed', 'isCommentTextAvailable'] as const;

/** The fields that were sent, as they are stored. */
function stored(sent: CommentChange | NewComment): Partial<Comment> {
  const open = openFields.flatMap((field) => (sent[field] === undefined ? [] : [[field, JSON.stringify(sent[field])]]));
  const plain = plainFields.flatMap((field) => (sent[field] === undefined ? [] : [[field, sent[field]]]));
  return { ...Object.fromEntries([...open, ...plain]), ...(sent.from && { from: sent.from }) };
}

/** Where a new comment is, and when it came; `createdAt` is for those that do not say themselves when they were made. */
export interface NewCommentContext {
  readonly annotationId: string;
  readonly threadCreatedAt: number;
  readonly createdAt: number;
  readonly now: number;
}

/**
 * The comments of a call: those without an id get the next ones after every id that was ever given in the thread (`lastCommentId`)
 * or is given in this call, in their order.
 */
export function newComments(sent: readonly NewComment[], lastCommentId: number, scope: NewCommentContext): Comment[] {
  let last = Math.max(lastCommentId, ...sent.map(({ commentId }) => commentId ?? 0));
  return sent.map((comment) => {
    const createdAt = comment.createdAt ?? scope.createdAt;
    return {
      ...stored(comment),
      annotationId: scope.annotationId,
      threadCreatedAt: scope.threadCreatedAt,
      commentId: comment.commentId ?? (last += 1),
      from: comment.from,
      isEdited: false,
      createdAt,
      lastUpdated: comment.lastUpdated ?? comment.createdAt ?? scope.now,
    };
  });
}

/** A comment after a change; or why it cannot be changed so. */
export function changeComment(comment: Comment, change: CommentChange, now: number): Comment | { refused: string } {
  const changed: Comment = { ...comment, ...stored(change), isEdited: true, lastUpdated: now };
  const { commentText, commentHtml, isCommentResolverUsed } = changed;
  if (!hasContent({ commentText, commentHtml, isCommentResolverUsed, attachments: listIn(changed.attachments) }))
    return { refused: 'Comment would be empty.' };
  if (isLongerThan(JSON.stringify({ ...changed, reactions: undefined }), LARGEST_BYTES))
    return { refused: 'Comment would be too large.' };
  if (usersOfComment(changed).length > MOST_INVOLVED)
    return { refused: `Comment would involve more than ${MOST_INVOLVED} users.` };
  return changed;
}

/** Whether the text of a comment changed: an activity is logged for nothing else. */
export function hasTextChange(before: Comment, after: Comment): boolean {
  return before.commentText !== after.commentText || before.commentHtml !== after.commentHtml;
}

/** The distinct users whom a comment mentions or is addressed to, its author included when mentioned. */
export function commentMentions({ to, taggedUserContacts }: Comment): string[] {
  return mentionedBy(listIn(to) as ContentUser[], listIn(taggedUserContacts) as Open[]);
}

function mentionedBy(
  to: readonly ContentUser[] = [],
  tagged: readonly Open[] = [],
  others: readonly string[] = [],
): string[] {
  return distinct([...others, ...tagged.map((one) => taggedUserId(one) as string), ...to.map(({ userId }) => userId)]);
}

/** Everybody whom a comment is part of the data of (spec 4.19): who wrote it, and whom it mentions. */
export function usersOfComment(comment: Comment): { userId: string; made: boolean }[] {
  const { userId: author } = comment.from;
  return [
    { userId: author, made: true },
    ...commentMentions(comment)
      .filter((userId) => userId !== author)
      .map((userId) => ({ userId, made: false })),
  ];
}

/** The comment with a user in place of another, wherever it names one; itself when it names none. */
export function replaceCommentUsers(comment: Comment, replaced: (userId: string) => ContentUser | undefined): Comment {
  const other = (user: ContentUser) => replaced(user.userId) ?? user;
  const tagged = (one: Open) => {
    const user = replaced(taggedUserId(one) as string);
    return user
      ? {
          ...one,
          ...(one.userId !== undefined && { userId: user.userId }),
          ...(one.contact !== undefined && { contact: user }),
        }
      : one;
  };
  const changed = {
    ...comment,
    from: other(comment.from),
    to: comment.to && JSON.stringify((listIn(comment.to) as ContentUser[]).map(other)),
    taggedUserContacts:
      comment.taggedUserContacts && JSON.stringify((listIn(comment.taggedUserContacts) as Open[]).map(tagged)),
  };
  return JSON.stringify(changed) === JSON.stringify(comment) ? comment : changed;
}

function listIn(text: string | undefined): unknown[] {
  return text === undefined ? [] : (JSON.parse(text) as unknown[]);
}

const OpenResponse = z.record(z.string(), z.unknown());

/** Access context as answers show it: what was sent, and as `field:value` (facts B19). */
export const ContextResponse = z.object({ access: OpenResponse.optional(), accessFields: z.array(z.string()) });

/** A comment as answers show it (facts B17). */
export const CommentResponse = z.object({
  commentId: z.number(),
  type: z.literal('text'),
  status: z.enum(['added', 'updated']),
  commentText: z.string().optional(),
  commentHtml: z.string().optional(),
  from: StoredUser,
  to: z.array(StoredUser).optional(),
  taggedUserContacts: z.array(OpenResponse).optional(),
  attachments: z.array(OpenResponse).optional(),
  context: ContextResponse.optional(),
  agent: OpenResponse.optional(),
  progress: OpenResponse.optional(),
  actions: z.array(OpenResponse).optional(),
  isCommentResolverUsed: z.boolean().optional(),
  isCommentTextAvailable: z.boolean().optional(),
  isEdited: z.boolean(),
  reactionAnnotationIds: z.array(z.string()),
  /** Epoch milliseconds. */
  createdAt: z.number(),
  /** ISO 8601. */
  lastUpdated: IsoTime,
  metadata: OpenResponse,
});
export type CommentResponse = z.output<typeof CommentResponse>;

/** A comment as answers show it. */
export function toCommentResponse(names: ContentNames, comment: Comment): CommentResponse {
  const {
    commentId,
    commentText,
    commentHtml,
    from,
    isCommentResolverUsed,
    isCommentTextAvailable,
    isEdited,
    createdAt,
  } = comment;
  return {
    commentId,
    type: 'text',
    status: isEdited ? 'updated' : 'added',
    commentText,
    commentHtml,
    from,
    to: readJson(comment.to),
    taggedUserContacts: readJson(comment.taggedUserContacts),
    attachments: readJson(comment.attachments),
    context: toContextResponse(comment.context),
    agent: readJson(comment.agent),
    progress: readJson(comment.progress),
    actions: readJson(comment.actions),
    isCommentResolverUsed,
    isCommentTextAvailable,
    isEdited,
    reactionAnnotationIds: (comment.reactions ?? []).map(({ id }) => id),
    createdAt,
    lastUpdated: new Date(comment.lastUpdated).toISOString(),
    metadata: recordMetadata(names, comment.metadata),
  };
}

/** A comment as reads of comments show it: lists and flags are there when they are empty too. */
export const CommentRow = CommentResponse.extend({
  isDraft: z.literal(false),
  to: z.array(StoredUser),
  toOrganizationUserGroup: z.array(OpenResponse),
  taggedUserContacts: z.array(OpenResponse),
  attachments: z.array(OpenResponse),
  recorders: z.array(OpenResponse),
  customList: z.array(OpenResponse),
  isCommentTextAvailable: z.boolean(),
});
export type CommentRow = z.output<typeof CommentRow>;

/** Drafts, groups, recorders and custom lists of comments are the client's alone: over REST they are empty. */
export function toCommentRow(comment: CommentResponse): CommentRow {
  const {
    to = [],
    taggedUserContacts = [],
    attachments = [],
    commentText,
    commentHtml,
    isCommentTextAvailable = Boolean(commentText) || Boolean(commentHtml),
  } = comment;
  return {
    ...comment,
    isDraft: false,
    to,
    toOrganizationUserGroup: [],
    taggedUserContacts,
    attachments,
    recorders: [],
    customList: [],
    isCommentTextAvailable,
  };
}

/** Access context, stored as JSON text, as answers show it. */
export function toContextResponse(text: string | undefined): z.output<typeof ContextResponse> | undefined {
  const { access } = readJson<z.output<typeof Context>>(text) ?? {};
  return text === undefined ? undefined : { access, accessFields: accessFields(access ?? {}) };
}

/** The access context that a thread or comment stores as JSON text, as `field:value`; undefined when it requires nothing. */
export function accessFieldsOf(text: string | undefined): string[] | undefined {
  const items = toContextResponse(text)?.accessFields ?? [];
  return items.length > 0 ? items : undefined;
}

/** What is stored as JSON text; undefined when nothing is. */
export function readJson<T>(text: string | undefined): T | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as T);
}
