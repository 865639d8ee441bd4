import { purgeItems } from '../content/documentPurge.ts';
import { defineContentKind } from '../content/kind.ts';
import { inParallel } from '../shared/inParallel.ts';
import { remove } from '../table/table.ts';
import { PresenceEntity, presenceWrite } from './presences.ts';
import { endPresence, presenceMessage } from './rules.ts';

const PARALLEL = 8;

export const presenceKind = defineContentKind({
  name: 'presence',
  ids: 'none',
  involve: 'none',
  locate: 'none',
  rename: 'none',
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
  // A write ends the lease, so other clients learn that the user left. After a conflict, the next pass reads again.
  erase: {
    entities: [PresenceEntity],
    isEarly: true,
    async erase({ table, scope, removedUsers: { userIds, removedAt }, clock }) {
      const keys = [...userIds].map((userId) => ({ ...scope, userId }));
      await inParallel(await table.getMany(PresenceEntity, keys), PARALLEL, async (presence) => {
        if (presence?.leaseEndsAt === undefined) {
          if (presence) await table.write([remove(PresenceEntity, { ...scope, ...presence }, presence._r)]);
        } else if (presence.changedAt <= removedAt) {
          await table.write([presenceWrite(scope, endPresence(presence, clock()), presence)]);
        }
      });
      return undefined;
    },
  },
});
