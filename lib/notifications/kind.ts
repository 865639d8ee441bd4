import { involvementKeys, purgeRecords } from '../content/documentPurge.ts';
import { InvolvementEntity } from '../content/involvements.ts';
import { defineContentKind } from '../content/kind.ts';
import { RecordIdEntity, recordIdKey } from '../content/recordIds.ts';
import { notificationDeletionOps, NotificationEntity } from './notifications.ts';
import { eraseNotifications, removeNotifiedUser } from './userRemoval.ts';

export const notificationKind = defineContentKind({
  name: 'notification',
  purge: {
    document: purgeRecords(
      [NotificationEntity, InvolvementEntity, RecordIdEntity],
      NotificationEntity,
      (document, records) => ({
        recordIds: records.map(({ id }) => recordIdKey('notification', id)),
        keys: involvementKeys(records.flatMap((record) => notificationDeletionOps(document, record))),
      }),
    ),
    organization: 'none',
  },
  remove: removeNotifiedUser,
  erase: eraseNotifications,
});
