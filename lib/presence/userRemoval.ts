import type { EraseHook } from '../content/userRemoval.ts';
import { inParallel } from '../shared/inParallel.ts';
import { remove } from '../table/table.ts';
import { PresenceEntity, presenceWrite } from './presences.ts';
import { endPresence } from './rules.ts';

const PARALLEL = 8;

/**
 * Ends the presence of erased users, so that other clients learn that they left. After a conflict, the next pass of the
 * erasure reads the presence again.
 */
export const erasePresence: EraseHook = {
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
};
