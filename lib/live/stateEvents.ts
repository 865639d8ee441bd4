import { liveStateMessage } from '../liveState/rules.ts';
import { LiveStateEntity } from '../liveState/liveStates.ts';
import { PresenceEntity } from '../presence/presences.ts';
import { presenceMessage } from '../presence/rules.ts';
import type { ItemChange } from './rules/hints.ts';

/** The entities whose items are published whole. Their events have no version. */
export const stateTypes = [PresenceEntity.type, LiveStateEntity.type];

/** Returns the event of a changed presence or live state. Returns undefined for other changes. */
export function toStateEvent({ item }: ItemChange, now: number): object | undefined {
  if (item?._t === PresenceEntity.type) {
    const presence = PresenceEntity.fromItem(item, now);
    return presence && presenceMessage(presence);
  }
  if (item?._t === LiveStateEntity.type) {
    const state = LiveStateEntity.fromItem(item, now);
    return state && liveStateMessage(state);
  }
  return undefined;
}
