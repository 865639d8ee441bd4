import * as z from 'zod';
import { addFailure, Failing } from './autoDisable.ts';
import { afterFailure, afterSuccess, Breaker, type BreakerPauses, closedBreaker, sampleWeight } from './breaker.ts';

export const EndpointHealth = z.object({
  /** The revision of the endpoint. Each new revision is healthy at first. */
  about: z.number(),
  breaker: Breaker,
  failing: Failing.optional(),
  /** Epoch ms. Set when an attempt has waited 2 seconds for its answer. */
  slowUntil: z.number().optional(),
  writtenAt: z.number(),
});
export type EndpointHealth = z.output<typeof EndpointHealth>;

/** Without stored health of this revision, the endpoint is healthy. */
export function healthAt<H extends EndpointHealth>(stored: H | undefined, revision: number): H | EndpointHealth {
  return stored?.about === revision ? stored : { about: revision, breaker: closedBreaker, writtenAt: 0 };
}

export const SLOW_AFTER = 2_000;
const SLOW_FOR = 60_000;

/** First attempts at a slow endpoint use the retry queue, so they do not delay those at other endpoints. */
export function isSlow({ slowUntil = 0 }: EndpointHealth, now: number): boolean {
  return slowUntil > now;
}

export function markSlow(health: EndpointHealth, now: number): EndpointHealth {
  return isSlow(health, now + SLOW_FOR / 2) ? health : { ...health, slowUntil: now + SLOW_FOR, writtenAt: now };
}

export interface HealthChange {
  readonly delivered: boolean;
  readonly isProbe: boolean;
  readonly random: number;
  readonly now: number;
}

/** After this time, every success is counted: automatic disabling must not miss one because of sampling. */
const LONG_FAILING = 10 * 60_000;

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
