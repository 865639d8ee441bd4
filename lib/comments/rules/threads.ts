import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { ContentUser, StoredUser } from '../../content/rules/contentUser.ts';
import { type ContentNames, recordMetadata } from '../../content/rules/eventMetadata.ts';
import { Location, locationKey } from '../../content/rules/location.ts';
import { userFieldsAfter } from '../../content/rules/userFields.ts';
import { type ThreadAccess, Visibility, VisibilityInput } from '../../directory/rules/visibility.ts';
import { isLongerThan } from '../../shared/bytes.ts';
import { distinct } from '../../shared/collections.ts';
import { fromJsonFields, pickFields, readJson, toStoredFields } from '../../shared/jsonFields.ts';
import {
  AnyObject,
  defineNamedSchema,
  defineSchema,
  Id,
  list,
  OpenObject,
  optional,
  StoredNumber,
  unchangedObject,
} from '../../shared/schema.ts';
import { importedTimes, Instant } from '../../shared/times.ts';
import { Actions, Progress } from './commentProgress.ts';
import {
  accessFieldsOf,
  agentSourceOf,
  type Comment,
  COMMENT_TOO_LARGE,
  commentLists,
  commentMentions,
  CommentResponse,
  CommentRow,
  Context,
  ContextResponse,
  hasAnyField,
  isTooLarge,
  newComments,
  oneCommentList,
  parseAgent,
  sentComments,
  toCommentResponse,
  toCommentRow,
  toContextResponse,
} from './comments.ts';
import { initialStatus, isSameStatus, isTerminal, resolveStatus, SentStatus, type Status } from './statuses.ts';

const threadTypes = ['comment', 'suggestion'] as const;

/** As JSON, without comments and participants. DynamoDB limits an item to 400 KB. */
const MAX_THREAD_BYTES = 256 * 1024;
/** As JSON. Events contain the ids of these users. */
const MAX_PARTICIPANT_BYTES = 48 * 1024;
const MAX_SUBSCRIBERS = 50;
const MAX_CUSTOM_LIST_ITEMS = 100;
/** Each replacement can change every comment of a thread. */
const MAX_USER_REPLACEMENTS = 10;

const Suggestion = /* @__PURE__ */ defineSchema(() =>
  unchangedObject(
    z.object({
      status: optional(z.enum(['pending', 'accepted', 'rejected'])).describe(
        'The decision. By default `pending` in a new thread, and the stored decision in a change.',
      ),
    }),
  ),
);

const Priority = /* @__PURE__ */ defineSchema(() =>
  z.union([Id, unchangedObject(z.object({ id: Id.describe('Your own name of the priority.') }))], {
    error: 'must be the id of a priority, or an object with the id',
  }),
);

const pagePositions = {
  positionX: 'The horizontal place of the thread on the page, in a unit of your choice.',
  positionY: 'The vertical place of the thread on the page, in a unit of your choice.',
  screenWidth: 'How wide the screen of the author was, in the unit of `positionX`.',
  screenHeight: 'How high the screen of the author was, in the unit of `positionX`.',
  screenScrollHeight: 'How high the whole page of the author was, in the unit of `positionX`.',
  screenScrollTop: 'How far the author had scrolled, in the unit of `positionX`.',
} as const;
type PageNumber = keyof typeof pagePositions;
const pageNumbers = Object.keys(pagePositions) as PageNumber[];

function pagePosition<B extends z.ZodType, N extends z.ZodType>(flag: B, number: N) {
  const numbers = Object.entries(pagePositions).map(([name, text]) => [name, number.describe(text)]);
  return {
    isPageAnnotation: flag.describe('For clients: marks a thread that is placed on a page.'),
    ...(Object.fromEntries(numbers) as Record<PageNumber, N>),
  };
}

const storedPosition = pagePosition(z.boolean().optional(), z.number().optional());

/** For new and changed threads. */
const fields = /* @__PURE__ */ defineSchema(() => ({
  location: optional(Location).describe('Where in the document the thread is. Requests select by its `id`.'),
  targetElement: optional(OpenObject).describe('For clients: the element that the thread is about. Stored unchanged.'),
  status: optional(SentStatus).describe(
    'The id of a status, an object with the id, or an object with only a type. A new thread is `OPEN` by default.',
  ),
  assignedTo: optional(ContentUser).describe(
    'The user who should deal with the thread. The assignee is notified if the call causes events.',
  ),
  priority: optional(Priority).describe('The id of a priority, or an object of yours with the id.'),
  context: optional(Context).describe('Narrows who may see the thread, also for its author.'),
  suggestion: optional(Suggestion).describe('A proposed change. Other fields than `status` are stored unchanged.'),
  visibility: optional(VisibilityInput).describe(
    'Who may see the thread. By default everybody who may read the document.',
  ),
  visibilityConfig: optional(VisibilityInput).describe('Another name for `visibility`.'),
  subscribedUsers: optional(list(ContentUser, MAX_SUBSCRIBERS, 0)).describe(
    'Users who are notified of the thread as its participants are.',
  ),
  unsubscribedUsers: optional(list(ContentUser, MAX_SUBSCRIBERS, 0)).describe(
    'Users who are notified only of mentions, and of the thread when it is assigned to them. They can include its author.',
  ),
  customList: optional(list(OpenObject, MAX_CUSTOM_LIST_ITEMS, 0)).describe('Objects of your own, for example labels.'),
  pageInfo: optional(OpenObject).describe('The page of the thread. Mails link to its `url`.'),
  ...pagePosition(optional(z.boolean()), optional(StoredNumber)),
  progress: optional(Progress).describe('The progress of work that the thread reports. A change replaces all of it.'),
  actions: optional(Actions).describe('Buttons that clients show for the thread. A change replaces all of them.'),
  metadata: optional(OpenObject).describe(
    'Own fields. Answers and events return them, beside the ids of the API key, organization and document.',
  ),
}));

interface SentVisibility {
  readonly visibility?: Visibility | undefined;
  readonly visibilityConfig?: Visibility | undefined;
}

const oneVisibility = /* @__PURE__ */ defineSchema(() =>
  z.refine<SentVisibility>(
    ({ visibility, visibilityConfig }) =>
      visibility === undefined || visibilityConfig === undefined || isDeepStrictEqual(visibility, visibilityConfig),
    { path: ['visibilityConfig'], error: 'must equal visibility if both are given' },
  ),
);

function withOneVisibility<S extends SentVisibility>({ visibilityConfig, ...sent }: S) {
  return visibilityConfig === undefined ? sent : { ...sent, visibility: visibilityConfig };
}

const linkFields = ['pageInfo', 'location', 'status', 'priority'] as const;

export const ThreadResults = /* @__PURE__ */ defineSchema(() =>
  z.object({
    data: z
      .record(
        z.string(),
        z.object({
          success: z.boolean().describe('Whether the thread was added.'),
          annotationId: z.string().describe('The id that the thread has or should have.'),
          commentIds: z
            .array(z.number())
            .describe('The numbers of its comments in the order of the request. Empty if the thread was not added.'),
          message: z.string().describe('Why the thread was not added, or that it was.'),
          findingId: z.string().optional().describe('The `agent.reason.findingId` of its first comment.'),
        }),
      )
      .describe('The result for each thread, by its id.'),
  }),
);

export const NewThread = /* @__PURE__ */ defineNamedSchema('CommentAnnotationInput', () =>
  z
    .object({
      annotationId: optional(Id).describe('The id of the new thread. By default the service chooses one.'),
      ...commentLists,
      ...fields,
      type: optional(z.enum(threadTypes)).describe(
        'By default `suggestion` if `suggestion` is sent, otherwise `comment`.',
      ),
      commentType: optional(z.enum(['manual', 'chart'])).describe(
        'For clients: how the thread was made. Stored unchanged.',
      ),
      ...importedTimes,
    })
    .check(
      oneCommentList,
      oneVisibility,
      z.refine(
        ({ commentData: _, comments: __, ...thread }) => !isLongerThan(JSON.stringify(thread), MAX_THREAD_BYTES),
        {
          error: `must be at most ${MAX_THREAD_BYTES} bytes as JSON, comments aside`,
        },
      ),
    )
    .transform(({ comments, commentData, ...thread }) => ({
      ...withOneVisibility(thread),
      commentData: sentComments({ commentData, comments }),
    }))
    .describe('A thread to add with its first comments.'),
);
export type NewThread = z.output<typeof NewThread>;

/** If a suggestion is sent without a status, the stored status stays. */
export const ThreadChange = /* @__PURE__ */ defineNamedSchema('CommentAnnotationChange', () =>
  z
    .object({
      ...fields,
      from: optional(ContentUser).describe('A new author. With a user token only the user of the token.'),
      statusUpdatedByUserId: optional(Id).describe(
        'Who changed the status. By default `actionUser`, if the call changes it.',
      ),
      resolvedByUserId: optional(Id).describe(
        'Who resolved the thread. By default the user who made the status terminal.',
      ),
      // The thread's key contains the time.
      createdAt: optional(Instant).describe('Must be the stored creation time, in epoch milliseconds or ISO 8601.'),
      lastUpdated: optional(Instant).describe(
        'The time of this change, in epoch milliseconds or ISO 8601. By default the time of the call.',
      ),
    })
    .check(hasAnyField, oneVisibility)
    .transform(withOneVisibility)
    .describe('The fields that change. Fields that are not sent stay.'),
);
export type ThreadChange = z.output<typeof ThreadChange>;

/** A new user must not be replaced by another replacement, so that a repeated request has the same result. */
export const UserReplacements = /* @__PURE__ */ defineSchema(() =>
  list(
    z.object({
      oldUser: ContentUser.describe('The user who disappears from authors, mentions and assignees.'),
      newUser: ContentUser.describe('The user who takes their place.'),
    }),
    MAX_USER_REPLACEMENTS,
  ).check(({ value, issues }) => {
    const replaced = value.map(({ oldUser }) => oldUser.userId);
    const refuse = (index: number, field: string, message: string) =>
      issues.push({ code: 'custom', input: value, path: [index, field], message });
    for (const [index, { oldUser, newUser }] of value.entries()) {
      if (replaced.indexOf(oldUser.userId) !== index) refuse(index, 'oldUser', 'is given twice');
      if (newUser.userId !== oldUser.userId && replaced.includes(newUser.userId))
        refuse(index, 'newUser', 'is replaced by another');
    }
  }),
);
export type UserReplacement = z.output<typeof UserReplacements>[number];

const ThreadAgent = /* @__PURE__ */ defineSchema(() =>
  z.object({
    agentId: z.string(),
    agentSource: z.enum(['svc', 'external']),
    agentType: z.string().optional(),
    executionId: z.string().optional(),
    url: z.string().optional(),
  }),
);

/** Objects and lists of the request are JSON text. */
export const Thread = /* @__PURE__ */ defineSchema(() =>
  z.object({
    annotationId: z.string(),
    /** From 1. Threads that are older than this field lack it. */
    annotationNumber: z.number().optional(),
    documentId: z.string(),
    type: z.enum(threadTypes),
    commentType: z.string().optional(),
    sourceType: z.enum(['rest-api', 'agent']),
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
    /** A user token wrote these fields last. */
    userFields: z.array(z.string()).optional(),
    subscribedUsers: z.string().optional(),
    unsubscribedUsers: z.string().optional(),
    /** A list of `Participant` as JSON text. */
    participants: z.string(),
    resolvedByUserId: z.string().optional(),
    statusUpdatedByUserId: z.string().optional(),
    commentCount: z.number(),
    /** Of all comments that the thread ever had, so no id is used twice. */
    lastCommentId: z.number(),
    /** The involvement of the assignee refers to this comment. */
    first: z.object({ commentId: z.number(), createdAt: z.number() }),
    last: z.object({ commentId: z.number(), userId: z.string() }),
    createdAt: z.number(),
    lastUpdated: z.number(),
  }),
);
export type Thread = z.output<typeof Thread>;

/** Why a change is refused, as a message for the response. */
export interface Refused {
  readonly refused: string;
}

/** The numbers of comments that the user wrote, and that mention the user. */
type Participant = readonly [userId: string, wrote: number, mentionedIn: number];

function participantsOf({ participants }: Pick<Thread, 'participants'>): Participant[] {
  return JSON.parse(participants) as Participant[];
}

/** The counts stay exact although no other comment is read. */
function countParticipants(
  before: readonly Participant[],
  added: readonly Comment[],
  removed: readonly Comment[],
): string {
  const counts = new Map(before.map(([userId, wrote, mentioned]) => [userId, { wrote, mentioned }] as const));
  const count = (userId: string, field: 'wrote' | 'mentioned', by: 1 | -1) => {
    const userCounts = counts.get(userId) ?? { wrote: 0, mentioned: 0 };
    counts.set(userId, { ...userCounts, [field]: userCounts[field] + by });
  };
  const countAll = (comments: readonly Comment[], by: 1 | -1) => {
    for (const comment of comments) {
      count(comment.from.userId, 'wrote', by);
      for (const userId of commentMentions(comment)) count(userId, 'mentioned', by);
    }
  };
  countAll(added, 1);
  countAll(removed, -1);
  return JSON.stringify(
    [...counts].flatMap(([userId, { wrote, mentioned }]) =>
      wrote > 0 || mentioned > 0 ? [[userId, wrote, mentioned]] : [],
    ),
  );
}

function checkSize(thread: Thread): Thread | Refused {
  if (isLongerThan(thread.participants, MAX_PARTICIPANT_BYTES))
    return { refused: 'Annotation would involve too many users.' };
  return isLongerThan(JSON.stringify(thread), MAX_THREAD_BYTES + MAX_PARTICIPANT_BYTES)
    ? { refused: 'Annotation would be too large.' }
    : thread;
}

const jsonFields = [
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

/** Without fields that depend on other fields, such as the status. */
function toStored(sent: ThreadChange | NewThread): Partial<Thread> {
  const location = sent.location && {
    location: JSON.stringify(sent.location),
    locationKey: locationKey(sent.location),
  };
  return { ...toStoredFields<ThreadChange>(sent, jsonFields, plainFields), ...location };
}

/** The status is the sent one, or else the one in `before`, or else `pending`. */
function toStoredSuggestion(sent: Readonly<Record<string, unknown>>, before?: string): string {
  const status = sent.status ?? readJson<{ status: string }>(before)?.status ?? 'pending';
  return JSON.stringify({ ...sent, status });
}

/** Comments that were sent without an id get ids from 1, or after the largest sent id. */
export function newThread(
  sent: NewThread,
  {
    annotationId,
    documentId,
    now,
    byUser = false,
  }: { annotationId: string; documentId: string; now: number; byUser?: boolean },
): { thread: Thread; comments: Comment[] } | Refused {
  const createdAt = sent.createdAt ?? now;
  const comments = newComments(sent.commentData, 0, { annotationId, threadCreatedAt: createdAt, createdAt, byUser });
  // Stored profiles can be larger than the sent ones.
  if (byUser && comments.some(isTooLarge)) return { refused: COMMENT_TOO_LARGE };
  const [{ from, agent }] = comments as [Comment];
  const status = sent.status === undefined ? initialStatus : resolveStatus(sent.status);
  const type = sent.type ?? (sent.suggestion ? 'suggestion' : 'comment');
  const last = lastOf(comments);
  const thread = checkSize({
    ...toStored(sent),
    annotationId,
    documentId,
    type,
    commentType: sent.commentType,
    sourceType: comments.some((comment) => comment.agent !== undefined) ? 'agent' : 'rest-api',
    from,
    status: JSON.stringify(status),
    resolvedByUserId: isTerminal(status) ? from.userId : undefined,
    suggestion: type === 'suggestion' ? toStoredSuggestion(sent.suggestion ?? {}) : undefined,
    agent: agent === undefined ? undefined : threadAgent(JSON.parse(agent) as Record<string, unknown>),
    userFields: userFieldsAfter(undefined, sent, linkFields, byUser),
    participants: countParticipants([], comments, []),
    commentCount: comments.length,
    lastCommentId: last.commentId,
    first: firstOf(comments[0] as Comment),
    last,
    createdAt,
    lastUpdated: sent.lastUpdated ?? sent.createdAt ?? now,
  });
  return 'refused' in thread ? thread : { thread, comments };
}

function threadAgent(agent: Readonly<Record<string, unknown>>): Thread['agent'] {
  const parsed = parseAgent(agent);
  return ThreadAgent.parse({ ...parsed, agentSource: agentSourceOf(parsed.agentSource) });
}

function firstOf({ commentId, createdAt }: Comment): Thread['first'] {
  return { commentId, createdAt };
}

function lastOf(comments: readonly Comment[]): Thread['last'] {
  const { commentId, from } = comments.reduce((last, comment) => (comment.commentId > last.commentId ? comment : last));
  return { commentId, userId: from.userId };
}

export function addComments(thread: Thread, added: readonly Comment[], now: number): Thread | Refused {
  const last = lastOf(added);
  return checkSize({
    ...thread,
    participants: countParticipants(participantsOf(thread), added, []),
    commentCount: thread.commentCount + added.length,
    lastCommentId: Math.max(thread.lastCommentId, last.commentId),
    last: last.commentId > thread.last.commentId ? last : thread.last,
    lastUpdated: now,
  });
}

export function changeComments(
  thread: Thread,
  before: readonly Comment[],
  after: readonly Comment[],
  now: number,
): Thread | Refused {
  const last = after.find(({ commentId }) => commentId === thread.last.commentId);
  return checkSize({
    ...thread,
    participants: countParticipants(participantsOf(thread), after, before),
    last: last ? lastOf([last]) : thread.last,
    lastUpdated: now,
  });
}

/** `first` and `last` take the places of deleted comments. Undefined if the current one stays. */
export function removeComments(
  thread: Thread,
  removed: readonly Comment[],
  { first, last }: { first?: Comment | undefined; last?: Comment | undefined },
  now: number,
): Thread {
  return {
    ...thread,
    participants: countParticipants(participantsOf(thread), [], removed),
    commentCount: thread.commentCount - removed.length,
    first: first ? firstOf(first) : thread.first,
    last: last ? lastOf([last]) : thread.last,
    lastUpdated: now,
  };
}

/**
 * Returns a thread as a user who may see only these comments gets it. Users are ordered by id, because the order of
 * their first comments would tell who wrote hidden ones.
 */
export function withComments(thread: Thread, comments: readonly Comment[]): Thread {
  const visible = { ...thread, participants: countParticipants([], comments, []) };
  const byId = participantsOf(visible).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { ...visible, participants: JSON.stringify(byId), commentCount: comments.length };
}

/** Returns the thread, or why the change is refused. */
export function changeThread(
  thread: Thread,
  change: ThreadChange,
  { actorId, now, byUser = false }: { actorId?: string | undefined; now: number; byUser?: boolean | undefined },
): Thread | Refused {
  if (change.createdAt !== undefined && change.createdAt !== thread.createdAt)
    return { refused: 'createdAt of an annotation cannot be changed.' };
  return checkSize({
    ...thread,
    ...toStored(change),
    ...(change.from && { from: change.from }),
    ...(change.suggestion && { suggestion: toStoredSuggestion(change.suggestion, thread.suggestion) }),
    ...changeStatus(thread, change, actorId),
    userFields: userFieldsAfter(thread.userFields, change, linkFields, byUser),
    lastUpdated: change.lastUpdated ?? now,
  });
}

/** The user who resolved the thread stays recorded while the status is terminal. */
function changeStatus(
  thread: Thread,
  change: ThreadChange,
  actorId: string | undefined,
): Pick<Thread, 'status' | 'statusUpdatedByUserId' | 'resolvedByUserId'> {
  const before = JSON.parse(thread.status) as Status;
  const after = change.status === undefined ? before : resolveStatus(change.status);
  const changed = !isSameStatus(before, after);
  const statusUpdatedByUserId = change.statusUpdatedByUserId ?? (changed ? actorId : thread.statusUpdatedByUserId);
  const keepsResolver = !changed || (isTerminal(before) && isTerminal(after));
  const newResolver = isTerminal(after) ? statusUpdatedByUserId : undefined;
  return {
    status: JSON.stringify(after),
    statusUpdatedByUserId,
    resolvedByUserId: change.resolvedByUserId ?? (keepsResolver ? thread.resolvedByUserId : newResolver),
  };
}

export function replaceThreadUsers(thread: Thread, replacement: (userId: string) => ContentUser | undefined): Thread {
  return {
    ...thread,
    from: replacement(thread.from.userId) ?? thread.from,
    assignedTo: thread.assignedTo && (replacement(thread.assignedTo.userId) ?? thread.assignedTo),
  };
}

export function threadAccessOf(
  { visibility, context, from }: Pick<Thread, 'visibility' | 'context' | 'from'>,
  organizationId: string,
): ThreadAccess {
  return { visibility, accessFields: accessFieldsOf(context), authorId: from.userId, organizationId };
}

/** The users who wrote comments, are mentioned in them, or are the assignee. */
export function involvedUserIds(thread: Thread): string[] {
  return distinct([
    ...participantsOf(thread).map(([userId]) => userId),
    ...(thread.assignedTo ? [thread.assignedTo.userId] : []),
  ]);
}

export function participantIds(thread: Thread): Set<string> {
  const subscribers = readJson<ContentUser[]>(thread.subscribedUsers) ?? [];
  return new Set([
    thread.from.userId,
    ...involvedUserIds(thread),
    ...subscribers.map(({ userId }) => userId),
    ...(thread.visibility?.userIds ?? []),
  ]);
}

export function mentionedUserIds(thread: Thread): string[] {
  return participantsOf(thread).flatMap(([userId, , mentioned]) => (mentioned > 0 ? [userId] : []));
}

/** `more` is true if the thread has other comments too. */
export interface ThreadWithComments {
  readonly thread: Thread;
  readonly comments: readonly Comment[];
  readonly more: boolean;
}

export interface CommentAuthor {
  readonly userId: string;
  readonly accessFields?: readonly string[] | undefined;
}

/**
 * The latest comment first. The first author whose comment a user can see wrote the last comment for this user. Without
 * access contexts, only the author of the last comment is needed.
 */
export function lastAuthors(thread: Thread, comments: readonly Comment[]): CommentAuthor[] {
  const authors = comments.map(toAuthor);
  const hasContext = authors.some(({ accessFields }) => accessFields !== undefined);
  return hasContext ? authors.toReversed() : [{ userId: thread.last.userId }];
}

export function toAuthor({ from, context }: Comment): CommentAuthor {
  return { userId: from.userId, accessFields: accessFieldsOf(context) };
}

export const ThreadResponse = /* @__PURE__ */ defineSchema(() =>
  z.object({
    annotationId: z.string(),
    annotationNumber: z
      .int()
      .describe('Counts the threads of the document from 1. A thread that failed leaves a gap.')
      .optional(),
    annotationIndex: z.int().describe('`annotationNumber` minus 1.').optional(),
    type: z.enum(threadTypes).describe('Whether the thread is a proposed change.'),
    commentType: z.string().describe('For clients: how the thread was made.').optional(),
    sourceType: z.enum(['rest-api', 'agent']).describe('`agent` if the thread began with a comment of an agent.'),
    comments: z
      .array(CommentResponse)
      .describe('Comments of the thread, about 1 MB. `hasMoreComments` says whether there are others.'),
    commentCount: z
      .number()
      .describe('How many comments the thread has. With a user token, how many the user may see.'),
    hasMoreComments: z
      .boolean()
      .describe('Whether `/v2/commentannotations/comments/get` returns comments that are missing here.'),
    from: StoredUser.describe('The author of the first comment.'),
    status: AnyObject.describe('The status with its `id`, `name`, `type` and your own fields.'),
    statusUpdatedByUserId: z.string().describe('Who changed the status last, if known.').optional(),
    resolvedByUserId: z.string().describe('Who resolved the thread. Missing while it is open.').optional(),
    assignedTo: StoredUser.describe('The user who should deal with the thread.').optional(),
    priority: z
      .union([z.string(), AnyObject])
      .describe('The id of a priority, or an object of yours with the id, as it was sent.')
      .optional(),
    context: ContextResponse.describe('The access context that readers of the thread need.').optional(),
    visibility: Visibility.describe(
      'Who may see the thread. Missing if everybody may who can read the document.',
    ).optional(),
    location: AnyObject.describe('Where in the document the thread is, as it was sent.').optional(),
    locationId: z
      .string()
      .describe('The key of the location: its `id` as text, otherwise a hash of the location.')
      .optional(),
    targetElement: AnyObject.describe('For clients: the element that the thread is about.').optional(),
    suggestion: AnyObject.describe('The proposed change, with the decision in its `status`.').optional(),
    customList: z.array(AnyObject).describe('Objects of your own, for example labels.').optional(),
    pageInfo: AnyObject.describe('The page of the thread, as it was sent.').optional(),
    ...storedPosition,
    progress: AnyObject.describe('The progress of work that the thread reports, as it was sent.').optional(),
    actions: z.array(AnyObject).describe('Buttons that clients show for the thread, as they were sent.').optional(),
    subscribedUsers: z
      .array(StoredUser)
      .describe('Users who are notified of the thread as its participants are.')
      .optional(),
    unsubscribedUsers: z
      .array(StoredUser)
      .describe(
        'Users who are notified only of mentions, and of the thread when it is assigned to them. They can include its author.',
      )
      .optional(),
    involvedUserIds: z
      .array(z.string())
      .describe('The users who wrote comments, are mentioned in them, or are the assignee.'),
    mentionedUserIds: z.array(z.string()).describe('The users whom comments mention.'),
    createdAt: z.number().describe('When the thread was started, in epoch milliseconds.'),
    lastUpdated: z.number().describe('When the thread, a comment or a reaction last changed, in epoch milliseconds.'),
    metadata: AnyObject.describe('Your own fields, and the ids of the API key, organization and document.'),
  }),
);
export type ThreadResponse = z.output<typeof ThreadResponse>;

export function toThreadResponse(names: ContentNames, { thread, comments, more }: ThreadWithComments): ThreadResponse {
  const { annotationNumber } = thread;
  return {
    ...pickFields(thread, [
      'annotationId',
      'annotationNumber',
      'type',
      'commentType',
      'sourceType',
      'commentCount',
      'from',
      'statusUpdatedByUserId',
      'resolvedByUserId',
      ...plainFields,
      'createdAt',
      'lastUpdated',
    ]),
    ...(fromJsonFields(['status', 'location', 'suggestion', ...jsonFields], thread) as Pick<
      ThreadResponse,
      'status' | 'location' | 'suggestion' | (typeof jsonFields)[number]
    >),
    annotationIndex: annotationNumber === undefined ? undefined : annotationNumber - 1,
    comments: comments.map((comment) => toCommentResponse(names, comment)),
    hasMoreComments: more,
    context: toContextResponse(thread.context),
    locationId: thread.locationKey,
    involvedUserIds: involvedUserIds(thread),
    mentionedUserIds: mentionedUserIds(thread),
    metadata: recordMetadata(names, thread.metadata),
  };
}

export interface RowParts {
  readonly metadata: boolean;
  readonly pageInfo: boolean;
}

/** All lists and flags are present, even if they are empty. */
export const ThreadRow = /* @__PURE__ */ defineNamedSchema('CommentAnnotation', () =>
  ThreadResponse.extend({
    comments: z.array(CommentRow).describe(ThreadResponse.shape.comments.description as string),
    context: ThreadResponse.shape.context.unwrap(),
    visibilityConfig: Visibility,
    locationId: ThreadResponse.shape.locationId.unwrap().nullable(),
    customList: ThreadResponse.shape.customList.unwrap(),
    subscribedUsers: ThreadResponse.shape.subscribedUsers.unwrap(),
    unsubscribedUsers: ThreadResponse.shape.unsubscribedUsers.unwrap(),
    subscribedGroups: z.array(AnyObject).describe('Always empty: subscribed groups exist only in clients.'),
    hasDraftComments: z.literal(false).describe('Always false: drafts exist only in clients.'),
    metadata: ThreadResponse.shape.metadata.optional(),
  }).describe('A comment thread with comments.'),
);
export type ThreadRow = z.output<typeof ThreadRow>;

export const ThreadRowOrNull = /* @__PURE__ */ defineNamedSchema('CommentAnnotationOrNull', () =>
  ThreadRow.nullable().describe('A comment thread, or null for an unknown id.'),
);

export const ListedThreads = /* @__PURE__ */ defineSchema(() =>
  z
    .union([z.array(ThreadRowOrNull), z.record(z.string(), z.array(ThreadRow))])
    .describe('The threads. With `groupByDocumentId`, lists of threads by document id.'),
);

/** Subscribed groups and drafts exist only in clients, so these fields are always empty. */
export function toThreadRow(thread: ThreadResponse, parts: RowParts): ThreadRow {
  return {
    ...thread,
    comments: thread.comments.map(toCommentRow),
    context: thread.context ?? { access: {}, accessFields: [] },
    visibilityConfig: thread.visibility ?? { type: 'public' },
    locationId: thread.locationId ?? null,
    customList: thread.customList ?? [],
    subscribedUsers: thread.subscribedUsers ?? [],
    unsubscribedUsers: thread.unsubscribedUsers ?? [],
    subscribedGroups: [],
    hasDraftComments: false,
    pageInfo: parts.pageInfo ? (thread.pageInfo ?? {}) : undefined,
    metadata: parts.metadata ? thread.metadata : undefined,
  };
}
