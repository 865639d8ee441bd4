import { purgeItems } from '../content/documentPurge.ts';
import { defineContentKind } from '../content/kind.ts';
import { LiveStateCountEntity, LiveStateEntity } from './liveStates.ts';
import { eraseLiveStates } from './userRemoval.ts';

export const liveStateKind = defineContentKind({
  name: 'liveState',
  ids: 'none',
  involve: 'none',
  locate: 'none',
  purge: { document: purgeItems(LiveStateEntity, LiveStateCountEntity), organization: 'none' },
  // Live states belong to the document, not to the user who sent them last.
  remove: 'none',
  erase: eraseLiveStates,
});
