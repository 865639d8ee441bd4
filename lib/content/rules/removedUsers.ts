import type { Activity } from '../../activities/rules.ts';
import type { Comment } from '../../comments/rules/comments.ts';
import type { Thread } from '../../comments/rules/threads.ts';
import type { Notification } from '../../notifications/rules.ts';
import type { Reaction } from '../../reactions/rules.ts';
import type { Recording } from '../../recordings/rules.ts';
import { readJson } from '../../shared/jsonFields.ts';
import type { ContentUser } from './contentUser.ts';

/**
 * Pure rules for users who were removed from a document, folder or organization, and for users who were erased (GDPR).
 *
 * An erased user's id stays where other users mention or address the user, in `changes` of activities, and in the customer's own
 * fields. Name, e-mail address, picture and colours are deleted from every object with the `userId` of the user. Names in free
 * text stay, because they cannot be recognised.
 */

/** The removed or erased users. */
export interface RemovedUsers {
  readonly userIds: ReadonlySet<string>;
  /** The time of the removal in epoch ms. Records that were created later do not change. */
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

/** Returns a removed user with only the id. Returns other users unchanged. */
function keepId<U extends ContentUser>(user: U, { userIds }: RemovedUsers): U | { userId: string } {
  return userIds.has(user.userId) ? { userId: user.userId } : user;
}

/**
 * Returns whether a removed user made a record. `at` is the time of the record in epoch ms. Records from after the removal do not
 * count.
 */
function isMadeBy(userId: string, at: number, { userIds, removedAt }: RemovedUsers): boolean {
  return at <= removedAt && userIds.has(userId);
}

/**
 * Returns the value without the personal fields of removed users. An object at any depth belongs to the user whom its `userId`
 * names.
 */
function removePersonalFields(value: unknown, removed: RemovedUsers): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => removePersonalFields(item, removed));
  const object = value as Open;
  const isOfRemovedUser =
    Object.hasOwn(object, 'userId') && typeof object.userId === 'string' && removed.userIds.has(object.userId);
  const remaining = Object.entries(object).filter(([key]) => !isOfRemovedUser || !personalFields.has(key));
  return Object.fromEntries(remaining.map(([key, part]) => [key, removePersonalFields(part, removed)]));
}

/** Returns JSON text after the personal fields of removed users were deleted. Returns the same text if nothing changes. */
function removePersonalFieldsFromText(text: string | undefined, removed: RemovedUsers): string | undefined {
  if (text === undefined || !canMention(text, removed)) return text;
  const before: unknown = JSON.parse(text);
  const after = JSON.stringify(removePersonalFields(before, removed));
  return after === JSON.stringify(before) ? text : after;
}

/** Matches a field `userId` in JSON text as `JSON.stringify` writes it. */
const USER_ID = /"userId":("(?:[^"\\]|\\.)*")/g;

/**
 * Returns whether JSON text can have an object of a removed user. Reads the text once, because an erasure can have 500 users and
 * must read all comments of a thread in one step.
 */
function canMention(text: string, { userIds }: RemovedUsers): boolean {
  for (const [, id = ''] of text.matchAll(USER_ID)) if (userIds.has(JSON.parse(id) as string)) return true;
  return false;
}

/** Returns the new values of the JSON fields that change if the personal fields of removed users are deleted. */
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

/** Returns the record with the changes. Returns the same object if nothing changes, so that callers can skip the write. */
function withChanges<T extends object>(before: T, changes: Partial<T>): T {
  const different = Object.entries(changes).some(
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(before[field as keyof T]),
  );
  return different ? { ...before, ...changes } : before;
}

/** Returns a list of users without the removed users. Both lists are JSON text. */
function withoutUsers(text: string | undefined, { userIds }: RemovedUsers): string | undefined {
  return text === undefined
    ? undefined
    : JSON.stringify((JSON.parse(text) as ContentUser[]).filter(({ userId }) => !userIds.has(userId)));
}

/** Returns whether a removed user started the thread before the removal. Such a thread is deleted. */
export function isThreadOf({ from, createdAt }: Pick<Thread, 'from' | 'createdAt'>, removed: RemovedUsers): boolean {
  return isMadeBy(from.userId, createdAt, removed);
}

/** Returns a thread after users were removed. Their subscriptions are deleted. A removed author or assignee keeps only the id. */
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
 * Returns a thread after users were erased. The thread no longer names these users as subscribers or assignee, in status changes,
 * or in its visibility. The comments and participants of the thread are erased separately.
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
      [
        'status',
        'location',
        'targetElement',
        'priority',
        'customList',
        'pageInfo',
        'progress',
        'actions',
        'metadata',
        'suggestion',
      ],
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

/** Returns a comment after users were removed. A removed author keeps only the id. */
export function removeFromComment(comment: Comment, removed: RemovedUsers): Comment {
  return isCommentOf(comment, removed) ? withChanges(comment, { from: keepId(comment.from, removed) }) : comment;
}

/** Returns another user's comment after users were erased. Erased users whom the comment mentions or addresses keep only the id. */
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

/**
 * Returns a mention of an erased user with only the id, because its other fields can contain the user's name. Returns other
 * mentions unchanged.
 */
function keepTaggedId(tagged: Open, { userIds }: RemovedUsers): Open {
  const contact = tagged.contact as Open | null | undefined;
  const userId = tagged.userId ?? contact?.userId;
  if (typeof userId !== 'string' || !userIds.has(userId)) return tagged;
  return {
    ...(tagged.userId != null && { userId }),
    ...(contact?.userId != null && { contact: { userId: contact.userId } }),
  };
}

/** Returns a reaction without the removed users, or undefined if no user remains. */
export function removeReactors(reaction: Reaction, removed: RemovedUsers): Reaction | undefined {
  const fromUsers = reaction.fromUsers.filter(({ from, lastUpdated }) => !isMadeBy(from.userId, lastUpdated, removed));
  if (fromUsers.length === 0) return undefined;
  return fromUsers.length === reaction.fromUsers.length ? reaction : { ...reaction, fromUsers };
}

/** Returns a reaction after users were erased, or undefined if no user remains. */
export function eraseFromReaction(reaction: Reaction, removed: RemovedUsers): Reaction | undefined {
  const remaining = removeReactors(reaction, removed);
  return remaining && remaining.createdAt <= removed.removedAt
    ? withChanges(remaining, changedFieldsWithoutPersonal(remaining, ['location'], removed))
    : remaining;
}

/** Returns whether a removed user made the recording before the removal. */
export function isRecordingOf(
  { from, createdAt }: Pick<Recording, 'from' | 'createdAt'>,
  removed: RemovedUsers,
): boolean {
  return isMadeBy(from.userId, createdAt, removed);
}

/** Returns another user's recording after users were erased. */
export function eraseFromRecording(recording: Recording, removed: RemovedUsers): Recording {
  return recording.createdAt > removed.removedAt
    ? recording
    : withChanges(
        recording,
        changedFieldsWithoutPersonal(recording, ['location', 'attachments', 'transcription', 'metadata'], removed),
      );
}

/**
 * Returns a notification without the removed recipients. A removed actor keeps only the id. Returns undefined if no recipient
 * remains.
 */
export function removeFromNotification(notification: Notification, removed: RemovedUsers): Notification | undefined {
  const { notifyUsers, notifyAll, actionUser, createdAt } = notification;
  if (createdAt > removed.removedAt) return notification;
  const recipients = notifyUsers.filter(({ userId }) => !removed.userIds.has(userId));
  if (recipients.length === 0 && notifyUsers.length > 0 && !notifyAll) return undefined;
  return withChanges(notification, { notifyUsers: recipients, actionUser: keepId(actionUser, removed) });
}

/** Returns the key of the comment that a notification quotes, or undefined if it quotes none. */
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
 * Returns a notification after users were erased, without erased recipients and readers. If `quotes` is true, the notification
 * quotes a comment of an erased user, and the quote is deleted too. Returns undefined if an erased user caused the notification,
 * or if no recipient remains.
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
    // An empty id stands for an erased author. No real user has an empty id.
    thread: thread && {
      ...thread,
      authorId: removed.userIds.has(thread.authorId) ? '' : thread.authorId,
      visibility: withoutVisibleUsers(thread.visibility, removed),
    },
    ...changedFieldsWithoutPersonal(
      remaining,
      [
        'notificationSourceData',
        'displayHeadlineMessageTemplateData',
        'displayBodyMessageTemplateData',
        'location',
        'metadata',
      ],
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
 * Returns an activity after users were erased, or undefined if an erased user was the actor. A snapshot of a record that an
 * erased user made is deleted. If that record is the target of the activity, `changes` are deleted too.
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
