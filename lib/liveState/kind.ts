import { purgeItems } from '../content/documentPurge.ts';
import { defineContentKind } from '../content/kind.ts';
import { RECORDS_PER_PAGE } from '../content/userRemoval.ts';
import { countDown } from '../table/counters.ts';
import { remove } from '../table/table.ts';
import { LiveStateCountEntity, LiveStateEntity } from './liveStates.ts';
import { liveStateMessage } from './rules.ts';

export const liveStateKind = defineContentKind({
  name: 'liveState',
  ids: 'none',
  involve: 'none',
  locate: 'none',
  rename: 'none',
  purge: { document: purgeItems(LiveStateEntity, LiveStateCountEntity), organization: 'none' },
  hint: {
    entity: LiveStateEntity.type,
    push(item, now) {
      const state = LiveStateEntity.fromItem(item, now);
      return state && liveStateMessage(state);
    },
  },
  // Live states belong to the document, not to the user who sent them last.
  remove: 'none',
  erase: {
    entities: [LiveStateEntity],
    async erase({ table, scope, removedUsers: { userIds, removedAt } }, after) {
      const page = await table.query(LiveStateEntity, scope, { limit: RECORDS_PER_PAGE, after });
      for (const { liveStateDataId, userId, at, _r } of page.values) {
        if (userId === undefined || !userIds.has(userId) || at > removedAt) continue;
        // On a conflict, a newer broadcast has replaced the state, or another worker has removed it.
        const outcome = await table.write([remove(LiveStateEntity, { ...scope, liveStateDataId }, _r)]);
        if (outcome === 'done') await countDown(table, LiveStateCountEntity, scope);
      }
      return page.next;
    },
  },
});
