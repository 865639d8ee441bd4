import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { isLongerThan } from '../../shared/bytes.ts';
import { distinct } from '../../shared/collections.ts';
import { Id, unchangedObject, list, OpenObject, optional } from '../../shared/schema.ts';
import {
  agentSourceOf,
  type Comment,
  commentLists,
  CommentRow,
  toCommentRow,
  Context,
  accessFieldsOf,
  parseAgent,
  commentMentions,
  newComments,
  oneCommentList,
  readJson,
  sentComments,
  CommentResponse,
  ContextResponse,
  toCommentResponse,
  toContextResponse,
} from './comments.ts';
import { Location, locationKey } from '../../content/rules/location.ts';
import { type ContentNames, recordMetadata } from '../../content/rules/names.ts';
import { Actions, Progress } from './progress.ts';
import { initialStatus, isTerminal, SentStatus, type Status, resolveStatus } from './statuses.ts';
import { importedTimes, Instant } from '../../shared/times.ts';
import { ContentUser, StoredUser } from '../../content/rules/user.ts';
import { type ThreadAccess, Visibility } from '../../content/rules/visibility.ts';

export const threadTypes = ['comment', 'suggestion'] as const;

/** What a thread takes in all, its comments aside, as JSON: DynamoDB holds 400 KB in one item. */
const LARGEST_BYTES = 256 * 1024;
/** What its users' ids may take of that: events name them once more. */
const MOST_PARTICIPANT_BYTES = 48 * 1024;
const MOST_SUBSCRIBERS = 50;
const MOST_CUSTOM_LIST = 100;
/** How many users one call puts in the place of others: each can be in all comments. */
const MOST_REPLACEMENTS = 10;

/** A suggestion: its status, and whatever the caller says of it. */
const Suggestion = unchangedObject(z.object({ status: optional(z.enum(['pending', 'accepted', 'rejected'])) }));

/** A priority: the customer's own object with an id, or the id alone. */
const Priority = z.union([Id, unchangedObject(z.object({ id: Id }))], {
  error: 'must be the id of a priority, or an object with the id',
});

/** Where on a page a thread is, in the client's own measure. */
const pageNumbers = [
  'positionX',
  'positionY',
  'screenWidth',
  'screenHeight',
  'screenScrollHeight',
  'screenScrollTop',
] as const;

function pagePosition<B, N>(flag: B, number: N) {
  return {
    isPageAnnotation: flag,
    ...(Object.fromEntries(pageNumbers.map((name) => [name, number])) as Record<(typeof pageNumbers)[number], N>),
  };
}

const storedPosition = pagePosition(z.boolean().optional(), z.number().optional());

/** What a caller says of a thread, when it is added and later. */
const fields = {
  location: optional(Location),
  targetElement: optional(OpenObject),
  status: optional(SentStatus),
  assignedTo: optional(ContentUser),
  priority: optional(Priority),
  context: optional(Context),
  suggestion: optional(Suggestion),
  visibility: optional(Visibility),
  subscribedUsers: optional(list(ContentUser, MOST_SUBSCRIBERS, 0)),
  unsubscribedUsers: optional(list(ContentUser, MOST_SUBSCRIBERS, 0)),
  customList: optional(list(OpenObject, MOST_CUSTOM_LIST, 0)),
  pageInfo: optional(OpenObject),
  ...pagePosition(optional(z.boolean()), optional(z.number())),
  progress: optional(Progress),
  actions: optional(Actions),
  metadata: optional(OpenObject),
};

/** A thread as callers add it (facts C8), with its first comments. */
export const NewThread = z
  .object({
    annotationId: optional(Id),
    ...commentLists,
    ...fields,
    type: optional(z.enum(threadTypes)),
    commentType: optional(z.enum(['manual', 'chart'])),
    ...importedTimes,
  })
  .check(
    oneCommentList,
    z.refine(({ commentData: _, comments: __, ...thread }) => !isLongerThan(JSON.stringify(thread), LARGEST_BYTES), {
      error: `must be at most ${LARGEST_BYTES} bytes as JSON, comments aside`,
    }),
  )
  .transform(({ comments, commentData, ...thread }) => ({
    ...thread,
    commentData: sentComments({ commentData, comments }),
  }));
export type NewThread = z.output<typeof NewThread>;

/** What an update changes of threads; at least one field. A suggestion is replaced whole. */
export const ThreadChange = z
  .object({
    ...fields,
    from: optional(ContentUser),
    statusUpdatedByUserId: optional(Id),
    resolvedByUserId: optional(Id),
    /** Part of the key of a thread: the same value is accepted, another one is refused. */
    createdAt: optional(Instant),
    lastUpdated: optional(Instant),
  })
  .check(
    z.refine((change) => Object.values(change).some((value) => value !== undefined), {
      error: 'must have at least one field that can be changed',
    }),
  );
export type ThreadChange = z.output<typeof ThreadChange>;

/** Users who take the place of others. Nobody is replaced and a replacement at once: whoever repeats the call gets the same. */
export const UserReplacements = list(z.object({ oldUser: ContentUser, newUser: ContentUser }), MOST_REPLACEMENTS).check(
  ({ value, issues }) => {
    const replaced = value.map(({ oldUser }) => oldUser.userId);
    const refuse = (index: number, field: string, message: string) =>
      issues.push({ code: 'custom', input: value, path: [index, field], message });
    for (const [index, { oldUser, newUser }] of value.entries()) {
      if (replaced.indexOf(oldUser.userId) !== index) refuse(index, 'oldUser', 'is given twice');
      if (newUser.userId !== oldUser.userId && replaced.includes(newUser.userId))
        refuse(index, 'newUser', 'is replaced by another');
    }
  },
);
export type UserReplacement = z.output<typeof UserReplacements>[number];

/** The agent that a thread is of: that of its first comment. */
const ThreadAgent = z.object({
  agentId: z.string(),
  agentSource: z.enum(['svc', 'external']),
  agentType: z.string().optional(),
  executionId: z.string().optional(),
  url: z.string().optional(),
});

/** A thread as it is stored, its comments aside (facts B17). What is the caller's own is JSON text. */
export const Thread = z.object({
  annotationId: z.string(),
  /** Unique in the document, from 1; threads that were added before numbers existed have none. */
  annotationNumber: z.number().optional(),
  /** The customer's id of the document. */
  documentId: z.string(),
  type: z.enum(threadTypes),
  commentType: z.string().optional(),
  sourceType: z.enum(['rest-api', 'agent']),
  /** Who wrote the first comment. */
  from: StoredUser,
  status: z.string(),
  assignedTo: StoredUser.optional(),
  priority: z.string().optional(),
  context: z.string().optional(),
  visibility: Visibility.optional(),
  location: z.string().optional(),
  locationKey: z.string().optional(),
  targetElement: z.string().optional(),
  suggestion: z.string().optional(),
  customList: z.string().optional(),
  pageInfo: z.string().optional(),
  ...storedPosition,
  progress: z.string().optional(),
  actions: z.string().optional(),
  metadata: z.string().optional(),
  agent: ThreadAgent.optional(),
  subscribedUsers: z.string().optional(),
  unsubscribedUsers: z.string().optional(),
  /** Who takes part in its comments, as JSON text of `Participant`s. */
  participants: z.string(),
  resolvedByUserId: z.string().optional(),
  statusUpdatedByUserId: z.string().optional(),
  /** How many comments it has; never none. */
  commentCount: z.number(),
  /** The largest id that was ever given to a comment of it: ids are not given twice. */
  lastCommentId: z.number(),
  /** Its first comment, in which the assignee is involved; `createdAt` is that of the comment. */
  first: z.object({ commentId: z.number(), createdAt: z.number() }),
  /** The comment with the largest id that is there, and who wrote it. */
  last: z.object({ commentId: z.number(), userId: z.string() }),
  createdAt: z.number(),
  lastUpdated: z.number(),
});
export type Thread = z.output<typeof Thread>;

/** Why something cannot be done to one thread: the message of its entry in an answer. */
export interface Refused {
  readonly refused: string;
}

/** A user, how many of a thread's comments the user wrote, and how many mention the user. */
type Participant = readonly [userId: string, wrote: number, mentionedIn: number];

function participantsOf({ participants }: Pick<Thread, 'participants'>): Participant[] {
  return JSON.parse(participants) as Participant[];
}

/** The users of a thread's comments after some came and others went: exact, without reading the other comments. */
function tally(before: readonly Participant[], came: readonly Comment[], went: readonly Comment[]): string {
  const counts = new Map(before.map(([userId, wrote, mentioned]) => [userId, { wrote, mentioned }] as const));
  const count = (userId: string, what: 'wrote' | 'mentioned', by: 1 | -1) => {
    const counted = counts.get(userId) ?? { wrote: 0, mentioned: 0 };
    counts.set(userId, { ...counted, [what]: counted[what] + by });
  };
  for (const [comments, by] of [
    [came, 1],
    [went, -1],
  ] as const) {
    for (const comment of comments) {
      count(comment.from.userId, 'wrote', by);
      for (const userId of commentMentions(comment)) count(userId, 'mentioned', by);
    }
  }
  return JSON.stringify(
    [...counts].flatMap(([userId, { wrote, mentioned }]) =>
      wrote > 0 || mentioned > 0 ? [[userId, wrote, mentioned]] : [],
    ),
  );
}

/** A thread unless it is too much for one item of the table. */
function bounded(thread: Thread): Thread | Refused {
  if (isLongerThan(thread.participants, MOST_PARTICIPANT_BYTES))
    return { refused: 'Annotation would involve too many users.' };
  return isLongerThan(JSON.stringify(thread), LARGEST_BYTES + MOST_PARTICIPANT_BYTES)
    ? { refused: 'Annotation would be too large.' }
    : thread;
}

const openFields = [
  'targetElement',
  'priority',
  'context',
  'customList',
  'pageInfo',
  'progress',
  'actions',
  'metadata',
  'subscribedUsers',
  'unsubscribedUsers',
] as const;
const plainFields = ['assignedTo', 'visibility', 'isPageAnnotation', ...pageNumbers] as const;

/** The fields that were sent, as they are stored; those that depend on others are not among them. */
function stored(sent: ThreadChange | NewThread): Partial<Thread> {
  const open = openFields.flatMap((field) => (sent[field] === undefined ? [] : [[field, JSON.stringify(sent[field])]]));
  const plain = plainFields.flatMap((field) => (sent[field] === undefined ? [] : [[field, sent[field]]]));
  const location = sent.location && {
    location: JSON.stringify(sent.location),
    locationKey: locationKey(sent.location),
  };
  return { ...Object.fromEntries([...open, ...plain]), ...location };
}

/** A suggestion as it is stored: with the status that it had, `pending` at first, unless it says another. */
function suggestionOf(sent: Readonly<Record<string, unknown>>, before?: string): string {
  return JSON.stringify({ ...sent, status: sent.status ?? readJson<{ status: string }>(before)?.status ?? 'pending' });
}

/** A thread with its first comments, whose ids begin with 1 where the caller gives none. */
export function newThread(
  sent: NewThread,
  { annotationId, documentId, now }: { annotationId: string; documentId: string; now: number },
): { thread: Thread; comments: Comment[] } | Refused {
  const createdAt = sent.createdAt ?? now;
  const comments = newComments(sent.commentData, 0, { annotationId, threadCreatedAt: createdAt, createdAt, now });
  const [{ commentId, createdAt: firstAt, from, agent }] = comments as [Comment];
  const status = sent.status === undefined ? initialStatus : resolveStatus(sent.status);
  const type = sent.type ?? (sent.suggestion ? 'suggestion' : 'comment');
  const last = lastOf(comments);
  const thread = bounded({
    ...stored(sent),
    annotationId,
    documentId,
    type,
    commentType: sent.commentType,
    sourceType: comments.some((comment) => comment.agent !== undefined) ? 'agent' : 'rest-api',
    from,
    status: JSON.stringify(status),
    resolvedByUserId: isTerminal(status) ? from.userId : undefined,
    suggestion: type === 'suggestion' ? suggestionOf(sent.suggestion ?? {}) : undefined,
    agent: agent === undefined ? undefined : threadAgent(JSON.parse(agent) as Record<string, unknown>),
    participants: tally([], comments, []),
    commentCount: comments.length,
    lastCommentId: last.commentId,
    first: { commentId, createdAt: firstAt },
    last,
    createdAt,
    lastUpdated: sent.lastUpdated ?? sent.createdAt ?? now,
  });
  return 'refused' in thread ? thread : { thread, comments };
}

function threadAgent(agent: Readonly<Record<string, unknown>>): Thread['agent'] {
  const known = parseAgent(agent);
  return ThreadAgent.parse({ ...known, agentSource: agentSourceOf(known.agentSource) });
}

function lastOf(comments: readonly Comment[]): Thread['last'] {
  const { commentId, from } = comments.reduce((last, comment) => (comment.commentId > last.commentId ? comment : last));
  return { commentId, userId: from.userId };
}

/** A thread with further comments. */
export function addComments(thread: Thread, came: readonly Comment[], now: number): Thread | Refused {
  const last = lastOf(came);
  return bounded({
    ...thread,
    participants: tally(participantsOf(thread), came, []),
    commentCount: thread.commentCount + came.length,
    lastCommentId: Math.max(thread.lastCommentId, last.commentId),
    last: last.commentId > thread.last.commentId ? last : thread.last,
    lastUpdated: now,
  });
}

/** A thread some of whose comments were changed; they stand in the same order before and after. */
export function changeComments(
  thread: Thread,
  before: readonly Comment[],
  after: readonly Comment[],
  now: number,
): Thread | Refused {
  const last = after.find(({ commentId }) => commentId === thread.last.commentId);
  return bounded({
    ...thread,
    participants: tally(participantsOf(thread), after, before),
    last: last ? lastOf([last]) : thread.last,
    lastUpdated: now,
  });
}

/** A thread without some of its comments, but with others; `first` and `last` are those of them, where they are not the same as before. */
export function removeComments(
  thread: Thread,
  went: readonly Comment[],
  { first, last }: { first?: Comment | undefined; last?: Comment | undefined },
  now: number,
): Thread {
  return {
    ...thread,
    participants: tally(participantsOf(thread), [], went),
    commentCount: thread.commentCount - went.length,
    first: first ? { commentId: first.commentId, createdAt: first.createdAt } : thread.first,
    last: last ? lastOf([last]) : thread.last,
    lastUpdated: now,
  };
}

/** A thread after a change by `actorId`. */
export function changeThread(
  thread: Thread,
  change: ThreadChange,
  { actorId, now }: { actorId?: string | undefined; now: number },
): Thread | Refused {
  if (change.createdAt !== undefined && change.createdAt !== thread.createdAt)
    return { refused: 'createdAt of an annotation cannot be changed.' };
  return bounded({
    ...thread,
    ...stored(change),
    ...(change.from && { from: change.from }),
    ...(change.suggestion && { suggestion: suggestionOf(change.suggestion, thread.suggestion) }),
    ...statusAfter(thread, change, actorId),
    lastUpdated: change.lastUpdated ?? now,
  });
}

/** The status and who set it. Who resolved a thread stays while it is done, and is forgotten when it is open again (facts B17). */
function statusAfter(
  thread: Thread,
  change: ThreadChange,
  actorId: string | undefined,
): Pick<Thread, 'status' | 'statusUpdatedByUserId' | 'resolvedByUserId'> {
  const before = JSON.parse(thread.status) as Status;
  const after = change.status === undefined ? before : resolveStatus(change.status);
  const changed = !isDeepStrictEqual(before, after);
  const setBy = change.statusUpdatedByUserId ?? (changed ? actorId : thread.statusUpdatedByUserId);
  const stays = !changed || (isTerminal(before) && isTerminal(after));
  const resolver = stays ? thread.resolvedByUserId : isTerminal(after) ? setBy : undefined;
  return {
    status: JSON.stringify(after),
    statusUpdatedByUserId: setBy,
    resolvedByUserId: change.resolvedByUserId ?? resolver,
  };
}

/** A thread with a user in place of another as its author and assignee; its comments are another matter. */
export function replaceThreadUsers(thread: Thread, replaced: (userId: string) => ContentUser | undefined): Thread {
  return {
    ...thread,
    from: replaced(thread.from.userId) ?? thread.from,
    assignedTo: thread.assignedTo && (replaced(thread.assignedTo.userId) ?? thread.assignedTo),
  };
}

/** The part of a thread that decides who may see it. */
export function threadAccessOf(
  { visibility, context, from }: Pick<Thread, 'visibility' | 'context' | 'from'>,
  organizationId: string,
): ThreadAccess {
  return { visibility, accessFields: accessFieldsOf(context), authorId: from.userId, organizationId };
}

/** Everybody who takes part in a thread: wrote in it, is mentioned in it, or has it assigned. */
export function involvedUserIds(thread: Thread): string[] {
  return distinct([
    ...participantsOf(thread).map(([userId]) => userId),
    ...(thread.assignedTo ? [thread.assignedTo.userId] : []),
  ]);
}

/** Everybody whom a comment of the thread mentions. */
export function mentionedUserIds(thread: Thread): string[] {
  return participantsOf(thread).flatMap(([userId, , mentioned]) => (mentioned > 0 ? [userId] : []));
}

/** Whether a thread has something new for a user, as far as that is known: somebody else had the last word. */
export function isUnread({ last }: Thread, userId: string): boolean {
  return last.userId !== userId;
}

/** A thread with comments of it: the first ones, and whether there are more. */
export interface ThreadWithComments {
  readonly thread: Thread;
  readonly comments: readonly Comment[];
  readonly more: boolean;
}

const OpenResponse = z.record(z.string(), z.unknown());

/** A thread as answers show it (facts B17). */
export const ThreadResponse = z.object({
  annotationId: z.string(),
  /** Unique in the document, from 1. */
  annotationNumber: z.int().optional(),
  /** The number minus 1. */
  annotationIndex: z.int().optional(),
  type: z.enum(threadTypes),
  commentType: z.string().optional(),
  sourceType: z.enum(['rest-api', 'agent']),
  comments: z.array(CommentResponse),
  /** Of all its comments, those included that are not shown here. */
  commentCount: z.number(),
  hasMoreComments: z.boolean(),
  from: StoredUser,
  status: OpenResponse,
  statusUpdatedByUserId: z.string().optional(),
  resolvedByUserId: z.string().optional(),
  assignedTo: StoredUser.optional(),
  priority: z.union([z.string(), OpenResponse]).optional(),
  context: ContextResponse.optional(),
  visibility: Visibility.optional(),
  location: OpenResponse.optional(),
  locationId: z.string().optional(),
  targetElement: OpenResponse.optional(),
  suggestion: OpenResponse.optional(),
  customList: z.array(OpenResponse).optional(),
  pageInfo: OpenResponse.optional(),
  ...storedPosition,
  progress: OpenResponse.optional(),
  actions: z.array(OpenResponse).optional(),
  subscribedUsers: z.array(StoredUser).optional(),
  unsubscribedUsers: z.array(StoredUser).optional(),
  involvedUserIds: z.array(z.string()),
  mentionedUserIds: z.array(z.string()),
  /** Epoch milliseconds. */
  createdAt: z.number(),
  lastUpdated: z.number(),
  metadata: OpenResponse,
});
export type ThreadResponse = z.output<typeof ThreadResponse>;

/** A thread as answers show it, with those of its comments that are given; `more` when there are others. */
export function toThreadResponse(names: ContentNames, { thread, comments, more }: ThreadWithComments): ThreadResponse {
  const {
    annotationId,
    annotationNumber,
    type,
    commentType,
    sourceType,
    commentCount,
    from,
    statusUpdatedByUserId,
    resolvedByUserId,
    assignedTo,
    visibility,
    createdAt,
    lastUpdated,
  } = thread;
  return {
    annotationId,
    annotationNumber,
    annotationIndex: annotationNumber === undefined ? undefined : annotationNumber - 1,
    type,
    commentType,
    sourceType,
    comments: comments.map((comment) => toCommentResponse(names, comment)),
    commentCount,
    hasMoreComments: more,
    from,
    status: JSON.parse(thread.status) as Status,
    statusUpdatedByUserId,
    resolvedByUserId,
    assignedTo,
    priority: readJson(thread.priority),
    context: toContextResponse(thread.context),
    visibility,
    location: readJson(thread.location),
    locationId: thread.locationKey,
    targetElement: readJson(thread.targetElement),
    suggestion: readJson(thread.suggestion),
    customList: readJson(thread.customList),
    pageInfo: readJson(thread.pageInfo),
    isPageAnnotation: thread.isPageAnnotation,
    ...Object.fromEntries(pageNumbers.map((name) => [name, thread[name]])),
    progress: readJson(thread.progress),
    actions: readJson(thread.actions),
    subscribedUsers: readJson(thread.subscribedUsers),
    unsubscribedUsers: readJson(thread.unsubscribedUsers),
    involvedUserIds: involvedUserIds(thread),
    mentionedUserIds: mentionedUserIds(thread),
    createdAt,
    lastUpdated,
    metadata: recordMetadata(names, thread.metadata),
  };
}

/** Which parts of a thread a read can leave out. */
export interface RowParts {
  readonly metadata: boolean;
  readonly pageInfo: boolean;
}

/** A thread as /v2/commentannotations/get shows it: lists and flags are there when they are empty too. */
export const ThreadRow = ThreadResponse.extend({
  comments: z.array(CommentRow),
  context: ContextResponse,
  visibilityConfig: Visibility,
  locationId: z.string().nullable(),
  customList: z.array(OpenResponse),
  subscribedUsers: z.array(StoredUser),
  unsubscribedUsers: z.array(StoredUser),
  subscribedGroups: z.array(OpenResponse),
  hasDraftComments: z.literal(false),
  metadata: OpenResponse.optional(),
});
export type ThreadRow = z.output<typeof ThreadRow>;

/** Subscribed groups and drafts are the client's alone: over REST there are none. */
export function toThreadRow(thread: ThreadResponse, parts: RowParts): ThreadRow {
  const {
    context = { access: {}, accessFields: [] },
    visibility,
    locationId = null,
    customList = [],
    subscribedUsers = [],
    unsubscribedUsers = [],
    pageInfo = {},
    metadata,
  } = thread;
  return {
    ...thread,
    comments: thread.comments.map(toCommentRow),
    context,
    visibilityConfig: visibility ?? { type: 'public' },
    locationId,
    customList,
    subscribedUsers,
    unsubscribedUsers,
    subscribedGroups: [],
    hasDraftComments: false,
    pageInfo: parts.pageInfo ? pageInfo : undefined,
    metadata: parts.metadata ? metadata : undefined,
  };
}
