/**
 * The rate limit of an endpoint. Each delivery takes the next of a row of slots, which are one interval apart. The row is stored as one
 * number: the time of the first free slot. The table advances it atomically.
 */

/** How many milliseconds after its time a slot can be used: at most this share of a second, so at most 5 %, is sent too early. */
export const SLOT_TOLERANCE = 50;

/** A deferred message is asked for this much earlier: its delay is rounded up to whole seconds, and it can arrive half a second late. */
const EARLY = 1_500;
/** A slot that is at most this far away is waited for. */
const LONGEST_WAIT = 2_000;

/** Up to this rate, one delivery too many in a second would exceed the limit by more than a tenth. */
const LOW_RATE = 10;

/** Returns the time between two deliveries, milliseconds. `rateLimit` is deliveries per second. */
export function slotInterval(rateLimit: number): number {
  return (rateLimit < LOW_RATE ? 1000 + SLOT_TOLERANCE : 1000) / rateLimit;
}

/** A request is made this much before its slot, milliseconds: about as long as reading its content takes. */
export const PREPARE_AHEAD = 20;
const LONGEST_PREPARE_AHEAD = 500;

/**
 * Returns how much before its next slot a request is made again, milliseconds, after making it took `duration`. On a slow machine every slot
 * would expire otherwise. It is also how long after the answer to a deletion an attempt can still begin.
 */
export function prepareAhead(duration: number): number {
  return Math.min(LONGEST_PREPARE_AHEAD, Math.max(PREPARE_AHEAD, duration));
}

const LONGEST_AHEAD = 1_600;

/**
 * Returns how far ahead of now the next slot must be, milliseconds, after `expired` slots in a row were used too late. The table or the machine
 * is slow then, and a slot of now would expire again.
 */
export function reserveAhead(expired: number): number {
  return expired === 0 ? 0 : Math.min(LONGEST_AHEAD, SLOT_TOLERANCE * 2 ** (expired - 1));
}

/** Whether a slot was reserved for a time that is over. Late deliveries together would exceed the limit. */
export function isSlotExpired(slot: number, now: number): boolean {
  return slot < now - SLOT_TOLERANCE;
}

/** Decides about a reserved slot: wait for it, defer the message, or `expired`. All times are epoch ms. */
export function checkSlot(slot: number, now: number): 'wait' | 'expired' | { readonly deferUntil: number } {
  if (isSlotExpired(slot, now)) return 'expired';
  return slot - now <= LONGEST_WAIT ? 'wait' : { deferUntil: slot - EARLY };
}
