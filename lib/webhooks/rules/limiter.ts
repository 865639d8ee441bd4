/**
 * The rate limit of an endpoint. Each delivery takes the next of a row of slots, which are one interval apart. The row is stored as one
 * number: the time of the first free slot. The table advances it atomically.
 */

/**
 * How many milliseconds after its time a slot can be used. The limit can be exceeded by this share of a second. It is longer than a round trip
 * to the table, and half of what is allowed, because the steps after the reservation take time too.
 */
export const SLOT_TOLERANCE = 50;

/** A deferred message is asked for this much earlier: its delay is rounded up to whole seconds, and it can arrive half a second late. */
const EARLY = 1_500;
/** A slot that is at most this far away is waited for. */
const LONGEST_WAIT = 2_000;

/** Returns the time between two deliveries, milliseconds. `rateLimit` is deliveries per second. */
export function slotInterval(rateLimit: number): number {
  return 1000 / rateLimit;
}

/** Decides about a reserved slot: wait for it, defer the message, or `expired`. All times are epoch ms. */
export function checkSlot(slot: number, now: number): 'wait' | 'expired' | { readonly deferUntil: number } {
  if (slot < now - SLOT_TOLERANCE) return 'expired';
  return slot - now <= LONGEST_WAIT ? 'wait' : { deferUntil: slot - EARLY };
}
