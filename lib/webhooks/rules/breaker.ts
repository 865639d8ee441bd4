import * as z from 'zod';

/**
 * The circuit breaker of an endpoint. A closed breaker lets attempts pass and counts failures. An open breaker blocks attempts for
 * a pause. After the pause, it lets one attempt pass: the probe.
 */
export const Breaker = z.object({
  /** The number of failures since the last success. */
  inARow: z.number(),
  /** The counts of the current window, which starts at a failure (`since`, epoch ms) and lasts 5 minutes. */
  window: z.object({ since: z.number(), attempts: z.number(), failures: z.number() }).optional(),
  /** Present while the breaker is open: the end of the pause (epoch ms) and its length (milliseconds). */
  open: z.object({ until: z.number(), pauseMs: z.number() }).optional(),
});
export type Breaker = z.output<typeof Breaker>;

export const closedBreaker: Breaker = { inARow: 0 };

const MAX_CONSECUTIVE_FAILURES = 10;
const WINDOW = 5 * 60_000;
/** The share of failures in a window opens the breaker only after this number of attempts. */
const MIN_WINDOW_ATTEMPTS = 10;
const MAX_FAILURE_SHARE = 0.7;
/** How long a probe blocks other attempts, in milliseconds. The probe itself always takes less time. */
export const PROBE_LEASE = 30_000;

/** The lengths of the first and the longest pause, in milliseconds. */
export interface BreakerPauses {
  readonly first: number;
  readonly longest: number;
}

/**
 * Returns a first pause of 30 seconds and a longest pause of 15 minutes. If the longest pause of the retry schedule is shorter than
 * one of them, it replaces that value.
 */
export function breakerPauses(schedule: readonly number[]): BreakerPauses {
  const most = Math.max(1_000, ...schedule);
  return { first: Math.min(30_000, most), longest: Math.min(15 * 60_000, most) };
}

/**
 * The state of a breaker. `closed` lets all attempts pass. `probe` lets one attempt pass, because the pause is over. `pausedUntil`
 * (epoch ms) is the end of a pause.
 */
export type BreakerState = 'closed' | 'probe' | { readonly pausedUntil: number };

export function checkBreaker({ open }: Breaker, now: number): BreakerState {
  if (!open) return 'closed';
  return open.until <= now ? 'probe' : { pausedUntil: open.until };
}

/** Returns the breaker after an attempt became the probe. It blocks all other attempts for `PROBE_LEASE`. */
export function takeProbe(breaker: Breaker, now: number): Breaker {
  return pausedUntil(breaker, now + PROBE_LEASE);
}

/** Returns the breaker after the probe has ended without a request. The next attempt becomes the probe. */
export function returnProbe(breaker: Breaker, now: number): Breaker {
  return pausedUntil(breaker, now);
}

function pausedUntil(breaker: Breaker, until: number): Breaker {
  return { ...breaker, open: { pauseMs: breaker.open?.pauseMs ?? 0, until } };
}

/** An attempt that ended at `now`, epoch ms. */
export interface EndedAttempt {
  readonly now: number;
  readonly isProbe: boolean;
  /** The number of attempts for which this attempt counts (see `sampleWeight`). */
  readonly weight: number;
}

/**
 * Returns the breaker after a failure. It opens after 10 failures in a row, or if at least 70 % of 10 or more attempts in a window
 * failed. A failed probe doubles the pause. Returns the same object if the breaker is open and the attempt is not the probe.
 */
export function afterFailure(breaker: Breaker, { now, isProbe, weight }: EndedAttempt, pauses: BreakerPauses): Breaker {
  if (breaker.open && !isProbe) return breaker;
  if (breaker.open) {
    const pauseMs = Math.min(2 * breaker.open.pauseMs, pauses.longest);
    return { ...breaker, open: { until: now + pauseMs, pauseMs } };
  }
  const { since, attempts, failures } = currentWindow(breaker, now) ?? { since: now, attempts: 0, failures: 0 };
  const inARow = breaker.inARow + 1;
  const window = { since, attempts: attempts + weight, failures: failures + weight };
  const opens =
    inARow >= MAX_CONSECUTIVE_FAILURES ||
    (window.attempts >= MIN_WINDOW_ATTEMPTS && window.failures / window.attempts >= MAX_FAILURE_SHARE);
  return opens ? { inARow, open: { until: now + pauses.first, pauseMs: pauses.first } } : { inARow, window };
}

/** Returns the breaker after a success. A successful probe closes an open breaker. Returns the same object if nothing changes. */
export function afterSuccess(breaker: Breaker, { now, isProbe, weight }: EndedAttempt): Breaker {
  if (breaker.open) return isProbe ? closedBreaker : breaker;
  const window = currentWindow(breaker, now);
  if (window) return { inARow: 0, window: { ...window, attempts: window.attempts + weight } };
  return breaker.inARow > 0 ? closedBreaker : breaker;
}

/** Up to this number of attempts in a window, every attempt is counted. */
const ALL_COUNTED = 100;
const MIN_SAMPLE_SHARE = 1 / 50;

/**
 * Returns the number of attempts for which this attempt counts, or 0 if it is not counted. Every counted attempt writes the same
 * item, so only a sample is counted if there are many attempts. `random` is from 0 to 1.
 */
export function sampleWeight(breaker: Breaker, now: number, random: number): number {
  const share = Math.max(MIN_SAMPLE_SHARE, Math.min(1, ALL_COUNTED / (currentWindow(breaker, now)?.attempts ?? 0)));
  return random < share ? 1 / share : 0;
}

function currentWindow({ window }: Breaker, now: number): Breaker['window'] {
  return window && now - window.since < WINDOW ? window : undefined;
}
