import * as z from 'zod';

/**
 * The breaker of an endpoint: closed, it counts; open, deliveries pause, and when the pause is over one of them may try. All in whole
 * values, so that whoever changes it replaces what it has read.
 */
export const Breaker = z.object({
  /** Failures since the last success. */
  inARow: z.number(),
  /** The attempts since a failure began to be counted, epoch ms. */
  window: z.object({ since: z.number(), attempts: z.number(), failures: z.number() }).optional(),
  /** Until when deliveries pause, epoch ms, and how long this pause is. */
  open: z.object({ until: z.number(), pauseMs: z.number() }).optional(),
});
export type Breaker = z.output<typeof Breaker>;

export const closedBreaker: Breaker = { inARow: 0 };

const MOST_IN_A_ROW = 10;
const WINDOW = 5 * 60_000;
/** A share of failures means something from so many attempts on. */
const ENOUGH = 10;
const LARGEST_SHARE = 0.7;
/** Longer than the attempt that it lets pass can take. */
const PROBE = 30_000;

/** How long the first pause is, and how long one can get; milliseconds. */
export interface Pauses {
  readonly first: number;
  readonly longest: number;
}

/** Half a minute to a quarter of an hour; never longer than the longest pause of the schedule, which the breaker is not to stretch. */
export function pausesFor(schedule: readonly number[]): Pauses {
  const most = Math.max(1_000, ...schedule);
  return { first: Math.min(30_000, most), longest: Math.min(15 * 60_000, most) };
}

/** Whether deliveries pass; `probe` when the pause is over and one of them may try. */
export type Gate = 'closed' | 'probe' | { readonly pausedUntil: number };

export function gateOf({ open }: Breaker, now: number): Gate {
  if (!open) return 'closed';
  return open.until <= now ? 'probe' : { pausedUntil: open.until };
}

/** The breaker in the hands of the one that tries: to all others it stays open while the attempt can last. */
export function probing(breaker: Breaker, now: number): Breaker {
  return { ...breaker, open: { pauseMs: breaker.open?.pauseMs ?? 0, until: now + PROBE } };
}

/** When a paused delivery comes again: up to a quarter of the pause later, so that not all come at once. */
export function resumeAt({ open }: Breaker, now: number, random: number): number {
  return Math.round((open?.until ?? now) + random * Math.max(1_000, (open?.pauseMs ?? 0) / 4));
}

/** An attempt that is over. */
export interface Attempted {
  readonly now: number;
  /** Whether it was the one that might try. */
  readonly probe: boolean;
  /** How many attempts it stands for. */
  readonly weight: number;
}

/**
 * The breaker after a failure. It opens after 10 in a row, or when 70 % of at least 10 attempts in 5 minutes failed; a failed probe
 * doubles the pause. What was begun before it opened changes nothing: the same value is given back.
 */
export function afterFailure(breaker: Breaker, { now, probe, weight }: Attempted, pauses: Pauses): Breaker {
  if (breaker.open && !probe) return breaker;
  if (breaker.open) {
    const pauseMs = Math.min(2 * breaker.open.pauseMs, pauses.longest);
    return { ...breaker, open: { until: now + pauseMs, pauseMs } };
  }
  const { since, attempts, failures } = current(breaker, now) ?? { since: now, attempts: 0, failures: 0 };
  const next = {
    inARow: breaker.inARow + 1,
    window: { since, attempts: attempts + weight, failures: failures + weight },
  };
  const failing =
    next.inARow >= MOST_IN_A_ROW ||
    (next.window.attempts >= ENOUGH && next.window.failures / next.window.attempts >= LARGEST_SHARE);
  return failing ? { inARow: next.inARow, open: { until: now + pauses.first, pauseMs: pauses.first } } : next;
}

/** The breaker after a success: closed by a probe, else counted as long as failures are. The same value when there is nothing to say. */
export function afterSuccess(breaker: Breaker, { now, probe, weight }: Attempted): Breaker {
  if (breaker.open) return probe ? closedBreaker : breaker;
  const window = current(breaker, now);
  if (window) return { inARow: 0, window: { ...window, attempts: window.attempts + weight } };
  return breaker.inARow > 0 ? closedBreaker : breaker;
}

/** So many attempts in a window are all counted. */
const FEW = 100;
const SMALLEST_SAMPLE = 1 / 50;

/**
 * How many attempts the one at hand stands for; 0 when it is not looked at. Each that is looked at is a write of one item: of many
 * attempts a sample tells as much, in a row as well as by share. `random` is from 0 to 1.
 */
export function weightOf(breaker: Breaker, now: number, random: number): number {
  const share = Math.max(SMALLEST_SAMPLE, Math.min(1, FEW / (current(breaker, now)?.attempts ?? 0)));
  return random < share ? 1 / share : 0;
}

function current({ window }: Breaker, now: number): Breaker['window'] {
  return window && now - window.since < WINDOW ? window : undefined;
}
