/**
 * While a circuit breaker is open, deliveries to its endpoint are parked: they have no queue message and no entry in
 * the due index. One job per open breaker sends a probe after each pause, and releases them when the breaker has
 * closed.
 */
import { checkBreaker } from './breaker.ts';
import { type EndpointHealth, healthAt } from './health.ts';

export type ParkingAction =
  | { readonly do: 'cancel' }
  | { readonly do: 'wait'; readonly until: number }
  | { readonly do: 'probe' }
  | { readonly do: 'release' };

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

/** Returns when the job must run: at once if the write closed the breaker. Undefined if the pause did not change. */
export function parkingDueAt(before: EndpointHealth | undefined, after: EndpointHealth): number | undefined {
  const until = after.breaker.open?.until;
  return until === before?.breaker.open?.until ? undefined : (until ?? after.writtenAt);
}

/**
 * Like `parkingDueAt`, but undefined if the write makes an unfinished pause longer, because the job runs at the end of
 * the shorter one and then waits. The failure of a probe must not postpone a job that is due because the endpoint was
 * changed.
 */
export function parkingRestartAt(before: EndpointHealth | undefined, after: EndpointHealth): number | undefined {
  const dueAt = parkingDueAt(before, after);
  const pausedUntil = before?.about === after.about ? (before.breaker.open?.until ?? 0) : 0;
  return dueAt !== undefined && pausedUntil > after.writtenAt && pausedUntil <= dueAt ? undefined : dueAt;
}

const PER_SECOND = 50;
/** Milliseconds. Short, because each released delivery costs one more write if the breaker opens again. */
const AHEAD = 10_000;
const MAX_WAKEUPS = 1_000;

export interface ReleasePlan {
  readonly count: number;
  readonly attemptAt: (position: number) => number;
}

/**
 * The attempts of the next 10 seconds within the rate limit. Slots before `freeSlot` are reserved by other deliveries.
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
