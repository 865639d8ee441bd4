/**
 * The rate limit of an endpoint by slot reservation (deliveries 2.7): each delivery takes the next place of a row of times that lie one
 * interval apart. The row is one number, the time of the first free slot, which the table moves on atomically.
 */

/**
 * How far a slot may lie back and still be used: by that share of a second the limit can be exceeded. More than a round trip to the table,
 * and half of what is allowed, since what follows before the attempt takes its time, too.
 */
export const TOLERANCE = 50;

/** A message is asked for so much earlier: delays are whole seconds, rounded up, and it may come half a second late. */
const EARLY = 1_500;
/** What is so near is waited for. */
const LONGEST_WAIT = 2_000;

/** The time between two deliveries to an endpoint, milliseconds. */
export function interval(rateLimit: number): number {
  return 1000 / rateLimit;
}

/** What a slot means for a delivery: it may be made at that time, which is near; or it is to come again at another. */
export type Turn = { readonly notBefore: number } | { readonly comeAt: number };

/** The turn that a reserved slot gives; undefined when it is over, which is when another has to be reserved. */
export function turnOf(slot: number, now: number): Turn | undefined {
  if (slot < now - TOLERANCE) return undefined;
  return slot - now <= LONGEST_WAIT ? { notBefore: slot } : { comeAt: slot - EARLY };
}
