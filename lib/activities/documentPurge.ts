import { purgeRecords } from '../content/documentPurge.ts';
import { RecordIdEntity } from '../content/recordIds.ts';
import { ActivityEntity } from './activities.ts';

/** Purges the activities of a deleted document. */
export const purgeActivities = purgeRecords([ActivityEntity, RecordIdEntity], ActivityEntity, (_document, records) => ({
  recordIds: records.map(({ id }) => ({ kind: 'activity', id, within: '' })),
  keys: [],
}));
