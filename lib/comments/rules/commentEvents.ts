import { isDeepStrictEqual } from 'node:util';
import { isLongerThan } from '../../shared/bytes.ts';
import { distinct } from '../../shared/collections.ts';
import { type TriggerType, triggerTypes } from '../../events/rules/catalogue.ts';
import { type Audience, type EventPayload, LARGEST_PAYLOAD_BYTES } from '../../events/rules/payload.ts';
import { commentVerbs } from '../../workspaces/rules/groupedTriggers.ts';
import type { OwnActivity } from '../../activities/rules.ts';
import { type Comment, accessFieldsOf, commentMentions, readJson, toCommentResponse } from './comments.ts';
import type { Location } from '../../content/rules/location.ts';
import { type ContentNames, eventMetadataIds, eventMetadata } from '../../content/rules/names.ts';
import type { ReactionResponse } from '../../reactions/rules.ts';
import type { Status } from './statuses.ts';
import { threadAccessOf, involvedUserIds, toThreadResponse, type Thread } from './threads.ts';
import type { ContentUser } from '../../content/rules/user.ts';
import { isPrivate } from '../../content/rules/visibility.ts';

export type CommentVerb = keyof typeof commentVerbs;

/** Something that happened to a thread, or to a comment of it: what events and activities are made of. */
export interface ContentChange {
  readonly verb: CommentVerb;
  /** Who did it. */
  readonly actor: ContentUser;
  /** The thread after it; as it was, when it was removed. */
  readonly thread: Thread;
  /** The revision of what changed, or what else tells it from other changes at the same time: the same change makes the same event. */
  readonly revision: number | string;
  /** The comment that it happened to; none when it is about the thread. */
  readonly comment?: Comment | undefined;
  /** The comments that the event shows of the thread: those that the change touches. */
  readonly comments?: readonly Comment[] | undefined;
  /** The reaction to the comment that came or went. */
  readonly reaction?: ReactionResponse | undefined;
  /** What the changed thing was and is. */
  readonly from?: unknown;
  readonly to?: unknown;
  /** Whether others are to be told, and whether it is to be logged. */
  readonly notify: boolean;
  readonly log: boolean;
}

/** What an event needs to know of the place where something happened. */
export interface EventScope {
  readonly names: ContentNames;
  /** The internal ids of organization and document. */
  readonly scope: { readonly organizationKey: string; readonly documentKey: string };
  readonly now: number;
}

/** What tells one change from another, for ids that are the same when the same change is written again. */
interface Cause {
  readonly type: 'Thread' | 'Comment';
  readonly id: string;
  readonly revision: string;
}

/** An event that is to be emitted. */
export interface CommentEvent {
  readonly event: TriggerType;
  readonly cause: Cause;
  readonly organizationId: string;
  readonly documentId: string;
  readonly payload: EventPayload;
}

/** A change of a thread's own: what of it became something else. */
export type ThreadFieldChange = Pick<ContentChange, 'verb' | 'from' | 'to'>;

/** What of a thread is watched, and what is told when it became something else. */
const watched: readonly { readonly verb: CommentVerb; readonly of: (thread: Thread) => unknown }[] = [
  { verb: 'statusChanged', of: ({ status }) => readJson(status) },
  // A user whose name changed is the same one.
  { verb: 'assigned', of: ({ assignedTo }) => assignedTo?.userId },
  { verb: 'priorityChanged', of: ({ priority }) => readJson(priority) },
  { verb: 'customListChanged', of: ({ customList }) => readJson(customList) },
  { verb: 'accessModeChanged', of: ({ visibility }) => visibility },
];

/** What became something else between two states of a thread, in the order in which it is told. */
export function detectThreadChanges(before: Thread, after: Thread): ThreadFieldChange[] {
  const changed = watched.flatMap(({ verb, of }): ThreadFieldChange[] => {
    const [from, to] = [of(before), of(after)];
    return isDeepStrictEqual(from, to) ? [] : [{ verb, from, to }];
  });
  return [
    ...changed,
    ...subscriptions('subscribed', before.subscribedUsers, after.subscribedUsers),
    ...subscriptions('unsubscribed', before.unsubscribedUsers, after.unsubscribedUsers),
    ...suggestionMoves(before, after),
  ];
}

/** Those who subscribed, or unsubscribed: who is on the list and was not before. */
function subscriptions(verb: CommentVerb, before: string | undefined, after: string | undefined): ThreadFieldChange[] {
  const [from, to] = [userIdsIn(before), userIdsIn(after)];
  return to.every((userId) => from.includes(userId)) ? [] : [{ verb, from, to }];
}

function suggestionMoves(before: Thread, after: Thread): ThreadFieldChange[] {
  const [from, to] = [before, after].map(({ suggestion }) => readJson<{ status: string }>(suggestion)?.status);
  if (from === to) return [];
  if (to === 'accepted') return [{ verb: 'suggestionAccepted', from, to }];
  return to === 'rejected' ? [{ verb: 'suggestionRejected', from, to }] : [];
}

function userIdsIn(users: string | undefined): string[] {
  return (readJson<ContentUser[]>(users) ?? []).map(({ userId }) => userId);
}

/** The events of what happened: of what others are to be told of, and what has an event (facts B6). */
export function toEvents(happenings: readonly ContentChange[], at: EventScope): CommentEvent[] {
  const {
    organization: { organizationId },
    document: { documentId },
  } = at.names;
  return happenings.flatMap((happening): CommentEvent[] => {
    const event = commentVerbs[happening.verb];
    if (!happening.notify || !isEvent(event)) return [];
    return [{ event, cause: causeOf(happening, at), organizationId, documentId, payload: payloadOf(happening, at) }];
  });
}

function isEvent(type: string): type is TriggerType {
  return (triggerTypes as readonly string[]).includes(type);
}

/** The activities of what happened: of what is to be logged, where `enabled` says that its verb is. */
export function toActivities(
  happenings: readonly ContentChange[],
  at: EventScope,
  enabled: (verb: CommentVerb) => boolean,
): (OwnActivity & { readonly cause: Cause })[] {
  return happenings
    .filter(({ log, verb }) => log && enabled(verb))
    .map((happening) => {
      const { verb, actor, thread, comment, from, to } = happening;
      const [, phrase] = phrases[verb];
      return {
        cause: causeOf(happening, at),
        featureType: 'comment',
        actionType: verb === 'deleted' && !comment ? 'comment_annotation.delete' : commentVerbs[verb],
        actionUser: actor,
        targetEntityId: thread.annotationId,
        targetSubEntityId: comment && String(comment.commentId),
        changes: from === undefined && to === undefined ? undefined : { [phrases[verb][0]]: { from, to } },
        entityData: toThreadResponse(at.names, { thread, comments: [], more: thread.commentCount > 0 }),
        entityTargetData: comment && toCommentResponse(at.names, comment),
        displayMessageTemplate: `{{actionUser}} ${verb === 'deleted' && !comment ? 'deleted a thread' : phrase}`,
        displayMessageTemplateData: { actionUser: actor.name ?? actor.userId },
      };
    });
}

/** What a verb changes, as activities call it, and how they say it. */
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

/** The time is part of it: what is added again under the id of something that was deleted is not the same change. */
function causeOf({ thread: { annotationId }, comment, revision }: ContentChange, { scope, now }: EventScope): Cause {
  const id = [scope.organizationKey, scope.documentKey, annotationId, ...(comment ? [comment.commentId] : [])];
  return { type: comment ? 'Comment' : 'Thread', id: JSON.stringify(id), revision: `${revision}@${now}` };
}

/** What an event says (facts B7). One that would be too large is reduced to ids, with `truncated: true`: a change never fails because of its event. */
function payloadOf(happening: ContentChange, at: EventScope): EventPayload {
  const audience = audienceOf(happening, at);
  const whole: EventPayload = { source: 'comment', data: dataOf(happening, at), audience };
  return isLongerThan(JSON.stringify(whole), LARGEST_PAYLOAD_BYTES)
    ? { ...whole, data: reducedDataOf(happening, at) }
    : whole;
}

function dataOf(
  { verb, actor, thread, comment, comments = comment ? [comment] : [], reaction, from, to }: ContentChange,
  { names }: EventScope,
): Record<string, unknown> {
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

function reducedDataOf(
  { verb, actor, thread, comment, comments = comment ? [comment] : [], reaction, from, to }: ContentChange,
  { names }: EventScope,
): Record<string, unknown> {
  const idOf = (status: unknown) => ({ id: (status as Status).id });
  const { annotationId, type, commentCount, createdAt, lastUpdated } = thread;
  return {
    actionUser: { userId: actor.userId },
    commentAnnotation: {
      annotationId,
      type,
      comments: comments.map(({ commentId }) => ({ commentId })),
      commentCount,
      createdAt,
      lastUpdated,
    },
    ...(comment && {
      targetComment: {
        commentId: comment.commentId,
        from: { userId: comment.from.userId },
        ...(reaction && { reactionAnnotations: [reactionIds(reaction)] }),
      },
    }),
    metadata: eventMetadataIds(names),
    ...(verb === 'statusChanged' && { oldStatus: idOf(from), newStatus: idOf(to) }),
    ...(verb === 'priorityChanged' && { newPriority: typeof to === 'string' ? to : idOf(to) }),
    ...(isPrivate(thread.visibility) && { visibility: thread.visibility }),
    truncated: true,
  };
}

function reactionIds({ annotationId, icon }: ReactionResponse) {
  return { annotationId, type: 'reaction', icon };
}

/**
 * Whom it concerns: those mentioned in what the change touches, the assignee and the author; of a reaction who wrote the comment. Then who
 * else takes part or subscribed.
 */
function audienceOf(
  { actor, thread, comment, comments = comment ? [comment] : [], reaction }: ContentChange,
  { names, scope }: EventScope,
): Audience {
  const concerned = distinct([
    ...comments.flatMap(commentMentions),
    ...(thread.assignedTo ? [thread.assignedTo.userId] : []),
    thread.from.userId,
  ]);
  const addressed = reaction && comment ? [comment.from.userId] : concerned;
  const unsubscribed = userIdsIn(thread.unsubscribedUsers);
  const others = distinct([...concerned, ...involvedUserIds(thread), ...userIdsIn(thread.subscribedUsers)]);
  const following = others.filter((userId) => !addressed.includes(userId) && !unsubscribed.includes(userId));
  const { annotationId, createdAt } = thread;
  const accessFields = distinct(
    [...comments, ...(comment ? [comment] : [])].flatMap(({ context }) => accessFieldsOf(context) ?? []),
  );
  return {
    actorId: actor.userId,
    addressed,
    following,
    thread: {
      ...threadAccessOf(thread, names.organization.organizationId),
      organizationKey: scope.organizationKey,
      documentKey: scope.documentKey,
      annotationId,
      createdAt,
      ...(comment && { commentId: comment.commentId }),
    },
    ...(accessFields.length > 0 && { accessFields }),
  };
}
