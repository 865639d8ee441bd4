import { isDeepStrictEqual } from 'node:util';
import type { ServiceActivity } from '../../activities/rules.ts';
import type { ContentUser } from '../../content/rules/contentUser.ts';
import { type ContentNames, eventMetadata, eventMetadataIds } from '../../content/rules/eventMetadata.ts';
import type { Location } from '../../content/rules/location.ts';
import { isPrivate } from '../../directory/rules/visibility.ts';
import { type Audience, type EventPayload, MAX_PAYLOAD_BYTES } from '../../events/rules/payload.ts';
import type { ReactionResponse } from '../../reactions/rules.ts';
import { isLongerThan } from '../../shared/bytes.ts';
import { distinct } from '../../shared/collections.ts';
import { readJson } from '../../shared/jsonFields.ts';
import { commentVerbs } from '../../workspaces/rules/groupedTriggers.ts';
import { accessFieldsOf } from './commentContext.ts';
import { toCommentResponse } from './commentResponses.ts';
import { type Comment, commentMentions } from './comments.ts';
import { isSameStatus, type Status } from './statuses.ts';
import { toThreadResponse } from './threadResponses.ts';
import { involvedUserIds, type Thread, threadAccessOf } from './threads.ts';

export type CommentVerb = keyof typeof commentVerbs;

export interface ContentChange {
  readonly verb: CommentVerb;
  /** The thread is deleted, and not only `comment`. */
  readonly isThreadDeletion?: boolean | undefined;
  readonly actor: ContentUser;
  /** After the change. For a deletion, before it. */
  readonly thread: Thread;
  /** In the event id, so that two changes at the same time have different ids. */
  readonly revision: number | string;
  readonly comment?: Comment | undefined;
  /** The comments in the event. By default only `comment`. */
  readonly comments?: readonly Comment[] | undefined;
  readonly reaction?: ReactionResponse | undefined;
  readonly from?: unknown;
  readonly to?: unknown;
  readonly notify: boolean;
  readonly log: boolean;
}

export interface EventScope {
  readonly names: ContentNames;
  readonly scope: { readonly organizationKey: string; readonly documentKey: string };
  readonly now: number;
}

/** If a transaction is repeated, the cause is the same, and so is the event id. */
interface ChangeCause {
  readonly type: 'Thread' | 'Comment';
  readonly id: string;
  readonly revision: string;
}

export interface CommentEvent {
  readonly event: (typeof commentVerbs)[CommentVerb];
  readonly cause: ChangeCause;
  readonly organizationId: string;
  readonly documentId: string;
  readonly payload: EventPayload;
}

export type ThreadFieldChange = Pick<ContentChange, 'verb' | 'from' | 'to'>;

const watchedFields = [
  watch('statusChanged', ({ status }) => JSON.parse(status) as Status, isSameStatus),
  // A changed name is not another assignee or priority.
  watch('assigned', ({ assignedTo }) => assignedTo?.userId),
  watch(
    'priorityChanged',
    ({ priority }) => readJson<Priority>(priority),
    (from, to) => idOf(from) === idOf(to),
  ),
  watch('customListChanged', ({ customList }) => readJson(customList) ?? []),
  watch('accessModeChanged', ({ visibility }) => visibility ?? { type: 'public' }),
];

function watch<T>(
  verb: CommentVerb,
  read: (thread: Thread) => T,
  isSame: (from: T, to: T) => boolean = isDeepStrictEqual,
): (before: Thread, after: Thread) => ThreadFieldChange[] {
  return (before, after) => {
    const [from, to] = [read(before), read(after)];
    return isSame(from, to) ? [] : [{ verb, from, to }];
  };
}

type Priority = string | { readonly id: string };

function idOf(value: Priority | undefined): string | undefined {
  return typeof value === 'object' ? value.id : value;
}

export function detectThreadChanges(before: Thread, after: Thread): ThreadFieldChange[] {
  return [
    ...watchedFields.flatMap((changeOf) => changeOf(before, after)),
    ...detectNewUsers('subscribed', before.subscribedUsers, after.subscribedUsers),
    ...detectNewUsers('unsubscribed', before.unsubscribedUsers, after.unsubscribedUsers),
    ...detectSuggestionChange(before, after),
  ];
}

function detectNewUsers(verb: CommentVerb, before: string | undefined, after: string | undefined): ThreadFieldChange[] {
  const [from, to] = [userIdsIn(before), userIdsIn(after)];
  return to.every((userId) => from.includes(userId)) ? [] : [{ verb, from, to }];
}

function detectSuggestionChange(before: Thread, after: Thread): ThreadFieldChange[] {
  const [from, to] = [before, after].map(({ suggestion }) => readJson<{ status: string }>(suggestion)?.status);
  if (from === to) return [];
  if (to === 'accepted') return [{ verb: 'suggestionAccepted', from, to }];
  return to === 'rejected' ? [{ verb: 'suggestionRejected', from, to }] : [];
}

function userIdsIn(users: string | undefined): string[] {
  return (readJson<ContentUser[]>(users) ?? []).map(({ userId }) => userId);
}

export function toEvents(changes: readonly ContentChange[], eventScope: EventScope): CommentEvent[] {
  const { organizationId } = eventScope.names.organization;
  const { documentId } = eventScope.names.document;
  return changes.flatMap((change): CommentEvent[] => {
    if (!change.notify) return [];
    const event = commentVerbs[change.verb];
    return [
      { event, cause: causeOf(change, eventScope), organizationId, documentId, payload: payloadOf(change, eventScope) },
    ];
  });
}

export function toActivities(
  changes: readonly ContentChange[],
  eventScope: EventScope,
  isEnabled: (verb: CommentVerb) => boolean,
): (ServiceActivity & { readonly cause: ChangeCause })[] {
  return changes
    .filter(({ log, verb }) => log && isEnabled(verb))
    .map((change) => {
      const { verb, isThreadDeletion, actor, thread, comment, from, to } = change;
      const [field, phrase] = phrases[verb];
      return {
        cause: causeOf(change, eventScope),
        featureType: 'comment',
        actionType: isThreadDeletion ? 'comment_annotation.delete' : commentVerbs[verb],
        actionUser: actor,
        targetEntityId: thread.annotationId,
        targetSubEntityId: comment && String(comment.commentId),
        changes: from === undefined && to === undefined ? undefined : { [field]: { from, to } },
        entityData: toThreadResponse(eventScope.names, { thread, comments: [], more: thread.commentCount > 0 }),
        entityTargetData: comment && toCommentResponse(eventScope.names, comment),
        displayMessageTemplate: `{{actionUser}} ${isThreadDeletion ? 'deleted a thread' : phrase}`,
        displayMessageTemplateData: { actionUser: actor.name ?? actor.userId },
      };
    });
}

const phrases: Readonly<Record<CommentVerb, readonly [field: string, phrase: string]>> = {
  newlyAdded: ['comments', 'started a thread'],
  added: ['comments', 'added a comment'],
  updated: ['commentText', 'edited a comment'],
  deleted: ['comments', 'deleted a comment'],
  approved: ['status', 'approved a thread'],
  assigned: ['assignedTo', 'assigned a thread'],
  reactionAdded: ['reactions', 'reacted to a comment'],
  reactionDeleted: ['reactions', 'took back a reaction'],
  statusChanged: ['status', 'changed the status of a thread'],
  priorityChanged: ['priority', 'changed the priority of a thread'],
  accessModeChanged: ['visibility', 'changed who sees a thread'],
  accepted: ['status', 'accepted a thread'],
  rejected: ['status', 'rejected a thread'],
  suggestionAccepted: ['suggestion', 'accepted a suggestion'],
  suggestionRejected: ['suggestion', 'rejected a suggestion'],
  customListChanged: ['customList', 'changed the list of a thread'],
  subscribed: ['subscribedUsers', 'subscribed to a thread'],
  unsubscribed: ['unsubscribedUsers', 'unsubscribed from a thread'],
};

/** The time gives a record that is deleted and added again other event ids. */
function causeOf({ thread, comment, revision }: ContentChange, { scope, now }: EventScope): ChangeCause {
  const id = [scope.organizationKey, scope.documentKey, thread.annotationId, ...(comment ? [comment.commentId] : [])];
  return { type: comment ? 'Comment' : 'Thread', id: JSON.stringify(id), revision: `${revision}@${now}` };
}

/**
 * A payload that is too large is reduced. If it is still too large, the event notifies nobody, because a change must
 * never fail because of its event.
 */
function payloadOf(change: ContentChange, eventScope: EventScope): EventPayload {
  const audience = audienceOf(change, eventScope);
  const whole: EventPayload = { source: 'comment', data: dataOf(change, eventScope), audience };
  if (fits(whole)) return whole;
  const reduced = { ...whole, data: reducedDataOf(change, eventScope) };
  if (fits(reduced)) return reduced;
  const { actorId, thread } = audience;
  const nobody: Audience = {
    actorId,
    addressed: [],
    following: [],
    thread: { ...thread, accessFields: undefined },
  };
  return { ...reduced, audience: nobody };
}

function fits(payload: EventPayload): boolean {
  return !isLongerThan(JSON.stringify(payload), MAX_PAYLOAD_BYTES);
}

function commentsOf({ comment, comments = comment ? [comment] : [] }: ContentChange): readonly Comment[] {
  return comments;
}

function dataOf(change: ContentChange, { names }: EventScope): Record<string, unknown> {
  const { verb, actor, thread, comment, reaction, from, to } = change;
  const comments = commentsOf(change);
  return {
    actionUser: actor,
    commentAnnotation: toThreadResponse(names, { thread, comments, more: comments.length < thread.commentCount }),
    ...(comment && {
      targetComment: { ...toCommentResponse(names, comment), ...(reaction && { reactionAnnotations: [reaction] }) },
    }),
    metadata: eventMetadata(names, readJson<Location>(thread.location)),
    ...(verb === 'statusChanged' && { oldStatus: from, newStatus: to }),
    ...(verb === 'priorityChanged' && { newPriority: to }),
    ...(isPrivate(thread.visibility) && { visibility: thread.visibility }),
  };
}

function reducedDataOf(change: ContentChange, { names }: EventScope): Record<string, unknown> {
  const { verb, actor, thread, comment, reaction, from, to } = change;
  const onlyId = (status: unknown) => ({ id: (status as Status).id });
  const userOf = ({ userId }: ContentUser) => ({ userId });
  const { annotationId, type, assignedTo, commentCount, createdAt, lastUpdated } = thread;
  const comments = commentsOf(change).map(({ commentId }) => ({ commentId }));
  return {
    actionUser: userOf(actor),
    commentAnnotation: {
      annotationId,
      type,
      from: userOf(thread.from),
      ...(assignedTo && { assignedTo: userOf(assignedTo) }),
      comments,
      commentCount,
      createdAt,
      lastUpdated,
    },
    ...(comment && {
      targetComment: {
        commentId: comment.commentId,
        from: userOf(comment.from),
        // Mails tell a user that the comment mentions the user.
        to: commentMentions(comment).map((userId) => ({ userId })),
        ...(reaction && {
          reactionAnnotations: [{ annotationId: reaction.annotationId, type: 'reaction', icon: reaction.icon }],
        }),
      },
    }),
    metadata: eventMetadataIds(names),
    ...(verb === 'statusChanged' && { oldStatus: onlyId(from), newStatus: onlyId(to) }),
    ...(verb === 'priorityChanged' && { newPriority: typeof to === 'string' ? to : onlyId(to) }),
    ...(isPrivate(thread.visibility) && { visibility: thread.visibility }),
    truncated: true,
  };
}

/** Unsubscribed users get an event only if it mentions or assigns them. */
function audienceOf(change: ContentChange, { names, scope }: EventScope) {
  const { verb, actor, thread, comment, reaction } = change;
  const comments = commentsOf(change);
  const mentioned = comments.flatMap(commentMentions);
  const assignee = thread.assignedTo ? [thread.assignedTo.userId] : [];
  const concerned = distinct([...mentioned, ...assignee, thread.from.userId]);
  const addressed = reaction && comment ? [comment.from.userId] : concerned;
  const assigns = verb === 'assigned' || verb === 'newlyAdded';
  const named = reaction ? [] : [...mentioned, ...(assigns ? assignee : [])];
  const unsubscribed = userIdsIn(thread.unsubscribedUsers).filter((userId) => !named.includes(userId));
  const allowed = verb === 'accessModeChanged' ? (thread.visibility?.userIds ?? []) : [];
  const others = distinct([...concerned, ...involvedUserIds(thread), ...userIdsIn(thread.subscribedUsers), ...allowed]);
  const accessFields = distinct(
    [...comments, ...(comment ? [comment] : [])].flatMap(({ context }) => accessFieldsOf(context) ?? []),
  );
  return {
    actorId: actor.userId,
    addressed: addressed.filter((userId) => !unsubscribed.includes(userId)),
    following: others.filter((userId) => !addressed.includes(userId) && !unsubscribed.includes(userId)),
    thread: {
      ...threadAccessOf(thread, names.organization.organizationId),
      organizationKey: scope.organizationKey,
      documentKey: scope.documentKey,
      annotationId: thread.annotationId,
      createdAt: thread.createdAt,
      ...(comment && { commentId: comment.commentId }),
    },
    ...(accessFields.length > 0 && { accessFields }),
    ...userWrittenIn(thread, [...comments, ...(comment ? [comment] : [])]),
  };
}

function userWrittenIn(
  { userFields = [] }: Thread,
  comments: readonly Comment[],
): Pick<Audience, 'userWritten'> | undefined {
  const written = comments.flatMap((comment) => (comment.userFields ? [comment.commentId] : []));
  const isAny = userFields.length + written.length > 0;
  return isAny ? { userWritten: { thread: userFields, comments: [...new Set(written)] } } : undefined;
}
