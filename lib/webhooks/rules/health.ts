import * as z from 'zod';
import { addFailure, Failing } from './autoDisable.ts';
import { afterFailure, afterSuccess, Breaker, type BreakerPauses, closedBreaker, sampleWeight } from './breaker.ts';

/**
 * The health of an endpoint: its circuit breaker, its failures, and whether it is slow. A healthy endpoint has no stored health.
 */
export const EndpointHealth = z.object({
  /**
   * The revision of the endpoint (or basic webhook config) with this health. A change of the endpoint makes a new revision, which
   * is healthy at first.
   */
  about: z.number(),
  breaker: Breaker,
  failing: Failing.optional(),
  /** The endpoint counts as slow until this time, epoch ms. Set when an attempt has waited 2 seconds for its answer. */
  slowUntil: z.number().optional(),
  /** The time of the last write, epoch ms. */
  writtenAt: z.number(),
});
export type EndpointHealth = z.output<typeof EndpointHealth>;

/** Returns the health of an endpoint at a revision. It is healthy unless health of the same revision is stored. */
export function healthAt<H extends EndpointHealth>(stored: H | undefined, revision: number): H | EndpointHealth {
  return stored?.about === revision ? stored : { about: revision, breaker: closedBreaker, writtenAt: 0 };
}

/** The endpoint counts as slow after an attempt has waited this long for its answer, in milliseconds. */
export const SLOW_AFTER = 2_000;
const SLOW_FOR = 60_000;

/**
 * Returns whether an endpoint is slow. First attempts at a slow endpoint use the retry queue, so they do not delay first attempts
 * at other endpoints.
 */
export function isSlow({ slowUntil = 0 }: EndpointHealth, now: number): boolean {
  return slowUntil > now;
}

/**
 * Returns the health of an endpoint that is slow for a minute from now. Returns the same object if it counts as slow for at least
 * 30 more seconds.
 */
export function markSlow(health: EndpointHealth, now: number): EndpointHealth {
  return isSlow(health, now + SLOW_FOR / 2) ? health : { ...health, slowUntil: now + SLOW_FOR, writtenAt: now };
}

export interface HealthChange {
  readonly delivered: boolean;
  readonly isProbe: boolean;
  /** A random number from 0 to 1. */
  readonly random: number;
  readonly now: number;
}

/**
 * If an endpoint has failed for this time (milliseconds), every success is counted. Automatic disabling must not miss a success
 * because of sampling.
 */
const LONG_FAILING = 10 * 60_000;

/**
 * Returns the health after an attempt. Returns the same object if nothing must be written, for example if a healthy endpoint stays
 * healthy.
 */
export function afterAttempt(
  health: EndpointHealth,
  { delivered, isProbe, random, now }: HealthChange,
  pauses: BreakerPauses,
): EndpointHealth {
  const { breaker, failing } = health;
  const weight = isProbe ? 1 : sampleWeight(breaker, now, random);
  const endsLongFailing = delivered && failing !== undefined && now - failing.since >= LONG_FAILING;
  if (weight === 0 && !endsLongFailing) return health;
  const attempt = { now, isProbe, weight };
  const next = delivered
    ? { breaker: afterSuccess(breaker, attempt), failing: undefined }
    : { breaker: afterFailure(breaker, attempt, pauses), failing: addFailure(failing, now) };
  return next.breaker === breaker && next.failing === failing ? health : { ...health, ...next, writtenAt: now };
}
