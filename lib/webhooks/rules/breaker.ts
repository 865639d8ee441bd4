import * as z from 'zod';

/**
 * The circuit breaker of an endpoint. A closed breaker lets attempts pass and counts failures. An open breaker blocks attempts for
 * a pause. After the pause, it lets one attempt pass: the probe.
 */
export const Breaker = z.object({
  /** The number of failures since the last success. */
  inARow: z.number(),
  /** The counts of a window of 5 minutes. It starts at a failure, at `since` (epoch ms). */
  window: z.object({ since: z.number(), attempts: z.number(), failures: z.number() }).optional(),
  /** Present while the breaker is open: the end of the pause (epoch ms) and its length (milliseconds). */
  open: z.object({ until: z.number(), pauseMs: z.number() }).optional(),
});
export type Breaker = z.output<typeof Breaker>;

export const closedBreaker: Breaker = { inARow: 0 };

const MAX_CONSECUTIVE_FAILURES = 10;
const WINDOW = 5 * 60_000;
/** The share of failures in a window opens the breaker only if the window has at least this number of attempts. */
const MIN_WINDOW_ATTEMPTS = 10;
const MAX_FAILURE_SHARE = 0.7;
/** How long a probe blocks other attempts, in milliseconds. The attempt of the probe always takes less time. */
export const PROBE_LEASE = 30_000;

/** The lengths of the first and of the longest pause, in milliseconds. */
export interface BreakerPauses {
  readonly first: number;
  readonly longest: number;
}

/**
 * Returns a first pause of 30 seconds and a longest pause of 15 minutes. Neither is longer than the longest pause of the retry
 * schedule.
 */
export function breakerPauses(schedule: readonly number[]): BreakerPauses {
  const most = Math.max(1_000, ...schedule);
  return { first: Math.min(30_000, most), longest: Math.min(15 * 60_000, most) };
}

/**
 * Whether a breaker lets attempts pass. `probe` means that the pause is over and one attempt may pass. `pausedUntil` is epoch ms.
 */
export type BreakerState = 'closed' | 'probe' | { readonly pausedUntil: number };

export function checkBreaker({ open }: Breaker, now: number): BreakerState {
  if (!open) return 'closed';
  return open.until <= now ? 'probe' : { pausedUntil: open.until };
}

/** Returns the breaker after an attempt became the probe. It blocks all other attempts for the time of `PROBE_LEASE`. */
export function takeProbe(breaker: Breaker, now: number): Breaker {
  return { ...breaker, open: { pauseMs: breaker.open?.pauseMs ?? 0, until: now + PROBE_LEASE } };
}

/** An attempt that has ended at `now`, epoch ms. */
export interface EndedAttempt {
  readonly now: number;
  readonly isProbe: boolean;
  /** The number of attempts that this attempt stands for (see `sampleWeight`). */
  readonly weight: number;
}

/**
 * Returns the breaker after a failure. It opens after 10 failures in a row, or if 70 % of at least 10 attempts in 5 minutes failed.
 * A failed probe doubles the pause. Returns the same value for an attempt that began before the breaker opened.
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

/** Returns the breaker after a success. A successful probe closes an open breaker. Returns the same value if nothing changes. */
export function afterSuccess(breaker: Breaker, { now, isProbe, weight }: EndedAttempt): Breaker {
  if (breaker.open) return isProbe ? closedBreaker : breaker;
  const window = currentWindow(breaker, now);
  if (window) return { inARow: 0, window: { ...window, attempts: window.attempts + weight } };
  return breaker.inARow > 0 ? closedBreaker : breaker;
}

/** The number of attempts in a window up to which every attempt is counted. */
const ALL_COUNTED = 100;
const MIN_SAMPLE_SHARE = 1 / 50;

/**
 * Returns the number of attempts that this attempt stands for, or 0 if this attempt is not counted. Every counted attempt writes
 * the same item, so only a sample of many attempts is counted. `random` is from 0 to 1.
 */
export function sampleWeight(breaker: Breaker, now: number, random: number): number {
  const share = Math.max(MIN_SAMPLE_SHARE, Math.min(1, ALL_COUNTED / (currentWindow(breaker, now)?.attempts ?? 0)));
  return random < share ? 1 / share : 0;
}

function currentWindow({ window }: Breaker, now: number): Breaker['window'] {
  return window && now - window.since < WINDOW ? window : undefined;
}
