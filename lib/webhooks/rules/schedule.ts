import { LONGEST_DELAY_SECONDS } from '../../shared/sqsLimits.ts';

/** When attempts are made, and when a message counts as lost; milliseconds. */
export interface Timing {
  /** The pause before each attempt, including the first. Every other pause starts at the end of the previous attempt. */
  readonly schedule: readonly number[];
  /** How long a delivery can be overdue before its message counts as lost. */
  readonly marginMs: number;
}

/** Parses a setting of comma-separated seconds into milliseconds. */
export function parseSchedule(text: string): number[] {
  return text.split(',').map((seconds) => Number(seconds) * 1000);
}

const HOUR = 60 * 60 * 1000;

/** Returns how long a delivery is attempted: at least 30 hours, and always longer than its schedule, so that pauses of the breaker fit in. */
export function deliveryLifetime(schedule: readonly number[]): number {
  return Math.max(30 * HOUR, schedule.reduce((sum, pause) => sum + pause, 0) + 2 * HOUR);
}

/** From this step on, pauses vary by up to a fifth, so that deliveries that failed together are not repeated together. */
const FIRST_STEP_WITH_JITTER = 2;
const JITTER = 0.2;
/** The last attempt is planned this long before the deadline. It would miss the deadline if it had to wait. */
const BEFORE_DEADLINE = HOUR / 2;

export interface FailedAttempt {
  /** How many attempts of the schedule were made. */
  readonly made: number;
  /** When the last attempt ended, epoch ms. */
  readonly now: number;
  readonly deadline: number;
  /** What a 429 or 503 response asked for. */
  readonly retryAfterSeconds?: number | undefined;
  /** From 0 to 1. */
  readonly random: number;
}

/**
 * Returns the time of the next attempt after a failure, epoch ms; undefined when no attempt is left. `Retry-After` can make the pause longer,
 * at most twice as long. An attempt that would miss the deadline is made just before it.
 */
export function nextAttemptAt(
  { made, now, deadline, retryAfterSeconds = 0, random }: FailedAttempt,
  schedule: readonly number[],
): number | undefined {
  const step = schedule[made];
  const latest = deadline - BEFORE_DEADLINE;
  if (step === undefined || now >= latest) return undefined;
  const pause = made < FIRST_STEP_WITH_JITTER ? step : step * (1 - JITTER + 2 * JITTER * random);
  const wait = Math.max(pause, Math.min(retryAfterSeconds * 1000, 2 * step));
  return Math.min(now + Math.round(wait), latest);
}

/** 64 margins are 5 hours by default. */
const MOST_DOUBLINGS = 6;

/** Returns how long the sweeper waits for a message that seemed lost this often: the margin, doubled each time. */
export function marginAfter(sweeps: number, marginMs: number): number {
  return marginMs * 2 ** Math.min(sweeps, MOST_DOUBLINGS);
}

/** The sweeper runs every minute and sends messages before their time. It therefore checks deliveries this much earlier. */
const SWEEP_AHEAD = 90_000;

export interface AttemptPlan {
  /** The delay of the message to send now; undefined when the attempt is too far away for a message. */
  readonly delaySeconds: number | undefined;
  /** When the sweeper checks the delivery. */
  readonly dueAt: number;
}

/** Plans an attempt: by a delayed message if SQS can delay it that long, else by the sweeper. */
export function planAttempt(nextAt: number, now: number, marginMs: number): AttemptPlan {
  const delaySeconds = Math.ceil(Math.max(0, nextAt - now) / 1000);
  if (delaySeconds <= LONGEST_DELAY_SECONDS) return { delaySeconds, dueAt: Math.max(now, nextAt) + marginMs };
  return { delaySeconds: undefined, dueAt: nextAt - SWEEP_AHEAD };
}
