import { nextAttemptAt, type Timing } from '../../workers/rules/schedule.ts';
import { attemptTimes, type Delivery, endDelivery, noSlot, type PendingDelivery, releaseDelivery } from './delivery.ts';
import type { AttemptOutcome } from './loggedAttempt.ts';

export interface AttemptResult {
  readonly outcome: AttemptOutcome;
  readonly responseStatus?: number;
  readonly responseBody?: Uint8Array;
  readonly retryAfterSeconds?: number;
  /** Customers see it. It never contains a URL, an address or the receiver's text. */
  readonly error?: string;
  readonly durationMs: number;
}

export function recordOutcome(
  delivery: PendingDelivery,
  { outcome, retryAfterSeconds }: Pick<AttemptResult, 'outcome' | 'retryAfterSeconds'>,
  now: number,
  random: number,
  timing: Timing,
): Delivery {
  const attempts = delivery.attempts + 1;
  const made: PendingDelivery = { ...releaseDelivery(delivery), attempts, sweeps: 0, ...noSlot };
  if (outcome === 'delivered') return endDelivery(made, 'DELIVERED');
  if (delivery.otherwise) return afterFailedResend({ ...made, uncounted: delivery.uncounted + 1 }, now, timing);
  const nextAt = nextAttemptAt(
    { made: attempts - delivery.uncounted, now, deadline: delivery.deadline, retryAfterSeconds, random },
    timing.schedule,
  );
  return nextAt === undefined ? endDelivery(made, 'EXHAUSTED') : { ...made, ...attemptTimes(nextAt, now, timing) };
}

function afterFailedResend(delivery: PendingDelivery, now: number, timing: Timing): Delivery {
  const { otherwise, ...scheduled } = delivery;
  if (otherwise?.status !== 'PENDING') return endDelivery(delivery, 'EXHAUSTED');
  return { ...scheduled, ...attemptTimes(Math.max(now, otherwise.nextAt ?? now), now, timing) };
}
