/**
 * The rate limits of an API key and of its users: a token bucket for each class of calls. Every process has its own copy of a bucket.
 * From time to time, it adds its tokens to the shared bucket, and gets the tokens of all other processes.
 */

export const limitClasses = ['read', 'write', 'expensive'] as const;
/** The class of a call. `expensive` calls cost far more than other reads and writes. */
export type LimitClass = (typeof limitClasses)[number];

export interface Limit {
  /** The number of tokens per second in the long run, at least 1. Most calls take one token. */
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

/** The part of an API key's bucket that its users can take together. Only the API key's servers can take the rest. */
const USERS_SHARE = 4 / 5;

/** What a write does, known from its input before it begins. */
export interface Work {
  /** The number of items that it writes: records, mentions, and other elements of its lists. */
  readonly items: number;
  /** The number of events that it sends to webhooks, mails and notifications. The default is 0. */
  readonly events?: number;
}

/** The number of items, or KB of the request body, that one token pays for. */
const UNITS_PER_TOKEN = 10;
/**
 * The largest number of items and KB that a call can write. The slowest write that was measured, of threads with 49 mentions each,
 * writes about 600 items per second, so 10,000 of them end within the 25 s that the shortest time limit of an endpoint leaves.
 */
export const MAX_UNITS = 10_000;

/** Returns the number of items and KB that a call writes. */
export function unitsOf({ items }: Work, bodyBytes: number): number {
  return items + Math.floor(bodyBytes / 1024);
}

/** Returns the number of tokens of a call: one per event, or one per 10 items and KB, whichever is more. It is at least 1. */
export function tokensOf(work: Work, bodyBytes: number): number {
  return Math.max(1, work.events ?? 0, Math.ceil(unitsOf(work, bodyBytes) / UNITS_PER_TOKEN));
}

/** A process's copy of a bucket. */
export interface Bucket {
  /** The number of used tokens at the time `at` (epoch ms). Used tokens return at the rate of the limit. */
  readonly used: number;
  readonly at: number;
  /** The number of tokens that this process has taken and not added to the shared bucket. */
  readonly unwrittenTokens: number;
}

export const fullBucket: Bucket = { used: 0, at: 0, unwrittenTokens: 0 };

/** The tokens that a call needs from a bucket. */
export interface Demand {
  /** The number of tokens to take. */
  readonly tokens: number;
  /** The number of tokens that the call has taken already. */
  readonly taken: number;
  /** Whether the call is a user's, and the bucket is the API key's. It can then take only the part of users. */
  readonly isOfUsers: boolean;
}

export const oneToken: Demand = { tokens: 1, taken: 0, isOfUsers: false };

/** Smaller parts of a token are ignored, because they are rounding errors. */
const TOLERANCE = 1e-6;

/**
 * Takes the tokens of a call and returns the bucket without them. If there are too few, `retryAfter` is the time until there are
 * enough, in milliseconds. A rejected call takes no token.
 *
 * A call that needs more tokens than the bucket holds runs if the bucket is full, and the following calls wait longer. Otherwise
 * a low limit would make large calls impossible. Calls of users never take more from the API key's bucket than the part of users.
 */
export function takeTokens(
  bucket: Bucket,
  limit: Limit,
  now: number,
  demand: Demand = oneToken,
): Bucket | { readonly retryAfter: number } {
  const usedBefore = usedAt(bucket, limit, now);
  const missing = usedBefore - mostUsed(limit, demand);
  if (missing > TOLERANCE) return { retryAfter: Math.ceil(timeOf(missing, limit)) };
  const tokens = chargedTokens(limit, demand);
  return {
    used: usedBefore + tokens,
    at: Math.max(bucket.at, now),
    unwrittenTokens: bucket.unwrittenTokens + tokens,
  };
}

/** Returns the largest number of used tokens with which a call can run. */
export function mostUsed(limit: Limit, demand: Demand): number {
  return roomFor(limit, demand) - neededTokens(limit, demand);
}

/** Returns the number of tokens that a call takes. */
export function chargedTokens(limit: Limit, demand: Demand): number {
  return demand.isOfUsers ? neededTokens(limit, demand) : demand.tokens;
}

function roomFor({ perSecond, burstSeconds }: Limit, { isOfUsers }: Demand): number {
  return perSecond * burstSeconds * (isOfUsers ? USERS_SHARE : 1);
}

function neededTokens(limit: Limit, demand: Demand): number {
  return Math.max(0, Math.min(demand.taken + demand.tokens, roomFor(limit, demand)) - demand.taken);
}

/** Returns the time after which a number of used tokens is back, in milliseconds. */
export function timeOf(tokens: number, { perSecond }: Limit): number {
  return (tokens * 1000) / perSecond;
}

/** Returns the number of tokens after which a process writes to the shared bucket. This is a tenth of the limit per second. */
export function tokensPerWrite({ perSecond }: Limit): number {
  return Math.max(1, Math.floor(perSecond / 10));
}

/**
 * Returns a process's copy after it added `tokens` to the shared bucket. `sharedUntil` is the time at which the shared bucket is
 * full again (epoch ms). Because the table stores this time, one atomic addition counts tokens, and the bucket refills without a
 * write.
 */
export function mergeSharedBucket(bucket: Bucket, tokens: number, sharedUntil: number, limit: Limit): Bucket {
  const shared = ((sharedUntil - bucket.at) * limit.perSecond) / 1000;
  return { ...bucket, used: Math.max(bucket.used, shared), unwrittenTokens: bucket.unwrittenTokens - tokens };
}

/**
 * Returns a process's copy after the shared bucket had too few tokens for a call, which gets its tokens back. `sharedUntil` does not
 * include the other unwritten tokens of this process.
 */
export function returnTokens(bucket: Bucket, tokens: number, sharedUntil: number, limit: Limit): Bucket {
  const unwrittenTokens = bucket.unwrittenTokens - tokens;
  const shared = ((sharedUntil - bucket.at) * limit.perSecond) / 1000;
  return { ...bucket, used: Math.max(bucket.used - tokens, shared + unwrittenTokens), unwrittenTokens };
}

function usedAt({ used, at }: Bucket, { perSecond }: Limit, now: number): number {
  return Math.max(0, used - (Math.max(0, now - at) * perSecond) / 1000);
}
