import { liveStateMessage } from '../liveState/rules.ts';
import { LiveStateEntity } from '../liveState/liveStates.ts';
import { PresenceEntity } from '../presence/presences.ts';
import { presenceMessage } from '../presence/rules.ts';
import type { ItemChange } from './rules/hints.ts';

/** The entities whose items are published as a whole, without a version. */
export const stateTypes = [PresenceEntity.type, LiveStateEntity.type];

/** Returns the event for a changed presence or live state, or undefined for any other change. */
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
