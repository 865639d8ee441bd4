import type { Activity } from '../../activities/rules.ts';
import type { Comment } from '../../comments/rules/comments.ts';
import { readJson } from '../../shared/jsonFields.ts';
import type { Notification } from '../../notifications/rules.ts';
import type { Reaction } from '../../reactions/rules.ts';
import type { Recording } from '../../recordings/rules.ts';
import type { Thread } from '../../comments/rules/threads.ts';
import type { ContentUser } from './user.ts';

/**
 * Pure rules for users who are removed from a document, folder or organization, and for users who are erased (GDPR).
 *
 * An erased user stays as a bare id where other users mention or address the user, in recorded `changes` of activities,
 * and in the customer's own fields. Name, e-mail address, picture and colours are removed from every object with the
 * `userId` of the user. Names in free text cannot be found and stay.
 */

/** The removed or erased users. */
export interface RemovedUsers {
  readonly userIds: ReadonlySet<string>;
  /** Epoch ms. Later records do not change. */
  readonly removedAt: number;
}

type Open = Readonly<Record<string, unknown>>;

/** The personal fields of an object with a `userId`. */
const personalFields: ReadonlySet<string> = new Set([
  'name',
  'email',
  'photoUrl',
  'initial',
  'color',
  'textColor',
  'plan',
]);

/** Returns only the id of a removed user, and other users unchanged. */
function keepId<U extends ContentUser>(user: U, { userIds }: RemovedUsers): U | { userId: string } {
  return userIds.has(user.userId) ? { userId: user.userId } : user;
}

/** Whether a removed user made a record before the removal. */
function isMadeBy(userId: string, at: number, { userIds, removedAt }: RemovedUsers): boolean {
  return at <= removedAt && userIds.has(userId);
}

/** Returns a customer's value without the personal fields beside the `userId` of a removed user, at any depth. */
function removePersonalFields(value: unknown, removed: RemovedUsers): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => removePersonalFields(one, removed));
  const object = value as Open;
  const isOf =
    Object.hasOwn(object, 'userId') && typeof object.userId === 'string' && removed.userIds.has(object.userId);
  const kept = Object.entries(object).filter(([key]) => !isOf || !personalFields.has(key));
  return Object.fromEntries(kept.map(([key, part]) => [key, removePersonalFields(part, removed)]));
}

/** The same for JSON text. Returns the same text when nothing changes. */
function removePersonalFieldsFromText(text: string | undefined, removed: RemovedUsers): string | undefined {
  if (text === undefined || !canMention(text, removed)) return text;
  const before: unknown = JSON.parse(text);
  const after = JSON.stringify(removePersonalFields(before, removed));
  return after === JSON.stringify(before) ? text : after;
}

/** Whether JSON text can contain the id of a removed user. */
function canMention(text: string, { userIds }: RemovedUsers): boolean {
  for (const userId of userIds) if (text.includes(JSON.stringify(userId))) return true;
  return false;
}

/** Returns the changed ones of some JSON text fields. */
function changedFieldsWithoutPersonal<T extends object>(
  record: T,
  fields: readonly (keyof T)[],
  removed: RemovedUsers,
): Partial<T> {
  const changed = fields.flatMap((field) => {
    const before = record[field] as string | undefined;
    const after = removePersonalFieldsFromText(before, removed);
    return after === before ? [] : [[field, after]];
  });
  return Object.fromEntries(changed) as Partial<T>;
}

/** Returns the changed record, or the same object when nothing changes: then nothing is written. */
function withChanges<T extends object>(before: T, changes: Partial<T>): T {
  const different = Object.entries(changes).some(
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(before[field as keyof T]),
  );
  return different ? { ...before, ...changes } : before;
}

/** Returns a list of users (JSON text) without the removed ones. */
function withoutUsers(text: string | undefined, { userIds }: RemovedUsers): string | undefined {
  return text === undefined
    ? undefined
    : JSON.stringify((JSON.parse(text) as ContentUser[]).filter(({ userId }) => !userIds.has(userId)));
}

/** Whether a removed user started the thread: then the thread is removed. */
export function isThreadOf({ from, createdAt }: Pick<Thread, 'from' | 'createdAt'>, removed: RemovedUsers): boolean {
  return isMadeBy(from.userId, createdAt, removed);
}

/**
 * Returns a thread after users were removed: without their subscriptions; of an assignee and author only the id stays.
 */
export function removeFromThread(thread: Thread, removed: RemovedUsers): Thread {
  if (thread.createdAt > removed.removedAt) return thread;
  return withChanges(thread, {
    from: keepId(thread.from, removed),
    assignedTo: thread.assignedTo && keepId(thread.assignedTo, removed),
    subscribedUsers: withoutUsers(thread.subscribedUsers, removed),
    unsubscribedUsers: withoutUsers(thread.unsubscribedUsers, removed),
  });
}

/**
 * Returns a thread after users were erased: without their subscriptions, assignments, status changes and visibility.
 * Its comments and participants are erased separately.
 */
export function eraseFromThread(thread: Thread, removed: RemovedUsers): Thread {
  if (thread.createdAt > removed.removedAt) return thread;
  const { assignedTo, resolvedByUserId, statusUpdatedByUserId, visibility } = thread;
  const other = (userId: string | undefined) =>
    userId === undefined || removed.userIds.has(userId) ? undefined : userId;
  return withChanges(thread, {
    ...removeFromThread(thread, removed),
    assignedTo: assignedTo && other(assignedTo.userId) === undefined ? undefined : assignedTo,
    resolvedByUserId: other(resolvedByUserId),
    statusUpdatedByUserId: other(statusUpdatedByUserId),
    visibility: withoutVisibleUsers(visibility, removed),
    ...changedFieldsWithoutPersonal(
      thread,
      ['targetElement', 'priority', 'customList', 'pageInfo', 'progress', 'actions', 'metadata', 'suggestion'],
      removed,
    ),
  });
}

function withoutVisibleUsers(visibility: Thread['visibility'], { userIds }: RemovedUsers): Thread['visibility'] {
  return visibility?.userIds
    ? { ...visibility, userIds: visibility.userIds.filter((userId) => !userIds.has(userId)) }
    : visibility;
}

/** Whether a removed user wrote the comment. */
export function isCommentOf({ from, createdAt }: Pick<Comment, 'from' | 'createdAt'>, removed: RemovedUsers): boolean {
  return isMadeBy(from.userId, createdAt, removed);
}

/** Returns a comment after its author was removed: only the id of the author stays. */
export function removeFromComment(comment: Comment, removed: RemovedUsers): Comment {
  return isCommentOf(comment, removed) ? withChanges(comment, { from: keepId(comment.from, removed) }) : comment;
}

/** Returns a comment of another user after users were erased: mentioned and addressed users are bare ids. */
export function eraseFromComment(comment: Comment, removed: RemovedUsers): Comment {
  if (comment.createdAt > removed.removedAt) return comment;
  const { to, taggedUserContacts } = comment;
  return withChanges(comment, {
    from: keepId(comment.from, removed),
    to: to && JSON.stringify((readJson<ContentUser[]>(to) ?? []).map((user) => keepId(user, removed))),
    taggedUserContacts:
      taggedUserContacts &&
      JSON.stringify((readJson<Open[]>(taggedUserContacts) ?? []).map((one) => keepTaggedId(one, removed))),
    ...changedFieldsWithoutPersonal(comment, ['attachments', 'agent', 'progress', 'actions', 'metadata'], removed),
  });
}

/** Returns a mention with only the id of an erased user: the text contains the name. */
function keepTaggedId(tagged: Open, { userIds }: RemovedUsers): Open {
  const contact = tagged.contact as Open | null | undefined;
  const userId = tagged.userId ?? contact?.userId;
  if (typeof userId !== 'string' || !userIds.has(userId)) return tagged;
  return {
    ...(tagged.userId != null && { userId }),
    ...(contact?.userId != null && { contact: { userId: contact.userId } }),
  };
}

/** Returns a reaction without the removed users; undefined when no user is left. */
export function removeReactors(reaction: Reaction, removed: RemovedUsers): Reaction | undefined {
  const fromUsers = reaction.fromUsers.filter(({ from, lastUpdated }) => !isMadeBy(from.userId, lastUpdated, removed));
  if (fromUsers.length === 0) return undefined;
  return fromUsers.length === reaction.fromUsers.length ? reaction : { ...reaction, fromUsers };
}

/** Whether a removed user made the recording. */
export function isRecordingOf(
  { from, createdAt }: Pick<Recording, 'from' | 'createdAt'>,
  removed: RemovedUsers,
): boolean {
  return isMadeBy(from.userId, createdAt, removed);
}

/** Returns a recording of another user after users were erased. */
export function eraseFromRecording(recording: Recording, removed: RemovedUsers): Recording {
  return recording.createdAt > removed.removedAt
    ? recording
    : withChanges(
        recording,
        changedFieldsWithoutPersonal(recording, ['attachments', 'transcription', 'metadata'], removed),
      );
}

/**
 * Returns a notification without the removed recipients; of a removed actor only the id stays. Undefined when no
 * recipient is left.
 */
export function removeFromNotification(notification: Notification, removed: RemovedUsers): Notification | undefined {
  const { notifyUsers, notifyAll, actionUser, createdAt } = notification;
  if (createdAt > removed.removedAt) return notification;
  const recipients = notifyUsers.filter(({ userId }) => !removed.userIds.has(userId));
  if (recipients.length === 0 && notifyUsers.length > 0 && !notifyAll) return undefined;
  return withChanges(notification, { notifyUsers: recipients, actionUser: keepId(actionUser, removed) });
}

/** Returns the key of the comment that a notification quotes; undefined when it quotes none. */
export function quotedComment({
  thread,
  notificationSourceData,
}: Notification): { annotationId: string; threadCreatedAt: number; commentId: number } | undefined {
  const { commentId, commentText } = readJson<Open>(notificationSourceData) ?? {};
  return thread && typeof commentId === 'number' && typeof commentText === 'string'
    ? { annotationId: thread.annotationId, threadCreatedAt: thread.createdAt, commentId }
    : undefined;
}

/**
 * Returns a notification after users were erased: without them as recipients and readers, and without a quote of
 * their comment (`quotes`). Undefined when an erased user caused it, or no recipient is left.
 */
export function eraseFromNotification(
  notification: Notification,
  removed: RemovedUsers,
  quotes = false,
): Notification | undefined {
  if (notification.createdAt > removed.removedAt) return notification;
  const remaining = removed.userIds.has(notification.actionUser.userId)
    ? undefined
    : removeFromNotification(notification, removed);
  if (!remaining) return undefined;
  const { readByUserIds, thread } = remaining;
  const readers = readByUserIds?.filter((userId) => !removed.userIds.has(userId));
  const without = withChanges(remaining, {
    readByUserIds: readers?.length === 0 ? undefined : readers,
    // No user has an empty id.
    thread: thread && {
      ...thread,
      authorId: removed.userIds.has(thread.authorId) ? '' : thread.authorId,
      visibility: withoutVisibleUsers(thread.visibility, removed),
    },
    ...changedFieldsWithoutPersonal(
      remaining,
      ['notificationSourceData', 'displayHeadlineMessageTemplateData', 'displayBodyMessageTemplateData', 'metadata'],
      removed,
    ),
  });
  return quotes ? withoutQuote(without) : without;
}

function withoutQuote(notification: Notification): Notification {
  const { commentText, ...data } = readJson<Open>(notification.notificationSourceData) ?? {};
  if (commentText === undefined) return notification;
  const repeats = notification.displayBodyMessage === commentText;
  return { ...notification, notificationSourceData: JSON.stringify(data), ...(repeats && { displayBodyMessage: '' }) };
}

/**
 * Returns an activity after users were erased; undefined when an erased user was the actor. Other activities keep
 * actor, action and time, but lose the snapshot of a record by an erased user, with its changes.
 */
export function eraseFromActivity(activity: Activity, removed: RemovedUsers): Activity | undefined {
  if (activity.createdAt > removed.removedAt) return activity;
  if (removed.userIds.has(activity.actionUser.userId)) return undefined;
  const { entityData, entityTargetData } = activity;
  const [isTheirs, targetIsTheirs] = [isRecordBy(entityData, removed), isRecordBy(entityTargetData, removed)];
  return withChanges(activity, {
    ...changedFieldsWithoutPersonal(
      activity,
      ['changes', 'entityData', 'entityTargetData', 'displayMessageTemplateData'],
      removed,
    ),
    ...(isTheirs && { entityData: undefined }),
    ...(targetIsTheirs && { entityTargetData: undefined, changes: undefined }),
  });
}

/** Whether JSON text is a record by a removed user. */
function isRecordBy(text: string | undefined, removed: RemovedUsers): boolean {
  if (text === undefined || !canMention(text, removed)) return false;
  const { from } = (readJson<Open | null>(text) ?? {}) as { from?: { userId?: unknown } | null };
  return typeof from?.userId === 'string' && removed.userIds.has(from.userId);
}
