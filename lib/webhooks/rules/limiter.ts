/**
 * The rate limit of an endpoint. Slots are points in time, one interval apart. Each attempt reserves the next free slot. The table
 * stores the time of the first free slot and advances it atomically.
 */

/**
 * A slot can be used for this many milliseconds after its time. In any second, up to 5 % more attempts than the limit can therefore
 * begin, rounded up to a whole attempt. From 10 attempts per second on, that is at most 10 %.
 */
export const SLOT_TOLERANCE = 50;

/**
 * A deferred message is due this many milliseconds before its slot. SQS delays are whole seconds, and messages can be half a second
 * late.
 */
const EARLY = 1_500;
/** A worker waits up to this many milliseconds for a slot. For a later slot, it defers the message. */
const MAX_WAIT_MILLISECONDS = 2_000;

/**
 * For a limit below this number of attempts per second, slots are 5 % further apart. Otherwise the tolerance would allow one
 * attempt too many in a second, which is more than a tenth of such a low limit.
 */
const LOW_RATE = 10;

/**
 * The shortest time between two slots, in milliseconds. The sum of a time and a much shorter interval has more digits than a number
 * in DynamoDB can have.
 */
const MIN_INTERVAL = 0.001;

/** Returns the time between two slots, in milliseconds. `rateLimit` is the number of attempts per second. */
export function slotInterval(rateLimit: number): number {
  return Math.max(MIN_INTERVAL, (rateLimit < LOW_RATE ? 1000 + SLOT_TOLERANCE : 1000) / rateLimit);
}

/** A request is prepared this many milliseconds before its slot, because reading its content takes about as long. */
export const PREPARE_AHEAD = 20;
const MAX_PREPARE_MILLISECONDS = 500;

/**
 * Returns how long before its slot a request is prepared, in milliseconds, if the last preparation took `duration`. A fixed time
 * would be too short on a slow machine, and every slot would expire. After a delete call has answered, attempts can still begin for
 * the returned time.
 */
export function prepareAhead(duration: number): number {
  return Math.min(MAX_PREPARE_MILLISECONDS, Math.max(PREPARE_AHEAD, duration));
}

const MAX_AHEAD_MILLISECONDS = 1_600;

/**
 * Returns the least time from now to the next slot, in milliseconds. `expired` is the number of slots that have expired one after
 * the other. An expired slot means that the table or the machine is slow, so a slot that begins now would expire too.
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
