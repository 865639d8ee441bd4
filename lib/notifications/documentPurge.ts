import { involvementKeys, purgeRecords } from '../content/documentPurge.ts';
import { InvolvementEntity } from '../content/involvements.ts';
import { RecordIdEntity, recordIdKey } from '../content/recordIds.ts';
import { notificationDeletionOps, NotificationEntity } from './notifications.ts';

/** Purges the notifications of a deleted document. */
export const purgeNotifications = purgeRecords(
  [NotificationEntity, InvolvementEntity, RecordIdEntity],
  NotificationEntity,
  (document, records) => ({
    recordIds: records.map(({ id }) => recordIdKey('notification', id)),
    keys: involvementKeys(records.flatMap((record) => notificationDeletionOps(document, record))),
  }),
);
