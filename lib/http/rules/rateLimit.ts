import type { Work } from '../../app/rules/limits.ts';

export interface Limit {
  /** Tokens that return per second, at least 1. */
  readonly perSecond: number;
  /** At least 1. The bucket holds `perSecond * burstSeconds` tokens. */
  readonly burstSeconds: number;
}

const USER_SHARE = 1 / 5;

/** Each user of an API key has this limit, so one browser cannot use up the calls of all others. */
export function userLimit({ perSecond, burstSeconds }: Limit): Limit {
  return { perSecond: Math.max(1, perSecond * USER_SHARE), burstSeconds };
}

/** All users together can take this share of an API key's bucket. */
const USERS_SHARE = 4 / 5;

const UNITS_PER_TOKEN = 10;
/** So many units end in time: the slowest write makes 600 items per second, and every endpoint has at least 25 s. */
export const MAX_UNITS = 10_000;

export function unitsOf({ items }: Work, bodyBytes: number): number {
  return items + Math.floor(bodyBytes / 1024);
}

export function tokensOf(work: Work, bodyBytes: number): number {
  return Math.max(1, work.events ?? 0, Math.ceil(unitsOf(work, bodyBytes) / UNITS_PER_TOKEN));
}

export interface Bucket {
  /** At the time `at` (epoch ms). Used tokens return at the rate of the limit. */
  readonly used: number;
  readonly at: number;
  /** Not yet in the shared bucket. */
  readonly unwrittenTokens: number;
}

export const fullBucket: Bucket = { used: 0, at: 0, unwrittenTokens: 0 };

export interface Demand {
  readonly tokens: number;
  readonly taken: number;
  /** True if a user's call takes the tokens from the bucket of the API key. */
  readonly isOfUsers: boolean;
}

export const oneToken: Demand = { tokens: 1, taken: 0, isOfUsers: false };

/** Smaller parts of a token are rounding errors. */
const TOLERANCE = 1e-6;

/**
 * `retryAfter` is milliseconds. A rejected call takes no token. A call that needs more than the bucket holds runs if
 * the bucket is full: otherwise a low limit would make it impossible.
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

export function mostUsed(limit: Limit, demand: Demand): number {
  return roomFor(limit, demand) - neededTokens(limit, demand);
}

export function chargedTokens(limit: Limit, demand: Demand): number {
  return demand.isOfUsers ? neededTokens(limit, demand) : demand.tokens;
}

function roomFor({ perSecond, burstSeconds }: Limit, { isOfUsers }: Demand): number {
  return perSecond * burstSeconds * (isOfUsers ? USERS_SHARE : 1);
}

function neededTokens(limit: Limit, demand: Demand): number {
  return Math.max(0, Math.min(demand.taken + demand.tokens, roomFor(limit, demand)) - demand.taken);
}

/** Milliseconds until this many tokens are back. */
export function timeOf(tokens: number, { perSecond }: Limit): number {
  return (tokens * 1000) / perSecond;
}

export function tokensPerWrite({ perSecond }: Limit): number {
  return Math.max(1, Math.floor(perSecond / 10));
}

/**
 * `sharedUntil`: when the shared bucket is full again (epoch ms). With this time, one atomic addition counts tokens, and the bucket
 * refills without a write.
 */
export function mergeSharedBucket(bucket: Bucket, tokens: number, sharedUntil: number, limit: Limit): Bucket {
  const shared = ((sharedUntil - bucket.at) * limit.perSecond) / 1000;
  return { ...bucket, used: Math.max(bucket.used, shared), unwrittenTokens: bucket.unwrittenTokens - tokens };
}

/** `sharedUntil` does not include the other unwritten tokens. */
export function returnTokens(bucket: Bucket, tokens: number, sharedUntil: number, limit: Limit): Bucket {
  const unwrittenTokens = bucket.unwrittenTokens - tokens;
  const shared = ((sharedUntil - bucket.at) * limit.perSecond) / 1000;
  return { ...bucket, used: Math.max(bucket.used - tokens, shared + unwrittenTokens), unwrittenTokens };
}

function usedAt({ used, at }: Bucket, { perSecond }: Limit, now: number): number {
  return Math.max(0, used - (Math.max(0, now - at) * perSecond) / 1000);
}
