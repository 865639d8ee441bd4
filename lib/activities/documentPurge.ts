import { purgeRecords } from '../content/documentPurge.ts';
import { RecordIdEntity, recordIdKey } from '../content/recordIds.ts';
import { ActivityEntity } from './activities.ts';

/** Purges the activities of a deleted document. */
export const purgeActivities = purgeRecords([ActivityEntity, RecordIdEntity], ActivityEntity, (_document, records) => ({
  recordIds: records.map(({ id }) => recordIdKey('activity', id)),
  keys: [],
}));
