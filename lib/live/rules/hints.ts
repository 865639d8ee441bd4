import { threadIdOf } from '../../activities/rules.ts';
import type { ThreadAccess } from '../../content/rules/visibility.ts';
import { decodePart } from '../../shared/keyParts.ts';

/** The type of a hint, which is a message about a change without its text. */
export type HintType =
  | 'comment_annotation.add'
  | 'comment_annotation.update'
  | 'comment_annotation.delete'
  | 'comment_annotation.hide'
  | 'comment.add'
  | 'comment.update'
  | 'comment.delete'
  | 'reaction.add'
  | 'reaction.update'
  | 'reaction.delete'
  | 'recording.add'
  | 'recording.update'
  | 'recording.delete'
  | 'activity.add'
  | 'activity.update'
  | 'activity.delete'
  | 'notification.add'
  | 'notification.update'
  | 'access.update'
  | 'editor.add'
  | 'editor.delete'
  | 'crdt.update';

/**
 * The type of the last event on a document's channels after a user lost access to the document. Nothing follows on
 * these channels.
 */
export const REVOKED = 'system.revoked';

export type HintIds = Readonly<Record<string, string | number>>;

/** A hint about changed content. Clients read the content with their own rights. */
export interface ContentHint {
  readonly type: Exclude<HintType, 'crdt.update'>;
  /** When the change was written, epoch ms. */
  readonly at: number;
  readonly ids: HintIds;
}

/** A hint about a change of an editor. The event also has the update if it is small enough. */
export interface EditorHint {
  readonly type: 'crdt.update';
  readonly at: number;
  readonly editorId: string;
  /** The internal id of the editor. An editor that is deleted and added again under the same id has another key. */
  readonly editorKey: string;
  /** The version of the update in the editor's log. */
  readonly editorVersion: number;
  /** The user id of the user who changed the editor, if known. */
  readonly by?: string;
}

/** A message about a change, as clients get it. It has ids and no text. */
export type Hint = ContentHint | EditorHint;

/** A hint with its version in the document channel. A client that misses a version calls `/v2/live/changes`. */
export type VersionedHint = Hint & { readonly version: number };

/**
 * A hint of a user's own channel. It has no version. `id` is the sequence number of the stream record. Without it, two
 * changes of the same content within a second would have equal hints, and clients would skip the second.
 */
export type UserHint = Hint & { readonly id: string };

/** A changed item, as a record of the table's stream describes it. */
export interface ItemChange {
  readonly change: 'insert' | 'modify' | 'remove';
  readonly key: { readonly PK: string; readonly SK: string };
  /** The new item. Undefined after a removal, because stream records of removals have only the key. */
  readonly item: Readonly<Record<string, unknown>> | undefined;
  /** When the change was written, epoch ms. */
  readonly at: number;
}

/** The ids of a thread's item within the partition of its document. */
export interface ThreadPosition {
  readonly annotationId: string;
  /** Epoch ms. */
  readonly createdAt: number;
}

/**
 * Who gets a hint:
 * - `document`: everybody who may open the document
 * - `thread`: users who may see the thread. A deleted private thread can no longer be read, so `access` has its rules
 * - `namedThread`: users who may see the thread, if only its id is known
 * - `formerReaders`: users who could see the thread and no longer can
 * - `users`: the recipients of a notification. `others` has the access rules of a new notification for everybody: users who
 *   have the document open and may see the notification get the hint too
 */
export type HintAudience =
  | { readonly kind: 'document' }
  | { readonly kind: 'thread'; readonly thread: ThreadPosition; readonly access?: ThreadAccess | undefined }
  | { readonly kind: 'namedThread'; readonly annotationId: string }
  | { readonly kind: 'formerReaders'; readonly thread: ThreadPosition; readonly formerAccess: ThreadAccess }
  | {
      readonly kind: 'users';
      readonly userIds: readonly string[];
      readonly others?: Omit<ThreadAccess, 'organizationId'>;
    };

/** A hint with its recipients. */
export interface AddressedHint {
  readonly hint: ContentHint;
  readonly audience: HintAudience;
}

const verbs = { insert: 'add', modify: 'update', remove: 'delete' } as const;

const everybody = { kind: 'document' } as const;

type Written<T> = ItemChange & { readonly item: T };
type HintOfWritten = (change: Written<never>) => AddressedHint | undefined;

interface OnThread {
  readonly annotationId: string;
  readonly commentId: number;
  readonly threadCreatedAt: number;
}

interface WrittenNotification {
  readonly id: string;
  readonly documentId: string;
  readonly notifyUsers: readonly { readonly userId: string }[];
  readonly notifyAll?: boolean;
  readonly thread?: Pick<ThreadAccess, 'authorId' | 'visibility' | 'accessFields'>;
  readonly accessFields?: readonly string[];
}

/** The hint of a written item, by entity. */
const hintsOfWritten: Readonly<Record<string, HintOfWritten>> = {
  Thread: (change: Written<ThreadPosition>) =>
    threadHint(change, `comment_annotation.${verbs[change.change]}`, change.item),
  DeletedThread: (change: Written<{ annotationId: string; deletedAt: number; access?: string }>) =>
    deletedThreadHint(change),
  ThreadAccessChange: (change: Written<ThreadPosition & { formerAccess: string }>) => hiddenThreadHint(change),
  Comment: (change: Written<OnThread>) => commentHint(change),
  Reaction: (change: Written<{ annotationId: string; on?: OnThread }>) => reactionHint(change),
  Recording: (change: Written<{ annotationId: string }>) =>
    addressed(change, `recording.${verbs[change.change]}`, { annotationId: change.item.annotationId }),
  Activity: (change: Written<{ id: string; featureType: string; targetEntityId?: string }>) => activityHint(change),
  Notification: (change: Written<WrittenNotification>) => notificationHint(change),
  Editor: (change: Written<{ editorId: string }>) =>
    change.change === 'insert' ? addressed(change, 'editor.add', { editorId: change.item.editorId }) : undefined,
};

/** The hint of a removed item, by partition name. The ids come from the sort key. */
const hintsOfRemoved: Readonly<
  Record<string, (change: ItemChange, parts: readonly string[]) => AddressedHint | undefined>
> = {
  THREADS(change, [createdAt = '', annotationId = '', kind, commentId]) {
    const id = decodePart(annotationId);
    // The removal of a whole thread gives no hint here. It also adds a record of the deletion, and the hint comes from
    // that record.
    if (kind !== 'COMMENT' || id === undefined) return undefined;
    const thread = { annotationId: id, createdAt: Date.parse(createdAt) };
    return threadHint(change, 'comment.delete', thread, { commentId: Number(commentId) });
  },
  REACTIONS: (change, [, id = '']) => removedHint(change, 'reaction.delete', 'reactionId', id),
  RECORDINGS: (change, [, id = '']) => removedHint(change, 'recording.delete', 'annotationId', id),
  ACTIVITIES: (change, [, id = '']) => removedHint(change, 'activity.delete', 'activityId', id),
  EDITORS: (change, [id = '', kind]) =>
    kind === 'META' ? removedHint(change, 'editor.delete', 'editorId', id) : undefined,
};

/** The entities whose changes lead to hints. */
export const hintedTypes = Object.keys(hintsOfWritten);
/** The names of the partitions whose removed items lead to hints. */
export const hintedPartitions = Object.keys(hintsOfRemoved);

/** Returns the hint of a changed item with its recipients, or undefined if the change has none. */
export function hintOf(change: ItemChange): AddressedHint | undefined {
  const { item, key } = change;
  if (item !== undefined) return hintsOfWritten[String(item._t)]?.({ ...change, item: item as never });
  return hintsOfRemoved[partitionName(key.PK)]?.(change, key.SK.split('#'));
}

/** Returns the last part of a partition key, such as `THREADS`. */
export function partitionName(PK: string): string {
  return PK.slice(PK.lastIndexOf('#') + 1);
}

function addressed({ at }: ItemChange, type: ContentHint['type'], ids: HintIds): AddressedHint {
  return { hint: { type, at, ids }, audience: everybody };
}

function threadHint(
  { at }: ItemChange,
  type: ContentHint['type'],
  { annotationId, createdAt }: ThreadPosition,
  ids: HintIds = {},
): AddressedHint {
  const audience = { kind: 'thread', thread: { annotationId, createdAt } } as const;
  return { hint: { type, at, ids: { annotationId, ...ids } }, audience };
}

function deletedThreadHint(
  change: Written<{ annotationId: string; deletedAt: number; access?: string }>,
): AddressedHint | undefined {
  if (change.change !== 'insert') return undefined;
  const { annotationId, deletedAt, access } = change.item;
  const { hint } = addressed(change, 'comment_annotation.delete', { annotationId });
  if (access === undefined) return { hint, audience: everybody };
  const thread = { annotationId, createdAt: deletedAt };
  return { hint, audience: { kind: 'thread', thread, access: JSON.parse(access) as ThreadAccess } };
}

function hiddenThreadHint(change: Written<ThreadPosition & { formerAccess: string }>): AddressedHint {
  const { annotationId, createdAt, formerAccess } = change.item;
  const { hint } = addressed(change, 'comment_annotation.hide', { annotationId });
  const thread = { annotationId, createdAt };
  return { hint, audience: { kind: 'formerReaders', thread, formerAccess: JSON.parse(formerAccess) as ThreadAccess } };
}

function commentHint(change: Written<OnThread>): AddressedHint {
  const { annotationId, commentId, threadCreatedAt: createdAt } = change.item;
  return threadHint(change, `comment.${verbs[change.change]}`, { annotationId, createdAt }, { commentId });
}

function reactionHint(change: Written<{ annotationId: string; on?: OnThread }>): AddressedHint {
  const { annotationId: reactionId, on } = change.item;
  const type = `reaction.${verbs[change.change]}` as const;
  if (on === undefined) return addressed(change, type, { reactionId });
  const { annotationId, commentId, threadCreatedAt: createdAt } = on;
  return threadHint(change, type, { annotationId, createdAt }, { commentId, reactionId });
}

function activityHint(change: Written<{ id: string; featureType: string; targetEntityId?: string }>): AddressedHint {
  const toEverybody = addressed(change, `activity.${verbs[change.change]}`, { activityId: change.item.id });
  const annotationId = threadIdOf(change.item);
  return annotationId === undefined ? toEverybody : { ...toEverybody, audience: { kind: 'namedThread', annotationId } };
}

function notificationHint({
  at,
  change,
  item: { id: notificationId, documentId, notifyUsers, notifyAll, thread, accessFields = [] },
}: Written<WrittenNotification>): AddressedHint | undefined {
  if (change === 'remove') return undefined;
  const userIds = notifyUsers.map(({ userId }) => userId);
  // Each reader changes the notification. Hints to everybody about all these changes would be too many.
  const isForOthers = notifyAll === true && change === 'insert';
  if (userIds.length === 0 && !isForOthers) return undefined;
  const { authorId = '', visibility, accessFields: ofThread = [] } = thread ?? {};
  const others = { authorId, visibility, accessFields: [...ofThread, ...accessFields] };
  const hint = { type: `notification.${verbs[change]}`, at, ids: { notificationId, documentId } } as const;
  return { hint, audience: { kind: 'users', userIds, ...(isForOthers && { others }) } };
}

function removedHint(change: ItemChange, type: ContentHint['type'], name: string, part: string): AddressedHint {
  const id = decodePart(part);
  return addressed(change, type, id === undefined ? {} : { [name]: id });
}

/**
 * Returns the changes without repeated hints. Of hints with the same type and ids, only the last one stays. An `update`
 * hint is left out if the `add` hint of the same ids comes before it, because clients read the newest state after
 * either. Hints about hidden threads all stay, because each has its own recipients.
 */
export function withoutRepetitions<T extends { readonly hint: ContentHint }>(changes: readonly T[]): T[] {
  const identity = (type: string, ids: HintIds) => JSON.stringify([type, ids]);
  const lastOf = new Map(changes.map(({ hint }, index) => [identity(hint.type, hint.ids), index] as const));
  const addedAt = new Map(
    changes.flatMap(({ hint }, index) =>
      hint.type.endsWith('.add') ? [[identity(hint.type.replace(/add$/, 'update'), hint.ids), index] as const] : [],
    ),
  );
  return changes.filter(({ hint }, index) => {
    const name = identity(hint.type, hint.ids);
    const isRepeated = lastOf.get(name) !== index && hint.type !== 'comment_annotation.hide';
    return !isRepeated && (addedAt.get(name) ?? Infinity) > index;
  });
}

/** The internal ids of a document, which the partition keys of its items contain. */
export interface DocumentKeys {
  readonly tenant: string;
  readonly organizationKey: string;
  readonly documentKey: string;
}

/** Returns the document that a content item with this partition key belongs to, or undefined for any other key. */
export function documentOf(PK: string): DocumentKeys | undefined {
  const [scope, tenant, organization, organizationKey, document, documentKey] = PK.split('#');
  if (scope !== 'T' || organization !== 'ORGANIZATION' || document !== 'DOCUMENT') return undefined;
  if (!tenant || !organizationKey || !documentKey) return undefined;
  const decoded = decodePart(tenant);
  return decoded === undefined ? undefined : { tenant: decoded, organizationKey, documentKey };
}
