/**
 * While the breaker of an endpoint is open, its deliveries are parked: they have no queue message and no entry in the due index. One job of the
 * endpoint probes it at the end of each pause, and releases the deliveries when the breaker has closed.
 */
import { checkGate } from './breaker.ts';
import { type EndpointHealth, healthAt } from './health.ts';

/** What is to happen to the parked deliveries of an endpoint. */
export type ParkingAction =
  /** The endpoint gets no deliveries any more. */
  | { readonly do: 'cancel' }
  | { readonly do: 'wait'; readonly until: number }
  /** Attempt one delivery; its result decides about the others. */
  | { readonly do: 'probe' }
  | { readonly do: 'release' };

/** Decides from the revision of the target (undefined: deleted or disabled) and its stored health. */
export function decideParking(
  target: { readonly _r: number } | undefined,
  health: EndpointHealth | undefined,
  now: number,
): ParkingAction {
  if (!target) return { do: 'cancel' };
  const gate = checkGate(healthAt(health, target._r).breaker, now);
  if (gate === 'closed') return { do: 'release' };
  return gate === 'probe' ? { do: 'probe' } : { do: 'wait', until: gate.pausedUntil };
}

/**
 * Returns when the job of an endpoint must run after its health was written, epoch ms; undefined if the pause did not change. A pause that ended
 * or changed early releases deliveries at once.
 */
export function parkingDueAt(before: EndpointHealth | undefined, after: EndpointHealth): number | undefined {
  const until = after.breaker.open?.until;
  return until === before?.breaker.open?.until ? undefined : (until ?? after.writtenAt);
}

/** How many deliveries per second an endpoint without a rate limit gets when its breaker has closed. */
const PER_SECOND = 50;
/** How far ahead deliveries are released. When the breaker opens again, those that were not attempted yet are parked again, at a write each. */
const AHEAD = 10_000;
const MOST_AT_ONCE = 1_000;

/** The deliveries to release now: how many, and the time of each attempt. Times are epoch ms. */
export interface ReleasePlan {
  readonly count: number;
  /** Returns the time of an attempt by its position, from 0. */
  readonly attemptAt: (position: number) => number;
}

/**
 * Plans the attempts of the next 10 seconds within the rate limit of the endpoint (deliveries per second). `freeSlot` is the first slot of that
 * limit which is not reserved yet: new deliveries take slots too, and come first.
 */
export function planRelease(
  { rateLimit, freeSlot = 0 }: { readonly rateLimit: number | undefined; readonly freeSlot?: number | undefined },
  now: number,
): ReleasePlan {
  const interval = 1000 / (rateLimit ?? PER_SECOND);
  const start = Math.max(now, freeSlot);
  const count = Math.ceil((now + AHEAD - start) / interval);
  return {
    count: Math.max(0, Math.min(MOST_AT_ONCE, count)),
    attemptAt: (position) => Math.round(start + position * interval),
  };
}
