import * as z from 'zod';
import { defineSchema, limits, list, notTogether, optional, PageToken, withFieldRule } from '../shared/schema.ts';
import { NotificationChange, selectorFields } from './rules.ts';

interface Work {
  readonly notifications?: unknown;
  readonly markAllAsRead?: true | undefined;
}

export const NotificationsUpdate = /* @__PURE__ */ defineSchema(() =>
  z
    .object({
      ...selectorFields,
      verifyUserPermissions: optional(z.boolean()).describe(
        'Whether new readers without access to the document are left out. By default false. Without effect with a user token.',
      ),
      notifications: optional(list(NotificationChange, limits.list)).describe(
        'The changes, each with the id of its notification. Required unless `markAllAsRead` is true.',
      ),
      markAllAsRead: optional(z.literal(true)).describe(
        'Marks all notifications of the user `userId` as read, instead of `notifications`. A user token needs no `userId`.',
      ),
      pageToken: optional(PageToken).describe('Continues a call with `markAllAsRead`.'),
    })
    .check(
      withFieldRule(
        'oneOf',
        ['notifications', 'markAllAsRead'],
        z.refine<Work>(
          ({ notifications, markAllAsRead }) => (notifications === undefined) === (markAllAsRead === true),
          {
            path: ['notifications'],
            error: 'must be given, or markAllAsRead, and not both',
          },
        ),
      ),
      notTogether('pageToken', 'notifications'),
      notTogether('markAllAsRead', 'verifyUserPermissions'),
    ),
);
