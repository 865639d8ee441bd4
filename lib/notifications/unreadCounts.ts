import type { Notification } from './rules.ts';

/** Each count is exact up to this number. */
export const UNREAD_AT_MOST = 99;

/** `isComplete` is false if the list can have further unread notifications. */
export interface UnreadList {
  readonly ids: readonly string[];
  readonly isComplete: boolean;
}

export interface UnreadCounts {
  readonly unread: { readonly forYou: number; readonly all: number };
  readonly more: boolean;
}

export function isUnread({ actionUser, readByUserIds = [] }: Notification, userId: string): boolean {
  return actionUser.userId !== userId && !readByUserIds.includes(userId);
}

/** `own` has the notifications that name the user, `everybody` those for all. A notification can be in both. */
export function unreadCounts(own: UnreadList, everybody: UnreadList): UnreadCounts {
  const all = new Set([...own.ids, ...everybody.ids]).size;
  return {
    unread: { forYou: Math.min(own.ids.length, UNREAD_AT_MOST), all: Math.min(all, UNREAD_AT_MOST) },
    more: all > UNREAD_AT_MOST || !own.isComplete || !everybody.isComplete,
  };
}
