import * as z from 'zod';
import { Failing, stillFailing } from './autoDisable.ts';
import { afterFailure, afterSuccess, Breaker, type BreakerPauses, closedBreaker, sampleWeight } from './breaker.ts';

/** The failures of an endpoint. An endpoint that never failed has none stored. */
export const EndpointHealth = z.object({
  /** The revision of the endpoint, or of the basic webhook config. Every change of it starts with fresh health. */
  about: z.number(),
  breaker: Breaker,
  failing: Failing.optional(),
  /** Until when the endpoint counts as slow, epoch ms: an attempt waited long for its answer. */
  slowUntil: z.number().optional(),
  /** Epoch ms. */
  writtenAt: z.number(),
});
export type EndpointHealth = z.output<typeof EndpointHealth>;

/** Returns the health of an endpoint at a revision: the stored one, or a healthy one if that is about another revision. */
export function healthAt<H extends EndpointHealth>(stored: H | undefined, revision: number): H | EndpointHealth {
  return stored?.about === revision ? stored : { about: revision, breaker: closedBreaker, writtenAt: 0 };
}

/** An attempt that waits this long for its answer makes its endpoint slow, milliseconds. */
export const SLOW_AFTER = 2_000;
const SLOW_FOR = 60_000;

/** Whether first attempts at the endpoint use the queue of retries, so that they do not hold the workers of the other one. */
export function isSlow({ slowUntil = 0 }: EndpointHealth, now: number): boolean {
  return slowUntil > now;
}

/** Returns the health of an endpoint that does not answer; the same value if it counts as slow for at least half a minute more. */
export function markSlow(health: EndpointHealth, now: number): EndpointHealth {
  return isSlow(health, now + SLOW_FOR / 2) ? health : { ...health, slowUntil: now + SLOW_FOR, writtenAt: now };
}

export interface HealthChange {
  readonly delivered: boolean;
  readonly isProbe: boolean;
  /** From 0 to 1. */
  readonly random: number;
  readonly now: number;
}

/** A success is always counted after the endpoint has failed for this long: it prevents automatic disabling. */
const LONG_FAILING = 10 * 60_000;

/** Returns the health after an attempt; the same value when nothing is to be written. A healthy endpoint costs no write. */
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
    : { breaker: afterFailure(breaker, attempt, pauses), failing: stillFailing(failing, now) };
  return next.breaker === breaker && next.failing === failing ? health : { ...health, ...next, writtenAt: now };
}
