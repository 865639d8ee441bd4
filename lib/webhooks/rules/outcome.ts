import { type Delivery, ended, type Pending, planned, released } from './delivery.ts';
import { nextAttempt, type Timing } from './schedule.ts';

/** How an attempt can end: all but `delivered` are failures. `refused`: we do not connect there. */
export const attemptOutcomes = ['delivered', 'failed', 'timeout', 'refused'] as const;
export type AttemptOutcome = (typeof attemptOutcomes)[number];

/** What came of an attempt, as far as it decides what follows. */
export interface AttemptResult {
  readonly outcome: AttemptOutcome;
  readonly retryAfterSeconds?: number | undefined;
}

/**
 * The delivery after an attempt that ended at `now`, in nobody's hands: delivered; pending with the time of the next attempt; or
 * exhausted. One that was made by hand changes nothing when it fails, but for the count. `random` is from 0 to 1.
 */
export function afterResult(
  delivery: Pending,
  { outcome, retryAfterSeconds }: AttemptResult,
  now: number,
  random: number,
  timing: Timing,
): Delivery {
  const attempts = delivery.attempts + 1;
  const made: Pending = { ...released(delivery), attempts, sweeps: 0, slot: undefined };
  if (outcome === 'delivered') return ended(made, 'DELIVERED');
  if (delivery.otherwise) return asBefore({ ...made, uncounted: delivery.uncounted + 1 }, now, timing);
  const nextAt = nextAttempt(
    { made: attempts - delivery.uncounted, now, deadline: delivery.deadline, retryAfterSeconds, random },
    timing.schedule,
  );
  return nextAt === undefined ? ended(made, 'EXHAUSTED') : { ...made, ...planned(nextAt, now, timing) };
}

function asBefore(delivery: Pending, now: number, timing: Timing): Delivery {
  const { otherwise, ...rest } = delivery;
  if (otherwise?.status !== 'PENDING') return ended(delivery, 'EXHAUSTED');
  return { ...rest, ...planned(Math.max(now, otherwise.nextAt ?? now), now, timing) };
}
