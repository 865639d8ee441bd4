import type { ThreadAccess } from '../../directory/rules/visibility.ts';
import { decodePart } from '../../shared/keyParts.ts';

/**
 * Decides who may read a hint. `former...`: who could read the record before. `user`: about the access of the recipient.
 */
export type Announced =
  | 'thread'
  | 'comment'
  | 'reaction'
  | 'activity'
  | 'notification'
  | 'document'
  | 'former'
  | 'formerNotification'
  | 'user';

export type HintIds = Readonly<Record<string, string | number>>;

/** Without text: clients read the content with their own rights. */
export interface ContentHint {
  readonly type: string;
  readonly at: number;
  readonly ids: HintIds;
}

export interface ItemChange {
  readonly change: 'insert' | 'modify' | 'remove';
  readonly key: { readonly PK: string; readonly SK: string };
  /** The new image, which a removal does not have. */
  readonly item: Readonly<Record<string, unknown>> | undefined;
  /** Returns the old image, which an insertion does not have. */
  readonly before?: () => Readonly<Record<string, unknown>> | undefined;
  readonly at: number;
}

export interface ThreadPosition {
  readonly annotationId: string;
  readonly createdAt: number;
}

/**
 * `record`: users who may read the announced record. `deleted...`, `formerReaders`: users who could see it before.
 * `isForOthers`: also users who have the document open. `removed`: the deleted record, whose readers get the hint.
 */
export type HintAudience =
  | { readonly kind: 'document' }
  | { readonly kind: 'record' }
  | { readonly kind: 'user'; readonly userId: string }
  | { readonly kind: 'deletedThread'; readonly access: ThreadAccess }
  | { readonly kind: 'deletedComment'; readonly thread: ThreadPosition; readonly commentId: number }
  | { readonly kind: 'formerReaders'; readonly formerAccess: ThreadAccess }
  | {
      readonly kind: 'users';
      readonly userIds: readonly string[];
      readonly createdAt: number;
      readonly isForOthers: boolean;
      readonly removed?: Readonly<Record<string, unknown>>;
    };

export interface AddressedHint {
  readonly hint: ContentHint;
  readonly audience: HintAudience;
}

export type Written<T> = ItemChange & { readonly item: T };

export interface KindHints {
  readonly types: Readonly<Record<string, Announced>>;
  readonly written: Readonly<Record<string, (change: Written<never>) => AddressedHint | undefined>>;
  readonly removed: Readonly<Record<string, RemovalHint>>;
}

export interface RemovalHint {
  readonly suffix?: string;
  readonly hint: (change: ItemChange, parts: readonly string[]) => AddressedHint | undefined;
}

/** Pushes whole items, without a version. */
export interface KindPushes {
  readonly entity: string;
  push(item: Readonly<Record<string, unknown>>, now: number): object | undefined;
}

export const verbs = { insert: 'add', modify: 'update', remove: 'delete' } as const;
export const verbsOfWritten = { insert: 'add', modify: 'update', remove: 'update' } as const;

export function hintFor({ at }: ItemChange, type: string, ids: HintIds): AddressedHint {
  return { hint: { type, at, ids }, audience: { kind: 'document' } };
}

export function hintForReaders({ at }: ItemChange, type: string, ids: HintIds): AddressedHint {
  return { hint: { type, at, ids }, audience: { kind: 'record' } };
}

export function removedHint(change: ItemChange, type: string, name: string, part: string): AddressedHint {
  const id = decodePart(part);
  return hintFor(change, type, id === undefined ? {} : { [name]: id });
}

export function partitionName(PK: string): string {
  return PK.slice(PK.lastIndexOf('#') + 1);
}
