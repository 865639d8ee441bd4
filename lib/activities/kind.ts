import { purgeRecords } from '../content/documentPurge.ts';
import { defineContentKind } from '../content/kind.ts';
import { RecordIdEntity, recordIdKey } from '../content/recordIds.ts';
import { ActivityEntity } from './activities.ts';
import { eraseActivities } from './userRemoval.ts';

export const activityKind = defineContentKind({
  name: 'activity',
  purge: {
    document: purgeRecords([ActivityEntity, RecordIdEntity], ActivityEntity, (_document, records) => ({
      recordIds: records.map(({ id }) => recordIdKey('activity', id)),
      keys: [],
    })),
    organization: 'none',
  },
  // A removed user stays in the log of activities.
  remove: 'none',
  erase: eraseActivities,
});
