import * as z from 'zod';
import { involvementKeys, purgeRecords } from '../content/documentPurge.ts';
import { InvolvementEntity } from '../content/involvements.ts';
import { defineContentKind, type Involved } from '../content/kind.ts';
import { renameRecords } from '../content/rename.ts';
import type { Stored } from '../table/entity.ts';
import { notificationHints } from './hints.ts';
import { notificationGuards } from './notificationReader.ts';
import { notificationDeletionOps, NotificationEntity, notificationIds, readNotifications } from './notifications.ts';
import { fitsItem, type Notification, NotificationResponse, toNotificationResponse } from './rules.ts';
import { eraseNotifications, removeNotifiedUser } from './userRemoval.ts';

export const notificationKind = defineContentKind({
  name: 'notification',
  ids: notificationIds,
  involve: {
    field: 'notifications',
    response: () => z.array(NotificationResponse).describe('The notifications that the user caused or received.'),
    read: readNotifications,
    toResponse: (names, notification: Notification) => toNotificationResponse(names, notification),
    access: {
      async read(table, scope, organizationId, records: readonly Involved<Stored<Notification>>[]) {
        const located = records.map(({ record, involvement: { documentKey } }) => ({
          notification: record,
          documentKey,
        }));
        const guards = await notificationGuards(table, scope, organizationId, located);
        return guards.map((guard) => ({ ...guard, needsDocumentAccess: guard.thread !== undefined }));
      },
    },
  },
  locate: {
    entity: NotificationEntity,
    move(notification: Notification, stored) {
      const moved = { ...notification, ...stored };
      return fitsItem(moved) ? moved : undefined;
    },
    deletion: { ops: (scope, notification: Stored<Notification>) => notificationDeletionOps(scope, notification) },
  },
  rename: [renameRecords(NotificationEntity, { ids: { of: notificationIds, idOf: ({ id }) => id } })],
  purge: {
    document: purgeRecords(
      [NotificationEntity, InvolvementEntity],
      notificationIds,
      NotificationEntity,
      (document, records) => ({
        ids: records.map(({ id }) => id),
        keys: involvementKeys(records.flatMap((record) => notificationDeletionOps(document, record))),
      }),
    ),
    organization: 'none',
  },
  hint: notificationHints,
  remove: removeNotifiedUser,
  erase: eraseNotifications,
});
