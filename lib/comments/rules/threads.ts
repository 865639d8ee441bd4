import * as z from 'zod';
import { type ContentUser, StoredUser } from '../../content/rules/contentUser.ts';
import { type ThreadAccess, Visibility } from '../../directory/rules/visibility.ts';
import { distinct } from '../../shared/collections.ts';
import { readJson } from '../../shared/jsonFields.ts';
import { defineSchema } from '../../shared/schema.ts';
import { accessFieldsOf } from './commentContext.ts';
import { addedAtOf, type Comment, commentMentions } from './comments.ts';

export const threadTypes = ['comment', 'suggestion'] as const;

/** As JSON, without comments and participants. DynamoDB limits an item to 400 KB. */
export const MAX_THREAD_BYTES = 256 * 1024;

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

export function pagePosition<B extends z.ZodType, N extends z.ZodType>(flag: B, number: N) {
  const numbers = Object.entries(pagePositions).map(([name, text]) => [name, number.describe(text)]);
  return {
    isPageAnnotation: flag.describe('For clients: marks a thread that is placed on a page.'),
    ...(Object.fromEntries(numbers) as Record<PageNumber, N>),
  };
}

export const storedPosition = pagePosition(z.boolean().optional(), z.number().optional());

export const ThreadAgent = /* @__PURE__ */ defineSchema(() =>
  z.object({
    agentId: z.string(),
    agentSource: z.enum(['svc', 'external']),
    agentType: z.string().optional(),
    executionId: z.string().optional(),
    url: z.string().optional(),
  }),
);

/** Most objects and lists of the request are stored as JSON text. */
export const Thread = /* @__PURE__ */ defineSchema(() =>
  z.object({
    annotationId: z.string(),
    /** From 1. */
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
    /** The fields, of those in which mails show links, that a user token wrote last. */
    userFields: z.array(z.string()).optional(),
    subscribedUsers: z.string().optional(),
    unsubscribedUsers: z.string().optional(),
    /** A list of `Participant` as JSON text. */
    participants: z.string(),
    resolvedByUserId: z.string().optional(),
    statusUpdatedByUserId: z.string().optional(),
    commentCount: z.number(),
    /** The largest of all comments that the thread ever had, so no generated id repeats an earlier id. */
    lastCommentId: z.number(),
    /** The involvement of the assignee refers to this comment. */
    first: z.object({ commentId: z.number(), createdAt: z.number() }),
    last: z.object({ commentId: z.number(), userId: z.string() }),
    createdAt: z.number(),
    lastUpdated: z.number(),
  }),
);
export type Thread = z.output<typeof Thread>;

/**
 * The numbers of comments that the user wrote, and that mention the user. `addedAt` is when the user last added a
 * comment, also one that is deleted now. Heads from before this field lack it.
 */
type Participant = readonly [userId: string, wrote: number, mentionedIn: number, addedAt?: number];

export function participantsOf({ participants }: Pick<Thread, 'participants'>): Participant[] {
  return JSON.parse(participants) as Participant[];
}

/** The counts stay exact although no other comment is read. */
export function countParticipants(
  before: readonly Participant[],
  added: readonly Comment[],
  removed: readonly Comment[],
): string {
  const counts = new Map(before.map((participant) => [participant[0], participant] as const));
  const count = (userId: string, wrote: number, mentioned: number, addedAt = 0) => {
    const [, wroteBefore = 0, mentionedBefore = 0, addedBefore = 0] = counts.get(userId) ?? [];
    counts.set(userId, [userId, wroteBefore + wrote, mentionedBefore + mentioned, Math.max(addedBefore, addedAt)]);
  };
  const countAll = (comments: readonly Comment[], by: 1 | -1) => {
    for (const comment of comments) {
      count(comment.from.userId, by, 0, addedAtOf(comment));
      for (const userId of commentMentions(comment)) count(userId, 0, by);
    }
  };
  countAll(added, 1);
  countAll(removed, -1);
  return JSON.stringify(
    [...counts.values()]
      .filter(([, wrote, mentioned]) => wrote > 0 || mentioned > 0)
      .map((participant) => participant.slice(0, participant[3] ? 4 : 3)),
  );
}

export const threadJsonFields = [
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
export const threadPlainFields = ['assignedTo', 'visibility', 'isPageAnnotation', ...pageNumbers] as const;

/** Returns a thread as a user who may see only these comments gets it. Users are ordered by id. */
export function withComments(thread: Thread, comments: readonly Comment[]): Thread {
  const visible = { ...thread, participants: countParticipants([], comments, []) };
  const byId = participantsOf(visible).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return { ...visible, participants: JSON.stringify(byId), commentCount: comments.length };
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
