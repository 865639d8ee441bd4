import type { EraseHook } from '../content/userRemoval.ts';
import { PresenceEntity } from './presences.ts';

/** Erases the presence of erased users. Items of users who left before are erased too. */
export const erasePresence: EraseHook = {
  entities: [PresenceEntity],
  async erase({ table, scope, removedUsers: { userIds, removedAt } }) {
    const keys = [...userIds].map((userId) => ({ ...scope, userId }));
    const presences = await table.getMany(PresenceEntity, keys);
    const isErased = (index: number) => (presences[index]?.changedAt ?? Infinity) <= removedAt;
    await table.removeKeys(keys.flatMap((key, index) => (isErased(index) ? [PresenceEntity.key(key)] : [])));
    return undefined;
  },
};
