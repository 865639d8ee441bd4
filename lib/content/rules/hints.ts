import type { ThreadAccess } from '../../directory/rules/visibility.ts';
import { decodePart } from '../../shared/keyParts.ts';

/**
 * Decides who may read a hint. `former`: a record that the recipients could read before. `user`: the access of the
 * recipient.
 */
export type Announced =
  'thread' | 'comment' | 'reaction' | 'activity' | 'notification' | 'document' | 'former' | 'user';

export type HintIds = Readonly<Record<string, string | number>>;

/** Clients read the content with their own rights. */
export interface ContentHint {
  readonly type: string;
  /** Epoch ms. */
  readonly at: number;
  readonly ids: HintIds;
}

export interface ItemChange {
  readonly change: 'insert' | 'modify' | 'remove';
  readonly key: { readonly PK: string; readonly SK: string };
  /** Undefined after a removal: such stream records have only the key. */
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

export type Written<T> = ItemChange & { readonly item: T };

export interface KindHints {
  /** With what they announce. */
  readonly types: Readonly<Record<string, Announced>>;
  /** By entity. */
  readonly written: Readonly<Record<string, (change: Written<never>) => AddressedHint | undefined>>;
  /** By the name of the partition. */
  readonly removed: Readonly<Record<string, RemovalHint>>;
}

export interface RemovalHint {
  /** The end of the sort keys whose removals have hints. By default all have. */
  readonly suffix?: string;
  /** Parts of the sort key. */
  readonly hint: (change: ItemChange, parts: readonly string[]) => AddressedHint | undefined;
}

/** Pushes whole items in place of hints. They have no version. */
export interface KindPushes {
  readonly entity: string;
  /** Returns the event of a written item. `now` is in epoch ms. */
  push(item: Readonly<Record<string, unknown>>, now: number): object | undefined;
}

/** The part of a hint's type for a change. */
export const verbs = { insert: 'add', modify: 'update', remove: 'delete' } as const;
/** The same for items whose removal has another hint. */
export const verbsOfWritten = { insert: 'add', modify: 'update', remove: 'update' } as const;

/** Returns a hint for everybody who may read the document. */
export function hintFor({ at }: ItemChange, type: string, ids: HintIds): AddressedHint {
  return { hint: { type, at, ids }, audience: { kind: 'document' } };
}

/** Returns a hint for the users who may read the announced record. */
export function hintForReaders({ at }: ItemChange, type: string, ids: HintIds): AddressedHint {
  return { hint: { type, at, ids }, audience: { kind: 'record' } };
}

/** Returns the hint of a removed item. `part` is the part of its key with its id, `name` the name of this id in the hint. */
export function removedHint(change: ItemChange, type: string, name: string, part: string): AddressedHint {
  const id = decodePart(part);
  return hintFor(change, type, id === undefined ? {} : { [name]: id });
}

/** Returns the last part of a partition key, such as `THREADS`. */
export function partitionName(PK: string): string {
  return PK.slice(PK.lastIndexOf('#') + 1);
}
