/** The rate limit of an API key: a token bucket for each class of calls. Every process has a copy of a bucket and settles it with the shared one. */

export const limitClasses = ['read', 'write', 'expensive'] as const;
/** The class of a call: a read, a write, or a call that costs far more. */
export type LimitClass = (typeof limitClasses)[number];

export interface Limit {
  /** Calls per second in the long run; at least 1. */
  readonly perSecond: number;
  /** The burst, in seconds of `perSecond`; at least 1. */
  readonly burstSeconds: number;
}

/** A process's copy of a bucket. */
export interface Bucket {
  /** The used tokens at the time `at` (epoch ms). They return at the rate of the limit. */
  readonly used: number;
  readonly at: number;
  /** Calls that are not in the shared bucket yet. */
  readonly unsettled: number;
}

export const fullBucket: Bucket = { used: 0, at: 0, unsettled: 0 };

/** A smaller part of a token is a rounding error. */
const TOLERANCE = 1e-6;

/** Takes a token for one call. Without a token, returns after how many milliseconds there is one. Rejected calls use no token. */
export function takeToken(bucket: Bucket, limit: Limit, now: number): Bucket | { readonly retryAfter: number } {
  const used = usedAt(bucket, limit, now) + 1;
  const missing = used - limit.perSecond * limit.burstSeconds;
  if (missing > TOLERANCE) return { retryAfter: Math.ceil(timeOf(missing, limit)) };
  return { used, at: Math.max(bucket.at, now), unsettled: bucket.unsettled + 1 };
}

/** Returns the milliseconds in which a number of tokens returns. */
export function timeOf(tokens: number, { perSecond }: Limit): number {
  return (tokens * 1000) / perSecond;
}

/** Returns the number of calls between two settlements: a tenth of what a second allows. */
export function settlementSize({ perSecond }: Limit): number {
  return Math.max(1, Math.floor(perSecond / 10));
}

/**
 * Returns the copy after a settlement of `calls`. The shared bucket is stored as the time when all its tokens are back: `sharedUntil` (epoch ms). So
 * one atomic addition counts calls, and the bucket refills without a write.
 */
export function settleBucket(bucket: Bucket, calls: number, sharedUntil: number, limit: Limit): Bucket {
  const shared = ((sharedUntil - bucket.at) * limit.perSecond) / 1000;
  return { ...bucket, used: Math.max(bucket.used, shared), unsettled: bucket.unsettled - calls };
}

function usedAt({ used, at }: Bucket, { perSecond }: Limit, now: number): number {
  return Math.max(0, used - (Math.max(0, now - at) * perSecond) / 1000);
}
