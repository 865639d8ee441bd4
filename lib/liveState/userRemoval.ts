import { type EraseHook, RECORDS_PER_PAGE } from '../content/userRemoval.ts';
import { countDown } from '../table/counters.ts';
import { remove } from '../table/table.ts';
import { LiveStateCountEntity, LiveStateEntity } from './liveStates.ts';

export const eraseLiveStates: EraseHook = {
  entities: [LiveStateEntity],
  async erase({ table, scope, removedUsers: { userIds, removedAt } }, after) {
    const page = await table.query(LiveStateEntity, scope, { limit: RECORDS_PER_PAGE, after });
    for (const { liveStateDataId, userId, at, _r } of page.values) {
      if (userId === undefined || !userIds.has(userId) || at > removedAt) continue;
      // On a conflict, the state stays: another user sent it, or it was sent after the removal.
      const outcome = await table.write([remove(LiveStateEntity, { ...scope, liveStateDataId }, _r)]);
      if (outcome === 'done') await countDown(table, LiveStateCountEntity, scope);
    }
    return page.next;
  },
};
