/**
 * The rate limit of an endpoint. Slots are points in time, one interval apart. Each attempt reserves the next free slot. The table
 * stores the time of the first free slot and advances it atomically.
 */

/**
 * A slot can be used for this many milliseconds after its time. In any second, up to 5 % more attempts than the limit can therefore
 * begin.
 */
export const SLOT_TOLERANCE = 50;

/**
 * A deferred message is due this many milliseconds before its slot. SQS delays are whole seconds, and messages can be half a second
 * late.
 */
const EARLY = 1_500;
/** A worker waits up to this many milliseconds for a slot. For a later slot, it defers the message. */
const MAX_WAIT_MILLISECONDS = 2_000;

/** Below this rate, one additional attempt in a second would exceed the limit by more than a tenth. */
const LOW_RATE = 10;

/** Returns the time between two slots, in milliseconds. `rateLimit` is the number of attempts per second. */
export function slotInterval(rateLimit: number): number {
  return (rateLimit < LOW_RATE ? 1000 + SLOT_TOLERANCE : 1000) / rateLimit;
}

/** A request is prepared this many milliseconds before its slot. Reading its content takes about as long. */
export const PREPARE_AHEAD = 20;
const MAX_PREPARE_MILLISECONDS = 500;

/**
 * Returns how long before its next slot a request is prepared again, in milliseconds, after a preparation that took `duration`.
 * With a fixed time, every slot would expire on a slow machine. This is also the time for which attempts can still begin after a
 * delete call has answered.
 */
export function prepareAhead(duration: number): number {
  return Math.min(MAX_PREPARE_MILLISECONDS, Math.max(PREPARE_AHEAD, duration));
}

const MAX_AHEAD_MILLISECONDS = 1_600;

/**
 * Returns how far ahead of now the next slot must be, in milliseconds. `expired` is the number of slots in a row that have expired.
 * If there is one, the table or the machine is slow, and a slot that begins now would also expire.
 */
export function reserveAhead(expired: number): number {
  return expired === 0 ? 0 : Math.min(MAX_AHEAD_MILLISECONDS, SLOT_TOLERANCE * 2 ** (expired - 1));
}

/** Returns whether a slot cannot be used any more. Many late attempts at the same time would exceed the limit. */
export function isSlotExpired(slot: number, now: number): boolean {
  return slot < now - SLOT_TOLERANCE;
}

/**
 * Returns what to do about a reserved slot: wait for it, defer the message, or reserve another slot (`expired`). Times are epoch
 * ms.
 */
export function checkSlot(slot: number, now: number): 'wait' | 'expired' | { readonly deferUntil: number } {
  if (isSlotExpired(slot, now)) return 'expired';
  return slot - now <= MAX_WAIT_MILLISECONDS ? 'wait' : { deferUntil: slot - EARLY };
}
