import { isDeepStrictEqual } from 'node:util';
import { type AddressedHint, type ItemChange, type KindHints, verbs, type Written } from '../content/rules/hints.ts';
import type { Notification } from './rules.ts';

type HintedNotification = Pick<
  Notification,
  'id' | 'documentId' | 'createdAt' | 'notifyUsers' | 'notifyAll' | 'readByUserIds'
>;

export const notificationHints = {
  types: {
    'notification.add': 'notification',
    'notification.update': 'notification',
    'notification.delete': 'formerNotification',
  },
  written: {
    Notification(change: Written<HintedNotification>) {
      const before = change.before?.() as HintedNotification | undefined;
      return hintAbout(change, change.item, before && newReaders(before, change.item));
    },
  },
  removed: {
    NOTIFICATIONS: {
      hint(change) {
        const removed = change.before?.();
        const hint = removed && hintAbout(change, removed as unknown as HintedNotification);
        return hint && { ...hint, audience: { ...hint.audience, removed } };
      },
    },
  },
} as const satisfies KindHints;

/**
 * The users who were marked as readers, if nothing else was changed. Only their badges change. A hint to all recipients
 * about each reader would make as many hints as the square of their number.
 */
export function newReaders(before: HintedNotification, after: HintedNotification): string[] | undefined {
  if (!isDeepStrictEqual(withoutReaders(before), withoutReaders(after))) return undefined;
  const earlier = new Set(before.readByUserIds);
  return (after.readByUserIds ?? []).filter((userId) => !earlier.has(userId));
}

/** Attributes such as the revision begin with `_`. */
function withoutReaders(notification: HintedNotification): object {
  const fields = Object.entries(notification).filter(([name]) => name !== 'readByUserIds' && !name.startsWith('_'));
  return Object.fromEntries(fields);
}

function hintAbout(
  { at, change }: Pick<ItemChange, 'at' | 'change'>,
  { id: notificationId, documentId, createdAt, notifyUsers, notifyAll }: HintedNotification,
  readers?: readonly string[],
): (AddressedHint & { readonly audience: { readonly kind: 'users' } }) | undefined {
  const userIds = readers ?? notifyUsers.map(({ userId }) => userId);
  const isForOthers = readers === undefined && notifyAll;
  if (userIds.length === 0 && !isForOthers) return undefined;
  const hint = { type: `notification.${verbs[change]}`, at, ids: { notificationId, documentId } };
  return { hint, audience: { kind: 'users', userIds, createdAt, isForOthers } };
}
