import type { Activity } from '../../activities/rules.ts';
import type { Comment } from '../../comments/rules/comments.ts';
import { readJson } from './jsonFields.ts';
import type { Notification } from '../../notifications/rules.ts';
import type { Reaction } from '../../reactions/rules.ts';
import type { Recording } from '../../recordings/rules.ts';
import type { Thread } from '../../comments/rules/threads.ts';
import type { ContentUser } from './user.ts';

/**
 * What is left of users in content once they leave (spec 4.18) or are erased (GDPR), as functions of what is stored.
 *
 * Whoever is erased stays as a bare id where others speak of them or did something to them: among those whom a comment mentions or is
 * addressed to, in the values that activities of others record (`changes`), and in what customers keep in fields of their own. Name, e-mail
 * address, picture and colours are removed from every object that names the user by `userId`. What cannot be known stays: a name that
 * somebody typed into a text.
 */

/** Who goes. */
export interface RemovedUsers {
  readonly userIds: ReadonlySet<string>;
  /** Epoch ms: what was made later stays as it is. */
  readonly until: number;
}

type Open = Readonly<Record<string, unknown>>;

/** What an object of a customer's own that names a user can say of the person. */
const personal: ReadonlySet<string> = new Set(['name', 'email', 'photoUrl', 'initial', 'color', 'textColor', 'plan']);

/** A user of whom only the id may stay; others as they are. */
function bare<U extends ContentUser>(user: U, { userIds }: RemovedUsers): U | { userId: string } {
  return userIds.has(user.userId) ? { userId: user.userId } : user;
}

/** Whether somebody who goes made something in time to be concerned. */
function madeBy(userId: string, at: number, { userIds, until }: RemovedUsers): boolean {
  return at <= until && userIds.has(userId);
}

/** A value of a customer's own without what it says of those who go: what stands beside their `userId`, however deep. */
function impersonal(value: unknown, leaving: RemovedUsers): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => impersonal(one, leaving));
  const object = value as Open;
  const isOf =
    Object.hasOwn(object, 'userId') && typeof object.userId === 'string' && leaving.userIds.has(object.userId);
  const kept = Object.entries(object).filter(([key]) => !isOf || !personal.has(key));
  return Object.fromEntries(kept.map(([key, part]) => [key, impersonal(part, leaving)]));
}

/** The same for what is stored as JSON text; the same text where nothing is to go. */
function impersonalText(text: string | undefined, leaving: RemovedUsers): string | undefined {
  if (text === undefined || !mentions(text, leaving)) return text;
  const before: unknown = JSON.parse(text);
  const after = JSON.stringify(impersonal(before, leaving));
  return after === JSON.stringify(before) ? text : after;
}

/** Whether JSON text can name one of those who go. */
function mentions(text: string, { userIds }: RemovedUsers): boolean {
  for (const userId of userIds) if (text.includes(JSON.stringify(userId))) return true;
  return false;
}

/** Some fields of a record without what they say of those who go; nothing of those where that is nothing. */
function impersonalFields<T extends object, F extends keyof T>(
  record: T,
  fields: readonly F[],
  leaving: RemovedUsers,
): Partial<T> {
  const changed = fields.flatMap((field) => {
    const before = record[field] as string | undefined;
    const after = impersonalText(before, leaving);
    return after === before ? [] : [[field, after]];
  });
  return Object.fromEntries(changed) as Partial<T>;
}

/** The record itself when nothing of it changed, so that nobody writes it in vain. */
function changed<T extends object>(before: T, changes: Partial<T>): T {
  const different = Object.entries(changes).some(
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(before[field as keyof T]),
  );
  return different ? { ...before, ...changes } : before;
}

/** Users as JSON text without those who go. */
function others(text: string | undefined, { userIds }: RemovedUsers): string | undefined {
  return text === undefined
    ? undefined
    : JSON.stringify((JSON.parse(text) as ContentUser[]).filter(({ userId }) => !userIds.has(userId)));
}

/** Whether a thread goes whole: with whoever began it. */
export function isThreadOf({ from, createdAt }: Pick<Thread, 'from' | 'createdAt'>, leaving: RemovedUsers): boolean {
  return madeBy(from.userId, createdAt, leaving);
}

/** A thread that stays after users left: they subscribe to it no more, and as the assignee and author only their id stays. */
export function removeFromThread(thread: Thread, leaving: RemovedUsers): Thread {
  if (thread.createdAt > leaving.until) return thread;
  return changed(thread, {
    from: bare(thread.from, leaving),
    assignedTo: thread.assignedTo && bare(thread.assignedTo, leaving),
    subscribedUsers: others(thread.subscribedUsers, leaving),
    unsubscribedUsers: others(thread.unsubscribedUsers, leaving),
  });
}

/**
 * A thread that stays after users were erased: they do not subscribe to it, it is assigned to nobody in their place, does not say that they
 * set its status, and is not shown to them. Its comments are another matter, and with them who takes part in it.
 */
export function eraseFromThread(thread: Thread, leaving: RemovedUsers): Thread {
  if (thread.createdAt > leaving.until) return thread;
  const { assignedTo, resolvedByUserId, statusUpdatedByUserId, visibility } = thread;
  const other = (userId: string | undefined) =>
    userId === undefined || leaving.userIds.has(userId) ? undefined : userId;
  return changed(thread, {
    ...removeFromThread(thread, leaving),
    assignedTo: assignedTo && other(assignedTo.userId) === undefined ? undefined : assignedTo,
    resolvedByUserId: other(resolvedByUserId),
    statusUpdatedByUserId: other(statusUpdatedByUserId),
    visibility: withoutViewers(visibility, leaving),
    ...impersonalFields(
      thread,
      ['targetElement', 'priority', 'customList', 'pageInfo', 'progress', 'actions', 'metadata', 'suggestion'],
      leaving,
    ),
  });
}

function withoutViewers(visibility: Thread['visibility'], { userIds }: RemovedUsers): Thread['visibility'] {
  return visibility?.userIds
    ? { ...visibility, userIds: visibility.userIds.filter((userId) => !userIds.has(userId)) }
    : visibility;
}

/** Whether a comment is one that somebody who goes wrote. */
export function isCommentOf({ from, createdAt }: Pick<Comment, 'from' | 'createdAt'>, leaving: RemovedUsers): boolean {
  return madeBy(from.userId, createdAt, leaving);
}

/** A comment after its author left: of the author only the id stays. */
export function removeFromComment(comment: Comment, leaving: RemovedUsers): Comment {
  return isCommentOf(comment, leaving) ? changed(comment, { from: bare(comment.from, leaving) }) : comment;
}

/** A comment of somebody else after users were erased: those whom it mentions or is addressed to are ids only. One that came later stays as it is. */
export function eraseFromComment(comment: Comment, leaving: RemovedUsers): Comment {
  if (comment.createdAt > leaving.until) return comment;
  const { to, taggedUserContacts } = comment;
  return changed(comment, {
    from: bare(comment.from, leaving),
    to: to && JSON.stringify((readJson<ContentUser[]>(to) ?? []).map((user) => bare(user, leaving))),
    taggedUserContacts:
      taggedUserContacts &&
      JSON.stringify((readJson<Open[]>(taggedUserContacts) ?? []).map((one) => bareTag(one, leaving))),
    ...impersonalFields(comment, ['attachments', 'agent', 'progress', 'actions', 'metadata'], leaving),
  });
}

/** A mention of whom only the id may stay; its text is the name. */
function bareTag(tagged: Open, { userIds }: RemovedUsers): Open {
  const contact = tagged.contact as Open | null | undefined;
  const userId = tagged.userId ?? contact?.userId;
  if (typeof userId !== 'string' || !userIds.has(userId)) return tagged;
  return {
    ...(tagged.userId != null && { userId }),
    ...(contact?.userId != null && { contact: { userId: contact.userId } }),
  };
}

/** A reaction without those who go; undefined when nobody is left. */
export function removeReactors(reaction: Reaction, leaving: RemovedUsers): Reaction | undefined {
  const fromUsers = reaction.fromUsers.filter(({ from, lastUpdated }) => !madeBy(from.userId, lastUpdated, leaving));
  if (fromUsers.length === 0) return undefined;
  return fromUsers.length === reaction.fromUsers.length ? reaction : { ...reaction, fromUsers };
}

/** Whether a recording goes: with whoever made it. */
export function isRecordingOf(
  { from, createdAt }: Pick<Recording, 'from' | 'createdAt'>,
  leaving: RemovedUsers,
): boolean {
  return madeBy(from.userId, createdAt, leaving);
}

/** A recording of somebody else after users were erased. */
export function eraseFromRecording(recording: Recording, leaving: RemovedUsers): Recording {
  return recording.createdAt > leaving.until
    ? recording
    : changed(recording, impersonalFields(recording, ['attachments', 'transcription', 'metadata'], leaving));
}

/** A notification after users left: it is not for them, and of whoever caused it only the id stays. Undefined when it was for nobody else. */
export function removeFromNotification(notification: Notification, leaving: RemovedUsers): Notification | undefined {
  const { notifyUsers, notifyAll, actionUser, createdAt } = notification;
  if (createdAt > leaving.until) return notification;
  const left = notifyUsers.filter(({ userId }) => !leaving.userIds.has(userId));
  if (left.length === 0 && notifyUsers.length > 0 && !notifyAll) return undefined;
  return changed(notification, { notifyUsers: left, actionUser: bare(actionUser, leaving) });
}

/** The comment that a notification quotes, as far as it says so: which one of the thread that it is about. */
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
 * A notification after users were erased: undefined when one of them caused it or it was for nobody else. It is not for them, they are not
 * among its readers, and it does not repeat what they wrote (`quotes` says that it does).
 */
export function eraseFromNotification(
  notification: Notification,
  leaving: RemovedUsers,
  quotes = false,
): Notification | undefined {
  if (notification.createdAt > leaving.until) return notification;
  const left = leaving.userIds.has(notification.actionUser.userId)
    ? undefined
    : removeFromNotification(notification, leaving);
  if (!left) return undefined;
  const { readByUserIds, thread } = left;
  const readers = readByUserIds?.filter((userId) => !leaving.userIds.has(userId));
  const without = changed(left, {
    readByUserIds: readers?.length === 0 ? undefined : readers,
    // Nobody has an empty id: whoever began it sees it no more than others.
    thread: thread && {
      ...thread,
      authorId: leaving.userIds.has(thread.authorId) ? '' : thread.authorId,
      visibility: withoutViewers(thread.visibility, leaving),
    },
    ...impersonalFields(
      left,
      ['notificationSourceData', 'displayHeadlineMessageTemplateData', 'displayBodyMessageTemplateData', 'metadata'],
      leaving,
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
 * An activity after users were erased: undefined when one of them did it. Of others' it keeps who did what and when; a snapshot of something
 * that one of them wrote goes, with what changed of it.
 */
export function eraseFromActivity(activity: Activity, leaving: RemovedUsers): Activity | undefined {
  if (activity.createdAt > leaving.until) return activity;
  if (leaving.userIds.has(activity.actionUser.userId)) return undefined;
  const { entityData, entityTargetData } = activity;
  const [isTheirs, targetIsTheirs] = [isBy(entityData, leaving), isBy(entityTargetData, leaving)];
  return changed(activity, {
    ...impersonalFields(activity, ['changes', 'entityData', 'entityTargetData', 'displayMessageTemplateData'], leaving),
    ...(isTheirs && { entityData: undefined }),
    ...(targetIsTheirs && { entityTargetData: undefined, changes: undefined }),
  });
}

/** Whether JSON text shows something of which somebody who goes is the author. */
function isBy(text: string | undefined, leaving: RemovedUsers): boolean {
  if (text === undefined || !mentions(text, leaving)) return false;
  const { from } = (readJson<Open | null>(text) ?? {}) as { from?: { userId?: unknown } | null };
  return typeof from?.userId === 'string' && leaving.userIds.has(from.userId);
}
