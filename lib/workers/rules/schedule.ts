import { MAX_DELAY_SECONDS } from '../../shared/sqsLimits.ts';

/** Milliseconds. */
export interface Timing {
  /** The pause before each attempt, from the event or the end of the previous attempt. */
  readonly schedule: readonly number[];
  readonly marginMs: number;
}

export function parseSchedule(text: string): number[] {
  return text.split(',').map((seconds) => Number(seconds) * 1000);
}

const HOUR = 60 * 60 * 1000;

/** Returns at least 30 hours, and 2 hours more than the schedule, because the circuit breaker can pause deliveries. */
export function deliveryLifetime(schedule: readonly number[]): number {
  return Math.max(30 * HOUR, schedule.reduce((sum, pause) => sum + pause, 0) + 2 * HOUR);
}

/**
 * Pauses vary by up to 20 % from this step on (counted from 0), so deliveries that failed together are retried at
 * different times.
 */
const FIRST_STEP_WITH_JITTER = 2;
const JITTER = 0.2;
const BEFORE_DEADLINE = HOUR / 2;

export interface FailedAttempt {
  readonly made: number;
  readonly now: number;
  readonly deadline: number;
  readonly retryAfterSeconds?: number | undefined;
  readonly random: number;
}

/**
 * Returns epoch ms, or undefined if no attempt remains. `Retry-After` can extend the pause to twice the step of the
 * schedule. No attempt is planned later than half an hour before the deadline.
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

/** With the default margin, the longest wait is about 5 hours. */
const MAX_DOUBLINGS = 6;

/**
 * Returns how long the sweep waits before a message counts as lost again. Each loss (`sweeps`) doubles the margin,
 * because the first message may still wait in a long queue.
 */
export function marginAfter(sweeps: number, marginMs: number): number {
  return marginMs * 2 ** Math.min(sweeps, MAX_DOUBLINGS);
}

/** The sweep runs every minute, so it sends the message before the attempt is due. */
const SWEEP_AHEAD = 90_000;

export interface AttemptPlan {
  /** Undefined if SQS cannot delay a message that long. The sweep then sends the message at `dueAt` (epoch ms). */
  readonly delaySeconds: number | undefined;
  readonly dueAt: number;
}

/** Plans an attempt at `nextAt` (epoch ms), by a delayed message or by the sweep. */
export function planAttempt(nextAt: number, now: number, marginMs: number): AttemptPlan {
  const delaySeconds = Math.ceil(Math.max(0, nextAt - now) / 1000);
  if (delaySeconds <= MAX_DELAY_SECONDS) return { delaySeconds, dueAt: Math.max(now, nextAt) + marginMs };
  return { delaySeconds: undefined, dueAt: nextAt - SWEEP_AHEAD };
}
