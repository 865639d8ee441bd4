import type { ContentUser } from '../../content/rules/contentUser.ts';
import { locationKey } from '../../content/rules/location.ts';
import { userFieldsAfter } from '../../content/rules/userFields.ts';
import { isLongerThan } from '../../shared/bytes.ts';
import { readJson, toStoredFields } from '../../shared/jsonFields.ts';
import { newComments } from './commentChanges.ts';
import { agentSourceOf, parseAgent } from './commentRequests.ts';
import { type Comment, COMMENT_TOO_LARGE, isTooLarge } from './comments.ts';
import { initialStatus, isSameStatus, isTerminal, resolveStatus, type Status } from './statuses.ts';
import type { NewThread, ThreadChange } from './threadRequests.ts';
import {
  countParticipants,
  MAX_THREAD_BYTES,
  participantsOf,
  type Thread,
  ThreadAgent,
  threadJsonFields,
  threadPlainFields,
} from './threads.ts';

/** As JSON. Events contain the ids of all participants. */
const MAX_PARTICIPANT_BYTES = 48 * 1024;

const linkFields = ['pageInfo', 'location', 'status', 'priority'] as const;

/** Why a change is refused, as a message for the response. */
export interface Refused {
  readonly refused: string;
}

function checkSize(thread: Thread): Thread | Refused {
  if (isLongerThan(thread.participants, MAX_PARTICIPANT_BYTES))
    return { refused: 'Annotation would involve too many users.' };
  return isLongerThan(JSON.stringify(thread), MAX_THREAD_BYTES + MAX_PARTICIPANT_BYTES)
    ? { refused: 'Annotation would be too large.' }
    : thread;
}

/** Without fields that depend on other fields, such as the status. */
function toStored(sent: ThreadChange | NewThread): Partial<Thread> {
  const location = sent.location && {
    location: JSON.stringify(sent.location),
    locationKey: locationKey(sent.location),
  };
  return { ...toStoredFields<ThreadChange>(sent, threadJsonFields, threadPlainFields), ...location };
}

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
  const comments = newComments(sent.commentData, 0, {
    annotationId,
    threadCreatedAt: createdAt,
    createdAt,
    now,
    byUser,
  });
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

/** `first` and `last` take the places of deleted comments. Each is undefined if the current one stays. */
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
