import { LONGEST_DELAY_SECONDS } from '../../shared/sqsLimits.ts';

/** When attempts are made, and how long a message may take; milliseconds. */
export interface Timing {
  /** The pause before each attempt, the first one included; each but the first counts from the end of the attempt before it. */
  readonly schedule: readonly number[];
  /** For how long a message may be overdue before it counts as lost. */
  readonly marginMs: number;
}

/** The pauses of a setting: seconds with commas between them. */
export function parseSchedule(text: string): number[] {
  return text.split(',').map((seconds) => Number(seconds) * 1000);
}

const HOUR = 60 * 60 * 1000;

/** For how long a delivery is tried: longer than the schedule takes, so that pauses fit in; 30 hours for that of 27.6. */
export function lifetime(schedule: readonly number[]): number {
  return Math.max(30 * HOUR, schedule.reduce((sum, pause) => sum + pause, 0) + 2 * HOUR);
}

/** From this step on pauses differ by up to a fifth, so that what failed together does not come back together. */
const FIRST_WITH_JITTER = 2;
const JITTER = 0.2;
/** The last attempt is planned so long before the deadline, which it would miss if it had to wait for a moment. */
const BEFORE_DEADLINE = HOUR / 2;

export interface Failed {
  /** How many attempts of the schedule were made. */
  readonly made: number;
  /** When the last one ended, epoch ms. */
  readonly now: number;
  readonly deadline: number;
  /** What a 429 or 503 asked for. */
  readonly retryAfterSeconds?: number | undefined;
  /** From 0 to 1. */
  readonly random: number;
}

/**
 * When the next attempt is made after one failed, epoch ms; undefined when there is none. A `Retry-After` can make the pause
 * longer, at most twice as long. What would lie behind the deadline is made just before it.
 */
export function nextAttempt(
  { made, now, deadline, retryAfterSeconds = 0, random }: Failed,
  schedule: readonly number[],
): number | undefined {
  const step = schedule[made];
  const latest = deadline - BEFORE_DEADLINE;
  if (step === undefined || now >= latest) return undefined;
  const pause = made < FIRST_WITH_JITTER ? step : step * (1 - JITTER + 2 * JITTER * random);
  const wait = Math.max(pause, Math.min(retryAfterSeconds * 1000, 2 * step));
  return Math.min(now + Math.round(wait), latest);
}

/** Doubled at most so often: 64 margins are 5 hours by default. */
const MOST_DOUBLINGS = 6;

/** How long the sweeper gives a message when it seemed lost so often: the margin, twice as long each time. */
export function marginOf(sweeps: number, marginMs: number): number {
  return marginMs * 2 ** Math.min(sweeps, MOST_DOUBLINGS);
}

/** The sweeper comes every minute and has to send what is due before its time, so it looks so far ahead. */
const AHEAD = 90_000;

/** How the next attempt is brought about. */
export interface Plan {
  /** With what delay a message is sent now; undefined when the time is too far away for one. */
  readonly delaySeconds: number | undefined;
  /** When the sweeper looks after it. */
  readonly dueAt: number;
}

/** A message for what is near, the sweeper for what is further away than SQS can delay (deliveries 2.6). */
export function plan(nextAt: number, now: number, marginMs: number): Plan {
  const delaySeconds = Math.ceil(Math.max(0, nextAt - now) / 1000);
  if (delaySeconds <= LONGEST_DELAY_SECONDS) return { delaySeconds, dueAt: Math.max(now, nextAt) + marginMs };
  return { delaySeconds: undefined, dueAt: nextAt - AHEAD };
}
