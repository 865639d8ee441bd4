import { claimRecordId, findRecordIds, recordIdKey, releaseRecordId } from '../content/recordIds.ts';
import { type EraseHook, erasePage } from '../content/userRemoval.ts';
import { remove, upsert } from '../table/table.ts';
import { ActivityEntity } from './activities.ts';
import { eraseFromActivity } from './rules.ts';

/**
 * Erases users from the activities of a document, page by page. Also changes activities of immutable logs, because the GDPR takes
 * precedence.
 */
export const eraseActivities: EraseHook = {
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
};
