/**
 * The rate limits of an API key and of its users: a token bucket for each class of calls. Every process has its own copy of a bucket.
 * From time to time, it adds its calls to the shared bucket, and gets the calls of all other processes.
 */

export const limitClasses = ['read', 'write', 'expensive'] as const;
/** The class of a call. `expensive` calls cost far more than other reads and writes. */
export type LimitClass = (typeof limitClasses)[number];

export interface Limit {
  /** The number of calls per second in the long run, at least 1. */
  readonly perSecond: number;
  /**
   * The size of the bucket, in seconds, at least 1. The bucket has `perSecond` tokens for each second, and as many calls can arrive
   * at once.
   */
  readonly burstSeconds: number;
}

/** The part of the limit of an API key that one of its users may use. */
const USER_SHARE = 1 / 5;

/** Returns the limit of each user of an API key with this limit. Otherwise one browser could use up the calls of all others. */
export function userLimit({ perSecond, burstSeconds }: Limit): Limit {
  return { perSecond: Math.max(1, perSecond * USER_SHARE), burstSeconds };
}

/** A process's copy of a bucket. */
export interface Bucket {
  /** The number of used tokens at the time `at` (epoch ms). Used tokens return at the rate of the limit. */
  readonly used: number;
  readonly at: number;
  /** The number of calls of this process that it has not added to the shared bucket. */
  readonly unwrittenCalls: number;
}

export const fullBucket: Bucket = { used: 0, at: 0, unwrittenCalls: 0 };

/** Smaller parts of a token are ignored, because they are rounding errors. */
const TOLERANCE = 1e-6;

/**
 * Takes a token for one call and returns the bucket without it. If there is no token, `retryAfter` is the time until there is one,
 * in milliseconds. A rejected call takes no token.
 */
export function takeToken(bucket: Bucket, limit: Limit, now: number): Bucket | { readonly retryAfter: number } {
  const used = usedAt(bucket, limit, now) + 1;
  const missing = used - limit.perSecond * limit.burstSeconds;
  if (missing > TOLERANCE) return { retryAfter: Math.ceil(timeOf(missing, limit)) };
  return { used, at: Math.max(bucket.at, now), unwrittenCalls: bucket.unwrittenCalls + 1 };
}

/** Returns the time after which a number of used tokens is back, in milliseconds. */
export function timeOf(tokens: number, { perSecond }: Limit): number {
  return (tokens * 1000) / perSecond;
}

/** Returns the number of calls after which a process writes to the shared bucket. This is a tenth of the limit per second. */
export function callsPerWrite({ perSecond }: Limit): number {
  return Math.max(1, Math.floor(perSecond / 10));
}

/**
 * Returns a process's copy after it added `calls` to the shared bucket. `sharedUntil` is the time at which the shared bucket is
 * full again (epoch ms). Because the table stores this time, one atomic addition counts calls, and the bucket refills without a
 * write.
 */
export function mergeSharedBucket(bucket: Bucket, calls: number, sharedUntil: number, limit: Limit): Bucket {
  const shared = ((sharedUntil - bucket.at) * limit.perSecond) / 1000;
  return { ...bucket, used: Math.max(bucket.used, shared), unwrittenCalls: bucket.unwrittenCalls - calls };
}

function usedAt({ used, at }: Bucket, { perSecond }: Limit, now: number): number {
  return Math.max(0, used - (Math.max(0, now - at) * perSecond) / 1000);
}
