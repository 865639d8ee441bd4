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
 * The id of an erased user stays where other users mention or address the user, in `changes` of activities, and in the customer's
 * own fields. Name, e-mail address, picture and colours are removed from every object with the `userId` of the user. Names in
 * free text stay, because they cannot be recognised.
 */

/** The removed or erased users. */
export interface RemovedUsers {
  readonly userIds: ReadonlySet<string>;
  /** The time of the removal in epoch ms. Records from after this time do not change. */
  readonly removedAt: number;
}

type Open = Readonly<Record<string, unknown>>;

/** The names of the fields that are personal data in an object with a `userId`. */
const personalFields: ReadonlySet<string> = new Set([
  'name',
  'email',
  'photoUrl',
  'initial',
  'color',
  'textColor',
  'plan',
]);

/** Returns an object with the id only for a removed user. Returns other users unchanged. */
function keepId<U extends ContentUser>(user: U, { userIds }: RemovedUsers): U | { userId: string } {
  return userIds.has(user.userId) ? { userId: user.userId } : user;
}

/** Returns whether one of the removed users made a record of this time (epoch ms) before the removal. */
function isMadeBy(userId: string, at: number, { userIds, removedAt }: RemovedUsers): boolean {
  return at <= removedAt && userIds.has(userId);
}

/** Returns a customer's value without the personal fields of objects, at any depth, whose `userId` is a removed user. */
function removePersonalFields(value: unknown, removed: RemovedUsers): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => removePersonalFields(item, removed));
  const object = value as Open;
  const isOfRemovedUser =
    Object.hasOwn(object, 'userId') && typeof object.userId === 'string' && removed.userIds.has(object.userId);
  const remaining = Object.entries(object).filter(([key]) => !isOfRemovedUser || !personalFields.has(key));
  return Object.fromEntries(remaining.map(([key, part]) => [key, removePersonalFields(part, removed)]));
}

/** Returns JSON text without the personal fields of removed users. Returns the same text if nothing changes. */
function removePersonalFieldsFromText(text: string | undefined, removed: RemovedUsers): string | undefined {
  if (text === undefined || !canMention(text, removed)) return text;
  const before: unknown = JSON.parse(text);
  const after = JSON.stringify(removePersonalFields(before, removed));
  return after === JSON.stringify(before) ? text : after;
}

/** Returns whether JSON text can contain the id of a removed user. */
function canMention(text: string, { userIds }: RemovedUsers): boolean {
  for (const userId of userIds) if (text.includes(JSON.stringify(userId))) return true;
  return false;
}

/** Returns the fields with JSON text that change, without the personal fields of removed users. */
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

/** Returns the changed record, or the same object if nothing changes, so that callers can skip the write. */
function withChanges<T extends object>(before: T, changes: Partial<T>): T {
  const different = Object.entries(changes).some(
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(before[field as keyof T]),
  );
  return different ? { ...before, ...changes } : before;
}

/** Returns a list of users, as JSON text, without the removed users. */
function withoutUsers(text: string | undefined, { userIds }: RemovedUsers): string | undefined {
  return text === undefined
    ? undefined
    : JSON.stringify((JSON.parse(text) as ContentUser[]).filter(({ userId }) => !userIds.has(userId)));
}

/** Returns whether a removed user started the thread before the removal. Such a thread is removed. */
export function isThreadOf({ from, createdAt }: Pick<Thread, 'from' | 'createdAt'>, removed: RemovedUsers): boolean {
  return isMadeBy(from.userId, createdAt, removed);
}

/**
 * Returns a thread after users were removed. Their subscriptions are removed. A removed assignee or author keeps the id only.
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
 * Comments and participants of the thread are erased separately.
 */
export function eraseFromThread(thread: Thread, removed: RemovedUsers): Thread {
  if (thread.createdAt > removed.removedAt) return thread;
  const { assignedTo, resolvedByUserId, statusUpdatedByUserId, visibility } = thread;
  const keepOther = (userId: string | undefined) =>
    userId === undefined || removed.userIds.has(userId) ? undefined : userId;
  return withChanges(thread, {
    ...removeFromThread(thread, removed),
    assignedTo: assignedTo && keepOther(assignedTo.userId) === undefined ? undefined : assignedTo,
    resolvedByUserId: keepOther(resolvedByUserId),
    statusUpdatedByUserId: keepOther(statusUpdatedByUserId),
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

/** Returns whether a removed user wrote the comment before the removal. */
export function isCommentOf({ from, createdAt }: Pick<Comment, 'from' | 'createdAt'>, removed: RemovedUsers): boolean {
  return isMadeBy(from.userId, createdAt, removed);
}

/** Returns a comment after users were removed. A removed author keeps the id only. */
export function removeFromComment(comment: Comment, removed: RemovedUsers): Comment {
  return isCommentOf(comment, removed) ? withChanges(comment, { from: keepId(comment.from, removed) }) : comment;
}

/**
 * Returns a comment of another user after users were erased. Erased users whom the comment mentions or addresses keep the id
 * only.
 */
export function eraseFromComment(comment: Comment, removed: RemovedUsers): Comment {
  if (comment.createdAt > removed.removedAt) return comment;
  const { to, taggedUserContacts } = comment;
  return withChanges(comment, {
    from: keepId(comment.from, removed),
    to: to && JSON.stringify((readJson<ContentUser[]>(to) ?? []).map((user) => keepId(user, removed))),
    taggedUserContacts:
      taggedUserContacts &&
      JSON.stringify((readJson<Open[]>(taggedUserContacts) ?? []).map((tagged) => keepTaggedId(tagged, removed))),
    ...changedFieldsWithoutPersonal(comment, ['attachments', 'agent', 'progress', 'actions', 'metadata'], removed),
  });
}

/** Returns a mention with the id only, if it mentions an erased user. Its other fields can contain the user's name. */
function keepTaggedId(tagged: Open, { userIds }: RemovedUsers): Open {
  const contact = tagged.contact as Open | null | undefined;
  const userId = tagged.userId ?? contact?.userId;
  if (typeof userId !== 'string' || !userIds.has(userId)) return tagged;
  return {
    ...(tagged.userId != null && { userId }),
    ...(contact?.userId != null && { contact: { userId: contact.userId } }),
  };
}

/** Returns a reaction without the removed users. Returns undefined if no user remains. */
export function removeReactors(reaction: Reaction, removed: RemovedUsers): Reaction | undefined {
  const fromUsers = reaction.fromUsers.filter(({ from, lastUpdated }) => !isMadeBy(from.userId, lastUpdated, removed));
  if (fromUsers.length === 0) return undefined;
  return fromUsers.length === reaction.fromUsers.length ? reaction : { ...reaction, fromUsers };
}

/** Returns whether a removed user made the recording before the removal. */
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
 * Returns a notification without the removed recipients. A removed actor keeps the id only. Returns undefined if no recipient
 * remains.
 */
export function removeFromNotification(notification: Notification, removed: RemovedUsers): Notification | undefined {
  const { notifyUsers, notifyAll, actionUser, createdAt } = notification;
  if (createdAt > removed.removedAt) return notification;
  const recipients = notifyUsers.filter(({ userId }) => !removed.userIds.has(userId));
  if (recipients.length === 0 && notifyUsers.length > 0 && !notifyAll) return undefined;
  return withChanges(notification, { notifyUsers: recipients, actionUser: keepId(actionUser, removed) });
}

/** Returns the key of the comment that a notification quotes. Returns undefined if it quotes none. */
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
 * Returns a notification after users were erased: without erased recipients and readers. If it quotes a comment of an erased user
 * (`quotes`), the quote is removed too. Returns undefined if an erased user caused the notification, or if no recipient remains.
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
  const erased = withChanges(remaining, {
    readByUserIds: readers?.length === 0 ? undefined : readers,
    // An empty id stands for an erased author, because no user has an empty id.
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
  return quotes ? withoutQuote(erased) : erased;
}

function withoutQuote(notification: Notification): Notification {
  const { commentText, ...data } = readJson<Open>(notification.notificationSourceData) ?? {};
  if (commentText === undefined) return notification;
  const repeats = notification.displayBodyMessage === commentText;
  return { ...notification, notificationSourceData: JSON.stringify(data), ...(repeats && { displayBodyMessage: '' }) };
}

/**
 * Returns an activity after users were erased. Returns undefined if an erased user was the actor. If the activity has a snapshot
 * of a record that an erased user made, the snapshot is removed. With a removed target, `changes` are removed too.
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

/** Returns whether JSON text is a record that a removed user made. */
function isRecordBy(text: string | undefined, removed: RemovedUsers): boolean {
  if (text === undefined || !canMention(text, removed)) return false;
  const { from } = (readJson<Open | null>(text) ?? {}) as { from?: { userId?: unknown } | null };
  return typeof from?.userId === 'string' && removed.userIds.has(from.userId);
}
