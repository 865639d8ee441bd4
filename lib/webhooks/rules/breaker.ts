import * as z from 'zod';

/**
 * The circuit breaker of an endpoint. While closed, it counts attempts. While open, deliveries pause; after the pause one probe may try. Every
 * change replaces the whole value, by the version that was read.
 */
export const Breaker = z.object({
  /** Failures since the last success. */
  inARow: z.number(),
  /** The attempts since the first failure of the current window, epoch ms. */
  window: z.object({ since: z.number(), attempts: z.number(), failures: z.number() }).optional(),
  /** The end of the current pause, epoch ms, and its length. */
  open: z.object({ until: z.number(), pauseMs: z.number() }).optional(),
});
export type Breaker = z.output<typeof Breaker>;

export const closedBreaker: Breaker = { inARow: 0 };

const MOST_IN_A_ROW = 10;
const WINDOW = 5 * 60_000;
/** The share of failures counts from this many attempts on. */
const SMALLEST_WINDOW = 10;
const LARGEST_SHARE = 0.7;
/** Longer than the attempt of a probe can take, milliseconds. */
export const PROBE_LEASE = 30_000;

/** The length of the first pause and of the longest one, milliseconds. */
export interface BreakerPauses {
  readonly first: number;
  readonly longest: number;
}

/** Returns pauses from 30 seconds to 15 minutes, but never longer than the longest pause of the retry schedule. */
export function breakerPauses(schedule: readonly number[]): BreakerPauses {
  const most = Math.max(1_000, ...schedule);
  return { first: Math.min(30_000, most), longest: Math.min(15 * 60_000, most) };
}

/** Whether deliveries pass. `probe` means that the pause is over, and one delivery may try. */
export type Gate = 'closed' | 'probe' | { readonly pausedUntil: number };

export function checkGate({ open }: Breaker, now: number): Gate {
  if (!open) return 'closed';
  return open.until <= now ? 'probe' : { pausedUntil: open.until };
}

/** Returns the breaker that lets nobody but the probe pass, for as long as its attempt can take. */
export function takeProbe(breaker: Breaker, now: number): Breaker {
  return { ...breaker, open: { pauseMs: breaker.open?.pauseMs ?? 0, until: now + PROBE_LEASE } };
}

/** An attempt that has ended. */
export interface EndedAttempt {
  readonly now: number;
  readonly isProbe: boolean;
  /** How many attempts this one stands for. */
  readonly weight: number;
}

/**
 * Returns the breaker after a failure. It opens after 10 failures in a row, or when 70 % of at least 10 attempts in 5 minutes failed. A failed
 * probe doubles the pause. An attempt that began before the breaker opened changes nothing: the same value is returned.
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
    inARow >= MOST_IN_A_ROW ||
    (window.attempts >= SMALLEST_WINDOW && window.failures / window.attempts >= LARGEST_SHARE);
  return opens ? { inARow, open: { until: now + pauses.first, pauseMs: pauses.first } } : { inARow, window };
}

/** Returns the breaker after a success. A probe closes it. The same value is returned when nothing changes. */
export function afterSuccess(breaker: Breaker, { now, isProbe, weight }: EndedAttempt): Breaker {
  if (breaker.open) return isProbe ? closedBreaker : breaker;
  const window = currentWindow(breaker, now);
  if (window) return { inARow: 0, window: { ...window, attempts: window.attempts + weight } };
  return breaker.inARow > 0 ? closedBreaker : breaker;
}

/** Up to this many attempts in a window are all counted. */
const ALL_COUNTED = 100;
const SMALLEST_SAMPLE = 1 / 50;

/**
 * Returns how many attempts this one stands for; 0 when it is not counted. Every counted attempt writes the same item, and a sample of many
 * attempts says as much. `random` is from 0 to 1.
 */
export function sampleWeight(breaker: Breaker, now: number, random: number): number {
  const share = Math.max(SMALLEST_SAMPLE, Math.min(1, ALL_COUNTED / (currentWindow(breaker, now)?.attempts ?? 0)));
  return random < share ? 1 / share : 0;
}

function currentWindow({ window }: Breaker, now: number): Breaker['window'] {
  return window && now - window.since < WINDOW ? window : undefined;
}
