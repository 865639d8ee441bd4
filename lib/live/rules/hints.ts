import type { ThreadAccess } from '../../directory/rules/visibility.ts';
import { decodePart } from '../../shared/keyParts.ts';

/** The record that a hint announces. `former`: the recipients could read it before. */
export const announcedBy = {
  'comment_annotation.add': 'thread',
  'comment_annotation.update': 'thread',
  'comment_annotation.delete': 'former',
  'comment_annotation.hide': 'former',
  'comment.add': 'comment',
  'comment.update': 'comment',
  'comment.delete': 'former',
  'comment.hide': 'former',
  'reaction.add': 'reaction',
  'reaction.update': 'reaction',
  'recording.add': 'document',
  'recording.update': 'document',
  'recording.delete': 'document',
  'activity.add': 'activity',
  'activity.update': 'activity',
  'notification.add': 'notification',
  'notification.update': 'notification',
  'access.update': 'user',
  'editor.add': 'document',
  'editor.delete': 'document',
  'crdt.update': 'document',
} as const;

export type HintType = keyof typeof announcedBy;

/** The type of what replaces a hint whose record the user may not read now. */
export const HIDDEN = 'hidden';

/** The last event on a document's channels after a user lost access to the document. */
export const REVOKED = 'system.revoked';

export type HintIds = Readonly<Record<string, string | number>>;

export interface ContentHint {
  readonly type: Exclude<HintType, 'crdt.update'>;
  readonly at: number;
  readonly ids: HintIds;
}

export interface EditorHint {
  readonly type: 'crdt.update';
  readonly at: number;
  readonly editorId: string;
  /** An editor that is deleted and added again under the same id has another key. */
  readonly editorKey: string;
  readonly editorVersion: number;
  readonly by?: string;
}

export type Hint = ContentHint | EditorHint;

export type VersionedHint = Hint & { readonly version: number };

/**
 * Without the id, the sequence number of the stream record, two changes of the same content within a second would have
 * equal hints, and clients would skip the second.
 */
export type UserHint = Hint & { readonly id: string };

export type EmptyHint<H extends UserHint | VersionedHint> = Omit<
  Pick<H, Extract<keyof H, 'at' | 'id' | 'version'>>,
  never
> & {
  readonly type: typeof HIDDEN;
};

export interface ItemChange {
  readonly change: 'insert' | 'modify' | 'remove';
  readonly key: { readonly PK: string; readonly SK: string };
  /** Stream records of removals have only the key. */
  readonly item: Readonly<Record<string, unknown>> | undefined;
  /** Epoch ms. */
  readonly at: number;
}

export interface ThreadPosition {
  readonly annotationId: string;
  /** Epoch ms. */
  readonly createdAt: number;
}

/**
 * `record`: users who may read the announced record. `deleted...`, `formerReaders`: users who could see it before.
 * `isForOthers`: also users who have the document open.
 */
export type HintAudience =
  | { readonly kind: 'document' }
  | { readonly kind: 'record' }
  | { readonly kind: 'deletedThread'; readonly access: ThreadAccess }
  | { readonly kind: 'deletedComment'; readonly thread: ThreadPosition; readonly commentId: number }
  | { readonly kind: 'formerReaders'; readonly formerAccess: ThreadAccess }
  | {
      readonly kind: 'users';
      readonly userIds: readonly string[];
      readonly createdAt: number;
      readonly isForOthers: boolean;
    };

export interface AddressedHint {
  readonly hint: ContentHint;
  readonly audience: HintAudience;
}

const verbs = { insert: 'add', modify: 'update', remove: 'delete' } as const;

const everybody = { kind: 'document' } as const;
const readers = { kind: 'record' } as const;
const verbsOfWritten = { insert: 'add', modify: 'update', remove: 'update' } as const;

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
  readonly createdAt: number;
  readonly notifyUsers: readonly { readonly userId: string }[];
  readonly notifyAll?: boolean;
}

interface AccessChange extends ThreadPosition {
  readonly commentId?: number;
  readonly formerAccess: string;
}

const hintsOfWritten: Readonly<Record<string, HintOfWritten>> = {
  Thread: (change: Written<ThreadPosition>) => {
    const { annotationId } = change.item;
    return {
      ...addressed(change, `comment_annotation.${verbsOfWritten[change.change]}`, { annotationId }),
      audience: readers,
    };
  },
  DeletedThread: (change: Written<{ annotationId: string; access?: string }>) => deletedThreadHint(change),
  ThreadAccessChange: (change: Written<AccessChange>) => hiddenRecordHint(change),
  Comment: (change: Written<OnThread>) => commentHint(change),
  Reaction: (change: Written<{ annotationId: string; on?: OnThread }>) => reactionHint(change),
  Recording: (change: Written<{ annotationId: string }>) =>
    addressed(change, `recording.${verbs[change.change]}`, { annotationId: change.item.annotationId }),
  Activity: (change: Written<{ id: string }>) => ({
    ...addressed(change, `activity.${verbsOfWritten[change.change]}`, { activityId: change.item.id }),
    audience: readers,
  }),
  Notification: (change: Written<WrittenNotification>) => notificationHint(change),
  Editor: (change: Written<{ editorId: string }>) =>
    change.change === 'insert' ? addressed(change, 'editor.add', { editorId: change.item.editorId }) : undefined,
};

/**
 * A removed reaction changes its comment, which has a hint. The key of a removed activity does not say who could read
 * it.
 */
const hintsOfRemoved: Readonly<
  Record<string, (change: ItemChange, parts: readonly string[]) => AddressedHint | undefined>
> = {
  THREADS(change, [createdAt = '', annotationId = '', kind, commentId]) {
    const id = decodePart(annotationId);
    // The hint of a removed thread comes from the record of its deletion.
    if (kind !== 'COMMENT' || id === undefined) return undefined;
    const removed = { thread: { annotationId: id, createdAt: Date.parse(createdAt) }, commentId: Number(commentId) };
    const { hint } = addressed(change, 'comment.delete', { annotationId: id, commentId: removed.commentId });
    return { hint, audience: { kind: 'deletedComment', ...removed } };
  },
  RECORDINGS: (change, [, id = '']) => removedHint(change, 'recording.delete', 'annotationId', id),
  EDITORS: (change, [id = '', kind]) =>
    kind === 'META' ? removedHint(change, 'editor.delete', 'editorId', id) : undefined,
};

export const hintedTypes = Object.keys(hintsOfWritten);
export const hintedPartitions = Object.keys(hintsOfRemoved);

export function hintOf(change: ItemChange): AddressedHint | undefined {
  const { item, key } = change;
  if (item !== undefined) return hintsOfWritten[String(item._t)]?.({ ...change, item: item as never });
  return hintsOfRemoved[partitionName(key.PK)]?.(change, key.SK.split('#'));
}

export function partitionName(PK: string): string {
  return PK.slice(PK.lastIndexOf('#') + 1);
}

function addressed({ at }: ItemChange, type: ContentHint['type'], ids: HintIds): AddressedHint {
  return { hint: { type, at, ids }, audience: everybody };
}

function deletedThreadHint(change: Written<{ annotationId: string; access?: string }>): AddressedHint | undefined {
  if (change.change !== 'insert') return undefined;
  const { annotationId, access } = change.item;
  const { hint } = addressed(change, 'comment_annotation.delete', { annotationId });
  if (access === undefined) return { hint, audience: everybody };
  return { hint, audience: { kind: 'deletedThread', access: JSON.parse(access) as ThreadAccess } };
}

function hiddenRecordHint(change: Written<AccessChange>): AddressedHint {
  const { annotationId, commentId, formerAccess } = change.item;
  const { hint } =
    commentId === undefined
      ? addressed(change, 'comment_annotation.hide', { annotationId })
      : addressed(change, 'comment.hide', { annotationId, commentId });
  return { hint, audience: { kind: 'formerReaders', formerAccess: JSON.parse(formerAccess) as ThreadAccess } };
}

function commentHint(change: Written<OnThread>): AddressedHint {
  const { annotationId, commentId } = change.item;
  return {
    ...addressed(change, `comment.${verbsOfWritten[change.change]}`, { annotationId, commentId }),
    audience: readers,
  };
}

function reactionHint(change: Written<{ annotationId: string; on?: OnThread }>): AddressedHint {
  const { annotationId: reactionId, on } = change.item;
  const ids = on ? { annotationId: on.annotationId, commentId: on.commentId, reactionId } : { reactionId };
  return { ...addressed(change, `reaction.${verbsOfWritten[change.change]}`, ids), audience: readers };
}

function notificationHint({
  at,
  change,
  item: { id: notificationId, documentId, createdAt, notifyUsers, notifyAll },
}: Written<WrittenNotification>): AddressedHint | undefined {
  if (change === 'remove') return undefined;
  const userIds = notifyUsers.map(({ userId }) => userId);
  // Each reader changes the notification. Hints to everybody about all these changes would be too many.
  const isForOthers = notifyAll === true && change === 'insert';
  if (userIds.length === 0 && !isForOthers) return undefined;
  const hint = { type: `notification.${verbsOfWritten[change]}`, at, ids: { notificationId, documentId } } as const;
  return { hint, audience: { kind: 'users', userIds, createdAt, isForOthers } };
}

function removedHint(change: ItemChange, type: ContentHint['type'], name: string, part: string): AddressedHint {
  const id = decodePart(part);
  return addressed(change, type, id === undefined ? {} : { [name]: id });
}

/**
 * Of hints with the same type and ids, the last one stays. An `update` after an `add` of the same ids is left out,
 * because clients read the newest state after either. Hints about hidden threads all stay, because each has its own
 * recipients.
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
    const isRepeated = lastOf.get(name) !== index && !hint.type.endsWith('.hide');
    return !isRepeated && (addedAt.get(name) ?? Infinity) > index;
  });
}

export interface DocumentKeys {
  readonly tenant: string;
  readonly organizationKey: string;
  readonly documentKey: string;
}

/** Returns undefined for a key that is not of a document. */
export function documentOf(PK: string): DocumentKeys | undefined {
  const [scope, tenant, organization, organizationKey, document, documentKey] = PK.split('#');
  if (scope !== 'T' || organization !== 'ORGANIZATION' || document !== 'DOCUMENT') return undefined;
  if (!tenant || !organizationKey || !documentKey) return undefined;
  const decoded = decodePart(tenant);
  return decoded === undefined ? undefined : { tenant: decoded, organizationKey, documentKey };
}
