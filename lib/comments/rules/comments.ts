import * as z from 'zod';
import { ContentUser, MAX_INVOLVED_USERS, StoredUser } from '../../content/rules/contentUser.ts';
import { type ContentNames, recordMetadata } from '../../content/rules/eventMetadata.ts';
import { userFieldsAfter } from '../../content/rules/userFields.ts';
import { accessFields } from '../../directory/rules/access.ts';
import { ReactionReference, ReactionResponse } from '../../reactions/rules.ts';
import { isLongerThan } from '../../shared/bytes.ts';
import { distinct } from '../../shared/collections.ts';
import { isoTime } from '../../shared/isoTime.ts';
import { fromJsonFields, pickFields, readJson, toStoredFields } from '../../shared/jsonFields.ts';
import {
  AccessContext,
  AnyObject,
  defineNamedSchema,
  defineSchema,
  Id,
  IsoTime,
  jsonBytesAtMost,
  limits,
  list,
  Name,
  OpenObject,
  optional,
  Text,
  unchangedObject,
  withFieldRule,
} from '../../shared/schema.ts';
import { importedTimes } from '../../shared/times.ts';
import { Actions, Progress } from './commentProgress.ts';

/**
 * A comment and the involvement of its author are two of the 100 operations of a transaction. Two others write the
 * thread and its id, or the added comments' id.
 */
const MAX_COMMENTS_PER_CALL = 49;
export const MAX_COMMENTS = 1_000;

/** As JSON, without its reactions. DynamoDB limits an item to 400 KB. */
const MAX_COMMENT_BYTES = 256 * 1024;
const MAX_ATTACHMENTS = 50;

export const CommentId = /* @__PURE__ */ defineSchema(() => z.int().min(0));

/** At most 15 digits. Sort keys have room for 16 digits, so generated ids can follow the largest one. */
const ChosenCommentId = /* @__PURE__ */ defineSchema(() => CommentId.max(999_999_999_999_999));

export const commentSelectors = /* @__PURE__ */ defineSchema(() => ({
  organizationId: Id,
  documentId: Id,
  annotationId: Id,
  commentIds: optional(list(CommentId, limits.list)),
  userIds: optional(list(Id, limits.list)).describe(
    'Only the comments of these authors. If `commentIds` is sent too, a comment must match both fields.',
  ),
}));

const CommentResult = /* @__PURE__ */ defineNamedSchema('CommentResult', () =>
  z
    .object({
      success: z.boolean().describe('Whether the comment was changed or deleted.'),
      id: z.number().describe('The number of the comment in its thread.'),
      message: z.string().describe('Why the comment stays as it was, or that the call succeeded.'),
    })
    .describe('The result for one comment of a call.'),
);

export const CommentResults = /* @__PURE__ */ defineSchema(() =>
  z.object({
    data: z.record(z.string(), CommentResult).describe('The result for each comment, by its number.'),
  }),
);

export const Context = /* @__PURE__ */ defineNamedSchema('ContextInput', () =>
  z
    .object({
      access: optional(AccessContext).describe(
        'Values by field. Only users whose access context on the document has all of them see the content.',
      ),
    })
    .describe('Narrows who may see the content.'),
);

/** Other fields are stored unchanged. */
const DocumentedAgent = /* @__PURE__ */ defineSchema(() =>
  z
    .object({
      agentSource: Name.describe(
        '`external` for an agent of your own. `svc`, or the name of the service, for an agent that the service stores.',
      ),
      agentId: Id.describe('The agent: your own id, or that of `/v2/agents/create`.'),
      executionId: optional(Id).describe(
        'The run of the agent that made the comment. `/v2/commentannotations/get` filters by it.',
      ),
      agentType: optional(Name).describe('The kind of agent, in words of your own.'),
      agentName: optional(Name).describe('The name that users see. Required for external agents.'),
      url: optional(z.string().max(2_048)).describe('The page that the agent read. `agentUrls` selects threads by it.'),
      reason: z
        .object({
          title: Text.min(1).describe('The finding in a few words.'),
          description: Text.describe('The finding in full.'),
          severity: Name.describe('How serious the finding is, in words of your own.'),
          findingId: optional(Id).describe('Your id of the finding. The answer of the call returns it.'),
          findingType: optional(z.enum(['text', 'pin', 'page'])).describe(
            'Whether the finding is about a text, a point or a whole page.',
          ),
          confidence: optional(z.number().min(0).max(100)).describe('How sure the agent is, in percent.'),
          source: optional(z.enum(['instructions', 'knowledge'])).describe(
            'Whether the finding follows from instructions or from stored knowledge.',
          ),
        })
        .describe('What the agent found.'),
    })
    .check(
      z.refine(({ agentSource, agentName }) => agentSource !== 'external' || agentName !== undefined, {
        path: ['agentName'],
        error: 'is required for external agents',
      }),
    )
    .describe('The agent that made the comment, with its finding. Other fields are stored unchanged.'),
);
type Open = Readonly<Record<string, unknown>>;
const Agent = /* @__PURE__ */ defineNamedSchema('CommentAgentInput', () => unchangedObject(DocumentedAgent));

/** `svc` also stands for the name of the service. */
export function agentSourceOf(agentSource: string): 'svc' | 'external' {
  return agentSource === 'external' ? 'external' : 'svc';
}

export function parseAgent(agent: Open): z.output<typeof DocumentedAgent> {
  return DocumentedAgent.parse(agent);
}

const Contact = /* @__PURE__ */ defineSchema(() =>
  z
    .object({
      userId: optional(Id),
      contact: optional(z.object({ userId: optional(Id) })).describe('The user, in an older form: `contact.userId`.'),
    })
    .describe('A mentioned user. Other fields, such as the `text` of the mention, are stored unchanged.'),
);
/** The id is `userId`, or else `contact.userId`. */
const TaggedUser = /* @__PURE__ */ defineNamedSchema('TaggedUserInput', () =>
  unchangedObject(
    Contact.check(
      z.refine((tagged) => taggedUserId(tagged) !== undefined, {
        path: ['userId'],
        error: 'must be given, here or in contact',
      }),
    ),
  ),
);

function taggedUserId(tagged: Open): string | undefined {
  const { userId, contact } = tagged as z.output<typeof Contact>;
  return userId ?? contact?.userId ?? undefined;
}

/** For new and changed comments. */
const fields = /* @__PURE__ */ defineSchema(() => ({
  commentText: optional(Text).describe('The comment as plain text. Clients must escape it.'),
  commentHtml: optional(Text).describe(
    'The comment as HTML. From user tokens it is cleaned. From API keys it is stored as it was sent.',
  ),
  to: optional(list(ContentUser, MAX_INVOLVED_USERS, 0)).describe(
    'Users whom the comment addresses. They are notified like mentioned users.',
  ),
  taggedUserContacts: optional(list(TaggedUser, MAX_INVOLVED_USERS, 0)).describe(
    'Users whom the comment mentions. They are notified if the comment causes an event.',
  ),
  attachments: optional(list(OpenObject, MAX_ATTACHMENTS, 0)).describe(
    'Files of the comment, described by objects of your own. The service stores no files.',
  ),
  context: optional(Context).describe('Narrows who may see the comment, also for its author.'),
  agent: optional(Agent).describe('The agent that made the comment, and its finding. Refused with a user token.'),
  progress: optional(Progress).describe('The progress of work that the comment reports. A change replaces all of it.'),
  actions: optional(Actions).describe('Buttons that clients show for the comment. A change replaces all of them.'),
  isCommentResolverUsed: optional(z.boolean()).describe(
    'True if you store the text yourself, and clients load it from your server. By default false.',
  ),
  isCommentTextAvailable: optional(z.boolean()).describe(
    'Whether the text can be shown. By default it is true if the service stores a text.',
  ),
  metadata: optional(OpenObject).describe(
    'Own fields. Answers and events return them, beside the ids of the API key, organization and document.',
  ),
}));

interface MentioningComment {
  readonly from?: ContentUser | undefined;
  readonly to?: readonly ContentUser[] | undefined;
  readonly taggedUserContacts?: readonly Open[] | undefined;
}

const isSmall = /* @__PURE__ */ defineSchema(() => jsonBytesAtMost(MAX_COMMENT_BYTES));
const involvesFew = /* @__PURE__ */ defineSchema(() =>
  z.refine<MentioningComment>(
    ({ from, to, taggedUserContacts }) =>
      mentionedBy(to, taggedUserContacts, from ? [from.userId] : []).length <= MAX_INVOLVED_USERS,
    {
      path: ['taggedUserContacts'],
      error: `must not involve more than ${MAX_INVOLVED_USERS} users, together with from and to`,
    },
  ),
);

export const NewComment = /* @__PURE__ */ defineNamedSchema('CommentInput', () =>
  z
    .object({
      commentId: optional(ChosenCommentId).describe(
        'The number of the comment in its thread. By default the next number. It must not be in use.',
      ),
      ...fields,
      from: ContentUser.describe('The author. With a user token always the user of the token.'),
      ...importedTimes,
      triggerNotification: optional(z.boolean()).describe(
        'Whether the comment causes an event, which reaches webhooks, mails and inboxes. By default false.',
      ),
      triggerActivities: optional(z.boolean()).describe(
        'Whether the comment writes an activity, if activities are enabled. By default false.',
      ),
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
    )
    .describe('A comment to add.'),
);
export type NewComment = z.output<typeof NewComment>;

/** An id must not occur twice. */
export const NewComments = /* @__PURE__ */ defineSchema(() =>
  list(NewComment, MAX_COMMENTS_PER_CALL).check(({ value, issues }) => {
    const seen = new Set<number>();
    for (const [index, { commentId }] of value.entries()) {
      if (commentId !== undefined && seen.has(commentId))
        issues.push({ code: 'custom', input: value, path: [index, 'commentId'], message: 'is given twice' });
      if (commentId !== undefined) seen.add(commentId);
    }
  }),
);

/** `oneCommentList` requires exactly one of the two. */
export const commentLists = /* @__PURE__ */ defineSchema(() => ({
  commentData: optional(NewComments).describe('The comments to add, in their order.'),
  comments: optional(NewComments).describe('Another name for `commentData`.'),
}));

interface CommentLists {
  readonly commentData?: NewComment[] | undefined;
  readonly comments?: NewComment[] | undefined;
}

export const oneCommentList = /* @__PURE__ */ defineSchema(() =>
  withFieldRule(
    'oneOf',
    ['commentData', 'comments'],
    z.refine<CommentLists>(({ commentData, comments }) => (commentData === undefined) !== (comments === undefined), {
      path: ['commentData'],
      error: 'must be given, or comments, and not both',
    }),
  ),
);

export function sentComments({ commentData, comments }: CommentLists): NewComment[] {
  return commentData ?? comments ?? [];
}

export const hasAnyField = /* @__PURE__ */ defineSchema(() =>
  z.refine<object>((change) => Object.values(change).some((value) => value !== undefined), {
    error: 'must have at least one field that can be changed',
  }),
);

export const CommentChange = /* @__PURE__ */ defineNamedSchema('CommentChange', () =>
  z
    .object({
      ...fields,
      from: optional(ContentUser).describe('A new author. With a user token only the user of the token.'),
    })
    .check(isSmall, involvesFew, hasAnyField)
    .describe('The fields that change. Fields that are not sent stay.'),
);
export type CommentChange = z.output<typeof CommentChange>;

const linkFields = ['commentText', 'commentHtml'] as const;

/** Objects and lists of the request are JSON text. */
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
    /** A user token wrote these fields last. */
    userFields: z.array(z.string()).optional(),
    reactions: z.array(ReactionReference).optional(),
    createdAt: z.number(),
    lastUpdated: z.number(),
  }),
);
export type Comment = z.output<typeof Comment>;

interface CommentContent {
  readonly commentText?: string | undefined;
  readonly commentHtml?: string | undefined;
  readonly attachments?: readonly unknown[] | undefined;
  readonly isCommentResolverUsed?: boolean | undefined;
}

function hasContent({ commentText, commentHtml, attachments = [], isCommentResolverUsed }: CommentContent): boolean {
  return Boolean(commentText) || Boolean(commentHtml) || attachments.length > 0 || isCommentResolverUsed === true;
}

const jsonFields = [
  'to',
  'taggedUserContacts',
  'attachments',
  'context',
  'agent',
  'progress',
  'actions',
  'metadata',
] as const;
const textFields = ['commentText', 'commentHtml', 'isCommentResolverUsed', 'isCommentTextAvailable'] as const;

function toStored(sent: CommentChange | NewComment): Partial<Comment> {
  return toStoredFields<CommentChange>(sent, jsonFields, [...textFields, 'from']);
}

/** `createdAt` is the time (epoch ms) of comments that were sent without one. */
export interface NewCommentContext {
  readonly annotationId: string;
  readonly threadCreatedAt: number;
  readonly createdAt: number;
  readonly byUser?: boolean | undefined;
}

/** A comment that was sent without an id gets one after `lastCommentId` and all ids of the request. */
export function newComments(sent: readonly NewComment[], lastCommentId: number, context: NewCommentContext): Comment[] {
  let last = Math.max(lastCommentId, ...sent.map(({ commentId }) => commentId ?? 0));
  return sent.map((comment) => ({
    ...toStored(comment),
    annotationId: context.annotationId,
    threadCreatedAt: context.threadCreatedAt,
    commentId: comment.commentId ?? (last += 1),
    from: comment.from,
    isEdited: false,
    userFields: userFieldsAfter(undefined, comment, linkFields, context.byUser ?? false),
    createdAt: comment.createdAt ?? context.createdAt,
    lastUpdated: comment.lastUpdated ?? comment.createdAt ?? context.createdAt,
  }));
}

export const COMMENT_TOO_LARGE = 'Comment would be too large.';

export function isTooLarge(comment: Comment): boolean {
  return isLongerThan(JSON.stringify({ ...comment, reactions: undefined }), MAX_COMMENT_BYTES);
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

/** The author is included only if the comment mentions the author. */
export function commentMentions({ to, taggedUserContacts }: Comment): string[] {
  return mentionedBy(readList<ContentUser>(to), readList<Open>(taggedUserContacts));
}

function mentionedBy(
  to: readonly ContentUser[] = [],
  tagged: readonly Open[] = [],
  others: readonly string[] = [],
): string[] {
  return distinct([
    ...others,
    ...tagged.map((user) => taggedUserId(user) as string),
    ...to.map(({ userId }) => userId),
  ]);
}

/** The users whose data a comment belongs to: its author (`made`) and the mentioned users. */
export function usersOfComment(comment: Comment): { userId: string; made: boolean }[] {
  const author = comment.from.userId;
  const others = commentMentions(comment).filter((userId) => userId !== author);
  return [{ userId: author, made: true }, ...others.map((userId) => ({ userId, made: false }))];
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

function readList<T>(text: string | undefined): T[] {
  return readJson<T[]>(text) ?? [];
}

export const ContextResponse = /* @__PURE__ */ defineNamedSchema('Context', () =>
  z
    .object({
      access: AnyObject.describe('The values by field, as they were sent.').optional(),
      accessFields: z.array(z.string()).describe('The same values as texts `field:value`.'),
    })
    .describe('The access context that a reader needs.'),
);

export const CommentResponse = /* @__PURE__ */ defineSchema(() =>
  z.object({
    commentId: z.number().describe('The number of the comment in its thread. No number is given twice.'),
    type: z.literal('text').describe('Always `text`.'),
    status: z.enum(['added', 'updated']).describe('`updated` after the first change of the comment.'),
    commentText: z.string().describe('The comment as plain text. Clients must escape it.').optional(),
    commentHtml: z.string().describe('The comment as HTML. It is clean only if it comes from a user token.').optional(),
    from: StoredUser.describe('The author.'),
    to: z.array(StoredUser).describe('Users whom the comment addresses.').optional(),
    taggedUserContacts: z.array(AnyObject).describe('Users whom the comment mentions, as they were sent.').optional(),
    attachments: z.array(AnyObject).describe('Files of the comment, as they were sent.').optional(),
    context: ContextResponse.describe('The access context that readers of the comment need.').optional(),
    agent: AnyObject.describe('The agent that made the comment, and its finding, as they were sent.').optional(),
    progress: AnyObject.describe('The progress of work that the comment reports, as it was sent.').optional(),
    actions: z.array(AnyObject).describe('Buttons that clients show for the comment, as they were sent.').optional(),
    isCommentResolverUsed: z
      .boolean()
      .describe('True if clients load the text from the server of the customer.')
      .optional(),
    isCommentTextAvailable: z.boolean().describe('Whether the text can be shown.').optional(),
    isEdited: z.boolean().describe('Whether the comment was changed.'),
    reactionAnnotationIds: z.array(z.string()).describe('The ids of all reactions on the comment.'),
    createdAt: z.number().describe('When the comment was written, in epoch milliseconds.'),
    lastUpdated: IsoTime.describe('When the comment was last changed, in ISO 8601.'),
    metadata: AnyObject.describe('Your own fields, and the ids of the API key, organization and document.'),
  }),
);
export type CommentResponse = z.output<typeof CommentResponse>;

export function toCommentResponse(names: ContentNames, comment: Comment): CommentResponse {
  return {
    ...pickFields(comment, ['commentId', ...textFields, 'from', 'isEdited', 'createdAt']),
    ...(fromJsonFields(jsonFields, comment) as Pick<CommentResponse, (typeof jsonFields)[number]>),
    type: 'text',
    status: comment.isEdited ? 'updated' : 'added',
    context: toContextResponse(comment.context),
    reactionAnnotationIds: (comment.reactions ?? []).map(({ id }) => id),
    lastUpdated: isoTime(comment.lastUpdated),
    metadata: recordMetadata(names, comment.metadata),
  };
}

/** All lists and flags are present, even if they are empty. */
export const CommentRow = /* @__PURE__ */ defineNamedSchema('Comment', () =>
  CommentResponse.extend({
    isDraft: z.literal(false).describe('Always false: drafts exist only in clients.'),
    to: CommentResponse.shape.to.unwrap(),
    toOrganizationUserGroup: z.array(AnyObject).describe('Always empty: groups exist only in clients.'),
    taggedUserContacts: CommentResponse.shape.taggedUserContacts.unwrap(),
    attachments: CommentResponse.shape.attachments.unwrap(),
    recorders: z.array(AnyObject).describe('Always empty: recordings of a comment exist only in clients.'),
    customList: z.array(AnyObject).describe('Always empty: lists of a comment exist only in clients.'),
    isCommentTextAvailable: CommentResponse.shape.isCommentTextAvailable.unwrap(),
  }).describe('A comment of a thread.'),
);
export type CommentRow = z.output<typeof CommentRow>;

export const ReactedCommentRow = /* @__PURE__ */ defineSchema(() =>
  CommentRow.extend({
    reactionAnnotations: z.array(ReactionResponse).describe('The reactions on the comment, up to 500 KB.'),
  }),
);
export type ReactedCommentRow = z.output<typeof ReactedCommentRow>;

/** Drafts, groups, recorders and custom lists exist only in clients, so these fields are always empty. */
export function toCommentRow(comment: CommentResponse): CommentRow {
  const { commentText, commentHtml } = comment;
  return {
    ...comment,
    isDraft: false,
    to: comment.to ?? [],
    toOrganizationUserGroup: [],
    taggedUserContacts: comment.taggedUserContacts ?? [],
    attachments: comment.attachments ?? [],
    recorders: [],
    customList: [],
    isCommentTextAvailable: comment.isCommentTextAvailable ?? (Boolean(commentText) || Boolean(commentHtml)),
  };
}

export function toContextResponse(text: string | undefined): z.output<typeof ContextResponse> | undefined {
  if (text === undefined) return undefined;
  const { access } = JSON.parse(text) as z.output<typeof Context>;
  return { access, accessFields: accessFields(access ?? {}) };
}

/** Returns undefined if there are none. */
export function accessFieldsOf(text: string | undefined): string[] | undefined {
  const items = toContextResponse(text)?.accessFields ?? [];
  return items.length > 0 ? items : undefined;
}
