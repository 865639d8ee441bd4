export const QUOTA_MILLISECONDS = 60 * 60_000;

/** Mails that were counted in the hour that began at `startedAt`, epoch ms. */
export interface QuotaHour {
  readonly startedAt: number;
  readonly count: number;
}

interface Charge {
  readonly allowed: number;
  readonly next: QuotaHour | undefined;
  /** Epoch milliseconds. What is not allowed waits until then. */
  readonly endsAt: number;
}

/** An hour begins with the first mail after the end of the hour before. */
export function hourAt(stored: QuotaHour | undefined, now: number): QuotaHour {
  return stored !== undefined && endOf(stored) > now ? stored : { startedAt: now, count: 0 };
}

export function endOf({ startedAt }: QuotaHour): number {
  return startedAt + QUOTA_MILLISECONDS;
}

/** A `limit` of 0 allows all mails and counts none. */
export function leftOf(hour: QuotaHour, limit: number): number {
  return limit === 0 ? Infinity : Math.max(0, limit - hour.count);
}

export function planCharge(stored: QuotaHour | undefined, count: number, limit: number, now: number): Charge {
  const hour = hourAt(stored, now);
  const allowed = Math.min(count, leftOf(hour, limit));
  const isCounted = limit > 0 && allowed > 0;
  return { allowed, next: isCounted ? { ...hour, count: hour.count + allowed } : undefined, endsAt: endOf(hour) };
}
