import { purgeRecords } from '../content/documentPurge.ts';
import { defineContentKind } from '../content/kind.ts';
import { hintForReaders, verbsOfWritten, type Written } from '../content/rules/hints.ts';
import { ActivityEntity, activityIds } from './activities.ts';
import { eraseActivities } from './userRemoval.ts';

export const activityKind = defineContentKind({
  name: 'activity',
  ids: activityIds,
  // Customers get the log of activities per organization, and a change of a location does not rewrite it.
  involve: 'none',
  locate: 'none',
  purge: {
    document: purgeRecords([ActivityEntity], activityIds, ActivityEntity, (_document, records) => ({
      ids: records.map(({ id }) => id),
      keys: [],
    })),
    organization: 'none',
  },
  hint: {
    types: { 'activity.add': 'activity', 'activity.update': 'activity' },
    written: {
      Activity: (change: Written<{ id: string }>) =>
        hintForReaders(change, `activity.${verbsOfWritten[change.change]}`, { activityId: change.item.id }),
    },
    // The key of a removed activity does not say who could read it.
    removed: {},
  },
  // The log still says what a removed user did.
  remove: 'none',
  erase: eraseActivities,
});
