import { purgeItems } from '../content/documentPurge.ts';
import { defineContentKind } from '../content/kind.ts';
import { LiveStateCountEntity, LiveStateEntity } from './liveStates.ts';
import { liveStateMessage } from './rules.ts';
import { eraseLiveStates } from './userRemoval.ts';

export const liveStateKind = defineContentKind({
  name: 'liveState',
  ids: 'none',
  involve: 'none',
  locate: 'none',
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
  erase: eraseLiveStates,
});
