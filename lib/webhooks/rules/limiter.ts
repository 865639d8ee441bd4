/**
 * The rate limit of an endpoint. Slots are points in time, one interval apart. Each attempt reserves the next free slot. The table
 * stores the time of the first free slot, and advances it atomically.
 */

/**
 * How many milliseconds after its time a slot can be used. In any second, at most 5 % more attempts than the limit can therefore
 * begin.
 */
export const SLOT_TOLERANCE = 50;

/**
 * How much before its slot a deferred message is due, in milliseconds. SQS delays are whole seconds, and messages can be half a
 * second late.
 */
const EARLY = 1_500;
/** How long a worker waits for a slot, in milliseconds. For a later slot, it defers the message. */
const MAX_WAIT_MILLISECONDS = 2_000;

/** A rate limit below this is low: one additional attempt in a second would exceed it by more than a tenth. */
const LOW_RATE = 10;

/** Returns the time between two slots, in milliseconds. `rateLimit` is the number of attempts per second. */
export function slotInterval(rateLimit: number): number {
  return (rateLimit < LOW_RATE ? 1000 + SLOT_TOLERANCE : 1000) / rateLimit;
}

/** How long before its slot a request is prepared, in milliseconds. To read its content takes about as long. */
export const PREPARE_AHEAD = 20;
const MAX_PREPARE_MILLISECONDS = 500;

/**
 * Returns how long before its next slot a request is prepared again, in milliseconds, if the preparation took `duration`. With a
 * fixed time, every slot would expire on a slow machine. An attempt can still begin for this long after a delete call has answered.
 */
export function prepareAhead(duration: number): number {
  return Math.min(MAX_PREPARE_MILLISECONDS, Math.max(PREPARE_AHEAD, duration));
}

const MAX_AHEAD_MILLISECONDS = 1_600;

/**
 * Returns how far ahead of now the next slot must be, in milliseconds, after `expired` slots in a row have expired. The table or
 * the machine is then slow, and a slot that begins now would also expire.
 */
export function reserveAhead(expired: number): number {
  return expired === 0 ? 0 : Math.min(MAX_AHEAD_MILLISECONDS, SLOT_TOLERANCE * 2 ** (expired - 1));
}

/** Whether a slot cannot be used any more. Many late attempts at the same time would exceed the limit. */
export function isSlotExpired(slot: number, now: number): boolean {
  return slot < now - SLOT_TOLERANCE;
}

/**
 * Returns what to do about a reserved slot: wait for it, defer the message, or reserve another slot (`expired`). All times are
 * epoch ms.
 */
export function checkSlot(slot: number, now: number): 'wait' | 'expired' | { readonly deferUntil: number } {
  if (isSlotExpired(slot, now)) return 'expired';
  return slot - now <= MAX_WAIT_MILLISECONDS ? 'wait' : { deferUntil: slot - EARLY };
}
