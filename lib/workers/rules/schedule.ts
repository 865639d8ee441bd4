import { MAX_DELAY_SECONDS } from '../../shared/sqsLimits.ts';

/** When attempts are made, and when a message counts as lost. All values are milliseconds. */
export interface Timing {
  /**
   * The pause before each attempt. The first pause starts at the event. Each later pause starts at the end of the previous attempt.
   */
  readonly schedule: readonly number[];
  /** How long a delivery can be overdue before its message counts as lost. */
  readonly marginMs: number;
}

/** Parses a list of seconds, separated by commas, into milliseconds. */
export function parseSchedule(text: string): number[] {
  return text.split(',').map((seconds) => Number(seconds) * 1000);
}

const HOUR = 60 * 60 * 1000;

/**
 * Returns the time from an event to the deadline of its deliveries, in milliseconds. It is at least 30 hours, and at least 2 hours
 * longer than the schedule, because the circuit breaker can pause deliveries.
 */
export function deliveryLifetime(schedule: readonly number[]): number {
  return Math.max(30 * HOUR, schedule.reduce((sum, pause) => sum + pause, 0) + 2 * HOUR);
}

/**
 * From this step of the schedule on (counted from 0), pauses vary by up to 20 %. Deliveries that failed together are then retried
 * at different times.
 */
const FIRST_STEP_WITH_JITTER = 2;
const JITTER = 0.2;
/** The last attempt is planned this long before the deadline, because it may still have to wait in a queue. */
const BEFORE_DEADLINE = HOUR / 2;

export interface FailedAttempt {
  /** The number of attempts so far that the schedule counts. */
  readonly made: number;
  /** When the last attempt ended, epoch ms. */
  readonly now: number;
  readonly deadline: number;
  /** The pause that a 429 or 503 response requests, in seconds. */
  readonly retryAfterSeconds?: number | undefined;
  /** A random number from 0 to 1. */
  readonly random: number;
}

/**
 * Returns the time of the next attempt after a failure, epoch ms. Returns undefined if no attempt remains. `Retry-After` can make
 * the pause up to twice as long. An attempt that would miss the deadline is moved to half an hour before the deadline.
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

/** The margin is doubled at most this many times. With the default margin, the longest wait is about 5 hours. */
const MAX_DOUBLINGS = 6;

/**
 * Returns how long the sweep waits, in milliseconds, before a message counts as lost again. `sweeps` is the number of times that
 * the message counted as lost so far. Each time doubles the margin.
 */
export function marginAfter(sweeps: number, marginMs: number): number {
  return marginMs * 2 ** Math.min(sweeps, MAX_DOUBLINGS);
}

/**
 * The sweep checks a delivery without a message this many milliseconds before its attempt. The sweep runs every minute, so it
 * sends the message before the attempt is due.
 */
const SWEEP_AHEAD = 90_000;

export interface AttemptPlan {
  /** The delay of the message to send now. Undefined if SQS cannot delay a message until the attempt. */
  readonly delaySeconds: number | undefined;
  /** When the sweep checks the delivery, epoch ms. */
  readonly dueAt: number;
}

/**
 * Plans an attempt at `nextAt` (epoch ms). If SQS can delay a message that long, a delayed message starts the attempt. Otherwise
 * the sweep sends the message later.
 */
export function planAttempt(nextAt: number, now: number, marginMs: number): AttemptPlan {
  const delaySeconds = Math.ceil(Math.max(0, nextAt - now) / 1000);
  if (delaySeconds <= MAX_DELAY_SECONDS) return { delaySeconds, dueAt: Math.max(now, nextAt) + marginMs };
  return { delaySeconds: undefined, dueAt: nextAt - SWEEP_AHEAD };
}
