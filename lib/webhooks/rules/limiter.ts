/**
 * Slots are points in time, one interval apart. Each attempt reserves the next free slot, which the table stores and
 * advances atomically.
 */

/** In any second, up to 5 % more attempts than the limit can begin, rounded up: from 10 per second on, at most 10 %. */
export const SLOT_TOLERANCE = 50;

/** SQS delays are whole seconds, and messages can be half a second late. */
const EARLY = 1_500;
const MAX_WAIT_MILLISECONDS = 2_000;

/**
 * Below this rate, slots are 5 % further apart, because one attempt too many in a second would be more than a tenth.
 */
const LOW_RATE = 10;

/** DynamoDB could not store all digits of a time plus a shorter interval. */
const MIN_INTERVAL = 0.001;

export function slotInterval(rateLimit: number): number {
  return Math.max(MIN_INTERVAL, (rateLimit < LOW_RATE ? 1000 + SLOT_TOLERANCE : 1000) / rateLimit);
}

export const PREPARE_AHEAD = 20;
const MAX_PREPARE_MILLISECONDS = 500;

/**
 * Returns how long (ms) before its slot a request is prepared, by the `duration` of the last preparation. On a slow
 * machine, a fixed time would let every slot expire. An attempt can begin so long after its endpoint was deleted.
 */
export function prepareAhead(duration: number): number {
  return Math.min(MAX_PREPARE_MILLISECONDS, Math.max(PREPARE_AHEAD, duration));
}

const MAX_AHEAD_MILLISECONDS = 1_600;

/** After an expired slot, the table or the machine is slow: a slot that begins now would expire too. */
export function reserveAhead(expired: number): number {
  return expired === 0 ? 0 : Math.min(MAX_AHEAD_MILLISECONDS, SLOT_TOLERANCE * 2 ** (expired - 1));
}

/** Many late attempts at the same time would exceed the limit. */
export function isSlotExpired(slot: number, now: number): boolean {
  return slot < now - SLOT_TOLERANCE;
}

export function checkSlot(slot: number, now: number): 'wait' | 'expired' | { readonly deferUntil: number } {
  if (isSlotExpired(slot, now)) return 'expired';
  return slot - now <= MAX_WAIT_MILLISECONDS ? 'wait' : { deferUntil: slot - EARLY };
}
