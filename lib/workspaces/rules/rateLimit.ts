/** The limit of calls per API key: a token bucket for each class of call. Every process has its own view of a bucket and settles it with the shared one. */

export const limitClasses = ['read', 'write', 'expensive'] as const;
/** What calls count as: a read, a write, or a call that costs far more than either. */
export type LimitClass = (typeof limitClasses)[number];

export interface Limit {
  /** Calls per second in the long run; at least 1. */
  readonly perSecond: number;
  /** How many seconds' worth of calls may come at once; at least 1. */
  readonly burstSeconds: number;
}

/** A process's view of a bucket. */
export interface Bucket {
  /** How many tokens were used up at `at` (epoch ms); they come back at the rate of the limit. */
  readonly used: number;
  readonly at: number;
  /** Calls that the shared bucket does not have yet. */
  readonly unsettled: number;
}

export const fullBucket: Bucket = { used: 0, at: 0, unsettled: 0 };

/** Less than this part of a token is a rounding error. */
const TOLERANCE = 1e-6;

/** Takes a token for one call; if there is none, returns after how many milliseconds there is one. Refused calls use nothing up. */
export function takeToken(bucket: Bucket, limit: Limit, now: number): Bucket | { readonly retryAfter: number } {
  const used = usedAt(bucket, limit, now) + 1;
  const missing = used - limit.perSecond * limit.burstSeconds;
  if (missing > TOLERANCE) return { retryAfter: Math.ceil(timeOf(missing, limit)) };
  return { used, at: Math.max(bucket.at, now), unsettled: bucket.unsettled + 1 };
}

/** The time in which a number of tokens comes back, in milliseconds. */
export function timeOf(tokens: number, { perSecond }: Limit): number {
  return (tokens * 1000) / perSecond;
}

/** How many calls a process answers before it settles: a tenth of what a second allows. */
export function settlementSize({ perSecond }: Limit): number {
  return Math.max(1, Math.floor(perSecond / 10));
}

/**
 * The view after `calls` were added to the shared bucket. That one is a time: `sharedUntil` (epoch ms), when all its tokens are back. So one atomic
 * addition counts calls, and the bucket fills up by itself.
 */
export function settled(bucket: Bucket, calls: number, sharedUntil: number, limit: Limit): Bucket {
  const shared = ((sharedUntil - bucket.at) * limit.perSecond) / 1000;
  return { ...bucket, used: Math.max(bucket.used, shared), unsettled: bucket.unsettled - calls };
}

function usedAt({ used, at }: Bucket, { perSecond }: Limit, now: number): number {
  return Math.max(0, used - (Math.max(0, now - at) * perSecond) / 1000);
}
