import { purgeRecords } from '../content/documentPurge.ts';
import { defineContentKind } from '../content/kind.ts';
import { claimRecordId, findRecordIds, recordIdKey, releaseRecordId } from '../content/recordIds.ts';
import { renameRecords } from '../content/rename.ts';
import { hintForReaders, verbsOfWritten, type Written } from '../content/rules/hints.ts';
import { erasePage } from '../content/userRemoval.ts';
import { remove, upsert } from '../table/table.ts';
import { ActivityEntity, activityIds } from './entities.ts';
import { eraseFromActivity } from './rules.ts';

export const activityKind = defineContentKind({
  name: 'activity',
  ids: activityIds,
  // Activities are a log, which a change of a location does not rewrite. `/v2/activities/get` finds the activities of a
  // user.
  involve: 'none',
  locate: 'none',
  rename: [renameRecords(ActivityEntity, { ids: { of: activityIds, idOf: ({ id }) => id } })],
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
  // Also in immutable logs, because the GDPR takes precedence.
  erase: {
    entities: [ActivityEntity],
    async erase(removal, after) {
      const { table, scope, removedUsers } = removal;
      return erasePage(
        removal,
        ActivityEntity,
        after,
        (activity) => eraseFromActivity(activity, removedUsers) !== activity,
        async ({ id, createdAt }) => {
          // A change of an activity also writes the item of its id. This item is read before the activity, and is written only at
          // the revision that was read. A concurrent change of the activity therefore causes a conflict.
          const [position] = await findRecordIds(table, scope, [recordIdKey('activity', id)]);
          const activity = await table.get(ActivityEntity, { ...scope, id, createdAt });
          const erased = activity && eraseFromActivity(activity, removedUsers);
          if (!activity || erased === activity) return [];
          const idItem = position?.createdAt === createdAt ? position : undefined;
          const idKey = { ...recordIdKey('activity', id), documentId: activity.documentId };
          return [
            erased
              ? upsert(ActivityEntity, { ...scope, ...erased })
              : remove(ActivityEntity, { ...scope, id, createdAt }),
            ...(idItem
              ? [erased ? claimRecordId(scope, idKey, createdAt, idItem) : releaseRecordId(scope, idKey, idItem._r)]
              : []),
          ];
        },
      );
    },
  },
});
