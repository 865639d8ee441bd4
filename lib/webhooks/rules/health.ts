import * as z from 'zod';
import { Failing, stillFailing } from './autoDisable.ts';
import { afterFailure, afterSuccess, Breaker, closedBreaker, type Pauses, weightOf } from './breaker.ts';

/** What is known of an endpoint from the attempts to deliver to it. One that never failed is not known at all. */
export const EndpointHealth = z.object({
  /** The revision of the endpoint, or of the basic webhook config, that it was learnt of: a change of that is a new beginning. */
  about: z.number(),
  breaker: Breaker,
  failing: Failing.optional(),
  /** When it was last written, epoch ms. */
  writtenAt: z.number(),
});
export type EndpointHealth = z.output<typeof EndpointHealth>;

/** What is known of an endpoint at this revision: nothing bad when what is stored was learnt of another one. */
export function healthAt<H extends EndpointHealth>(stored: H | undefined, revision: number): H | EndpointHealth {
  return stored?.about === revision ? stored : { about: revision, breaker: closedBreaker, writtenAt: 0 };
}

export interface Result {
  readonly delivered: boolean;
  readonly probe: boolean;
  /** From 0 to 1. */
  readonly random: number;
  readonly now: number;
}

/** A success is told for certain when an endpoint has been failing for so long: it is what keeps it from being disabled. */
const LONG = 10 * 60_000;

/** What is known after an attempt; the same value when nothing is to be written. A healthy endpoint costs no write. */
export function afterAttempt(
  health: EndpointHealth,
  { delivered, probe, random, now }: Result,
  pauses: Pauses,
): EndpointHealth {
  const { breaker, failing } = health;
  const weight = probe ? 1 : weightOf(breaker, now, random);
  if (weight === 0 && !(delivered && failing && now - failing.since >= LONG)) return health;
  const attempted = { now, probe, weight };
  const next = delivered
    ? { breaker: afterSuccess(breaker, attempted), failing: undefined }
    : { breaker: afterFailure(breaker, attempted, pauses), failing: stillFailing(failing, now) };
  return next.breaker === breaker && next.failing === failing ? health : { ...health, ...next, writtenAt: now };
}
