import * as z from 'zod';

/** An open breaker blocks attempts for a pause. Then it lets one attempt pass, the probe. */
export const Breaker = z.object({
  inARow: z.number(),
  /** A window starts at a failure (`since`, epoch ms) and lasts 5 minutes. */
  window: z.object({ since: z.number(), attempts: z.number(), failures: z.number() }).optional(),
  open: z.object({ until: z.number(), pauseMs: z.number() }).optional(),
});
export type Breaker = z.output<typeof Breaker>;

export const closedBreaker: Breaker = { inARow: 0 };

const MAX_CONSECUTIVE_FAILURES = 10;
const WINDOW = 5 * 60_000;
const MIN_WINDOW_ATTEMPTS = 10;
const MAX_FAILURE_SHARE = 0.7;
/** Milliseconds. The probe takes less time. */
export const PROBE_LEASE = 30_000;

export interface BreakerPauses {
  readonly first: number;
  readonly longest: number;
}

/** The defaults are 30 seconds and 15 minutes. The longest pause of a short retry schedule limits both. */
export function breakerPauses(schedule: readonly number[]): BreakerPauses {
  const most = Math.max(1_000, ...schedule);
  return { first: Math.min(30_000, most), longest: Math.min(15 * 60_000, most) };
}

export type BreakerState = 'closed' | 'probe' | { readonly pausedUntil: number };

export function checkBreaker({ open }: Breaker, now: number): BreakerState {
  if (!open) return 'closed';
  return open.until <= now ? 'probe' : { pausedUntil: open.until };
}

export function takeProbe(breaker: Breaker, now: number): Breaker {
  return pausedUntil(breaker, now + PROBE_LEASE);
}

export function returnProbe(breaker: Breaker, now: number): Breaker {
  return pausedUntil(breaker, now);
}

function pausedUntil(breaker: Breaker, until: number): Breaker {
  return { ...breaker, open: { pauseMs: breaker.open?.pauseMs ?? 0, until } };
}

export interface EndedAttempt {
  readonly now: number;
  readonly isProbe: boolean;
  readonly weight: number;
}

/**
 * Opens after 10 failures in a row, or if at least 70 % of 10 or more attempts in a window failed. A failed probe
 * doubles the pause, up to the longest.
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

export function afterSuccess(breaker: Breaker, { now, isProbe, weight }: EndedAttempt): Breaker {
  if (breaker.open) return isProbe ? closedBreaker : breaker;
  const window = currentWindow(breaker, now);
  if (window) return { inARow: 0, window: { ...window, attempts: window.attempts + weight } };
  return breaker.inARow > 0 ? closedBreaker : breaker;
}

const ALL_COUNTED = 100;
const MIN_SAMPLE_SHARE = 1 / 50;

/** Every counted attempt writes the same item, so only a sample of many attempts is counted, each for several. */
export function sampleWeight(breaker: Breaker, now: number, random: number): number {
  const share = Math.max(MIN_SAMPLE_SHARE, Math.min(1, ALL_COUNTED / (currentWindow(breaker, now)?.attempts ?? 0)));
  return random < share ? 1 / share : 0;
}

function currentWindow({ window }: Breaker, now: number): Breaker['window'] {
  return window && now - window.since < WINDOW ? window : undefined;
}
