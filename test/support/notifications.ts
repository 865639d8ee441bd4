import { nda } from './content.ts';
import type { Customer } from './customer.ts';

/** Adds a notification by the user `ada` in the document `nda`. `to` has the ids of its recipients. */
export const addNotification = (
  customer: Customer,
  notificationId: string,
  to: readonly string[] | 'everybody',
  more: object = {},
) =>
  customer.ok('/v2/notifications/add', {
    ...nda,
    notificationId,
    actionUser: { userId: 'ada' },
    notifyUsers: to === 'everybody' ? [] : to.map((userId) => ({ userId })),
    notifyAll: to === 'everybody',
    displayHeadlineMessageTemplate: 'x',
    displayBodyMessage: 'y',
    ...more,
  });

/** Returns the ids of notifications in the form of answers. */
export const notificationIds = (notifications: readonly any[]): string[] => notifications.map(({ id }) => id);
