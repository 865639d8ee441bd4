import { purgeItems } from '../content/documentPurge.ts';
import { defineContentKind } from '../content/kind.ts';
import { PresenceEntity } from './presences.ts';
import { presenceMessage } from './rules.ts';
import { erasePresence } from './userRemoval.ts';

export const presenceKind = defineContentKind({
  name: 'presence',
  ids: 'none',
  involve: 'none',
  locate: 'none',
  purge: { document: purgeItems(PresenceEntity), organization: 'none' },
  hint: {
    entity: PresenceEntity.type,
    push(item, now) {
      const presence = PresenceEntity.fromItem(item, now);
      return presence && presenceMessage(presence);
    },
  },
  // A removed user's presence ends with the lease.
  remove: 'none',
  erase: erasePresence,
});
