/**
 * While the circuit breaker of an endpoint is open, the endpoint's deliveries are parked. A parked delivery has no queue message
 * and no entry in the due index. Each endpoint with an open breaker has one job. The job sends a probe at the end of each pause,
 * and releases the deliveries when the breaker has closed.
 */
import { checkBreaker } from './breaker.ts';
import { type EndpointHealth, healthAt } from './health.ts';

/** The next action of the job for an endpoint's parked deliveries. Times are epoch ms. */
export type ParkingAction =
  /** Cancel all deliveries, because the endpoint was deleted or disabled. */
  | { readonly do: 'cancel' }
  | { readonly do: 'wait'; readonly until: number }
  /** Attempt one delivery. Its result closes the breaker or doubles the pause. */
  | { readonly do: 'probe' }
  | { readonly do: 'release' };

/**
 * Returns the next action for parked deliveries. `target` is undefined if the endpoint was deleted or disabled. If `health` is of
 * an older revision of the endpoint, the endpoint counts as healthy.
 */
export function decideParking(
  target: { readonly _r: number } | undefined,
  health: EndpointHealth | undefined,
  now: number,
): ParkingAction {
  if (!target) return { do: 'cancel' };
  const breaker = checkBreaker(healthAt(health, target._r).breaker, now);
  if (breaker === 'closed') return { do: 'release' };
  return breaker === 'probe' ? { do: 'probe' } : { do: 'wait', until: breaker.pausedUntil };
}

/**
 * Returns when the job for an endpoint's parked deliveries must run after a write of the endpoint's health, epoch ms. If the write
 * closed the breaker, the job must run at once. Returns undefined if the write did not change the pause.
 */
export function parkingDueAt(before: EndpointHealth | undefined, after: EndpointHealth): number | undefined {
  const until = after.breaker.open?.until;
  return until === before?.breaker.open?.until ? undefined : (until ?? after.writtenAt);
}

/**
 * Returns when a write of the endpoint's health must make the job due, epoch ms. This is `parkingDueAt`, but undefined if the write
 * makes a pause longer that has not ended. The job is due at the end of the shorter pause, and then waits for the end of the longer
 * one. If the endpoint was changed during a probe, the job is due already. The failure of the probe must not postpone it.
 */
export function parkingRestartAt(before: EndpointHealth | undefined, after: EndpointHealth): number | undefined {
  const dueAt = parkingDueAt(before, after);
  const pausedUntil = before?.about === after.about ? (before.breaker.open?.until ?? 0) : 0;
  return dueAt !== undefined && pausedUntil > after.writtenAt && pausedUntil <= dueAt ? undefined : dueAt;
}

/** The number of deliveries per second that are released to an endpoint without a rate limit. */
const PER_SECOND = 50;
/**
 * Deliveries are released up to this far ahead, in milliseconds. If the breaker opens again, each released delivery costs one more
 * write, which parks it again.
 */
const AHEAD = 10_000;
const MAX_WAKEUPS = 1_000;

/** How many deliveries to release now, and when their attempts begin (epoch ms). */
export interface ReleasePlan {
  readonly count: number;
  /** Returns the time of the attempt at a position, from 0. */
  readonly attemptAt: (position: number) => number;
}

/**
 * Plans the attempts of the next 10 seconds within the rate limit of the endpoint (deliveries per second). `freeSlot` is the first
 * free slot of this limit. Slots before it are reserved by other deliveries.
 */
export function planRelease(
  { rateLimit, freeSlot = 0 }: { readonly rateLimit: number | undefined; readonly freeSlot?: number | undefined },
  now: number,
): ReleasePlan {
  const interval = 1000 / (rateLimit ?? PER_SECOND);
  const start = Math.max(now, freeSlot);
  const count = Math.ceil((now + AHEAD - start) / interval);
  return {
    count: Math.max(0, Math.min(MAX_WAKEUPS, count)),
    attemptAt: (position) => Math.round(start + position * interval),
  };
}
