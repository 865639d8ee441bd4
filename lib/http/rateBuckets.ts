import * as z from 'zod';
import type { Capability } from '../app/capability.ts';
import { type LimitClass, limitClasses } from '../app/rules/limits.ts';
import { BoundedMap } from '../shared/boundedMap.ts';
import { advanceNumber } from '../table/counters.ts';
import { defineEntity } from '../table/entity.ts';
import { openTable, type Table } from '../table/table.ts';
import {
  type Bucket,
  chargedTokens,
  type Demand,
  fullBucket,
  type Limit,
  mergeSharedBucket,
  mostUsed,
  oneToken,
  returnTokens,
  takeTokens,
  timeOf,
  tokensPerWrite,
  userLimit,
} from './rules/rateLimit.ts';

interface BucketKey {
  readonly tenant: string;
  readonly limitClass: LimitClass;
  /** Undefined for the bucket of all calls of the API key. */
  readonly userKey?: string | undefined;
}

/** `at`: when the bucket is full again, epoch ms. */
export const RateBucketEntity = defineEntity({
  type: 'RateBucket',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'The shared token bucket of an API key or of a user, one per class of calls',
  schema: z.object({ at: z.number(), expiresAt: z.number() }),
  pk: (of: Pick<BucketKey, 'tenant'>) => [of.tenant, 'RATE_BUCKETS'],
  sk: ({ limitClass, userKey }: Omit<BucketKey, 'tenant'>) => [limitClass, ...(userKey === undefined ? [] : [userKey])],
  expiresAt: ({ expiresAt }) => expiresAt,
});

const LIFETIME_SECONDS = 24 * 60 * 60;
/** Applies to the buckets of API keys and of users separately. */
const MAX_BUCKETS = 1_000;
/** Milliseconds until the next write to a shared bucket. */
const PAUSE_AFTER_FAILURE = 1_000;

export interface BucketRequest extends BucketKey {
  /** The API key's own limit. */
  readonly perSecond?: number | undefined;
  /** Tokens besides the one that the call has already taken. */
  readonly more?: number | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
}

export interface TokenTaken {
  /** Await these writes to shared buckets before the answer, because Lambda freezes the process after the answer. */
  readonly sharedBucketWrites: readonly Promise<void>[];
}

/** `retryAfter` is in milliseconds. */
export interface TokenRefused extends TokenTaken {
  readonly retryAfter: number;
  readonly emptyBucketOf: 'apiKey' | 'user';
}

interface LocalBucket {
  bucket: Bucket;
  write?: Promise<void> | undefined;
  /** Epoch milliseconds. */
  nextWriteAt: number;
}

/**
 * Each process takes tokens from its own copy of a bucket. From time to time, a write adds them to the shared bucket
 * and reads those of other processes. If the table fails, each process limits only its own calls.
 */
export class RateBuckets {
  readonly #table: Table;
  readonly #limits: Readonly<Record<LimitClass, Limit>>;
  /** In a single map, the buckets of many users would push out those of API keys. */
  readonly #buckets = {
    apiKey: new BoundedMap<string, LocalBucket>(MAX_BUCKETS),
    user: new BoundedMap<string, LocalBucket>(MAX_BUCKETS),
  };

  constructor(table: Table, limits: Readonly<Record<LimitClass, Limit>>) {
    this.#table = table;
    this.#limits = limits;
  }

  /** A call above the user's limit takes no token of the API key. */
  async take({ tenant, limitClass, userKey, perSecond, more, now }: BucketRequest): Promise<TokenTaken | TokenRefused> {
    const limit = { ...this.#limits[limitClass], ...(perSecond !== undefined && { perSecond }) };
    const toWrite = tokensPerWrite(limit);
    const isOfUser = userKey !== undefined;
    const demand = more === undefined ? oneToken : { tokens: more, taken: 1, isOfUsers: false };
    const taken = isOfUser
      ? await this.#take({ tenant, limitClass, userKey }, userLimit(limit), toWrite, demand, now)
      : { sharedBucketWrites: [] };
    if ('retryAfter' in taken) return taken;
    const ofKey = { ...demand, isOfUsers: isOfUser };
    const { sharedBucketWrites, ...result } = await this.#take({ tenant, limitClass }, limit, toWrite, ofKey, now);
    return { ...result, sharedBucketWrites: [...taken.sharedBucketWrites, ...sharedBucketWrites] };
  }

  async #take(
    key: BucketKey,
    limit: Limit,
    toWrite: number,
    demand: Demand,
    now: number,
  ): Promise<TokenTaken | TokenRefused> {
    const emptyBucketOf = key.userKey === undefined ? 'apiKey' : 'user';
    const local = this.#bucketOf(key, emptyBucketOf);
    const isLarge = demand.taken > 0 && demand.tokens >= toWrite;
    while (local.write && (isLarge || local.bucket.unwrittenTokens >= 2 * toWrite))
      await local.write.catch(() => undefined);
    const { unwrittenTokens } = local.bucket;
    const after = takeTokens(local.bucket, limit, now, demand);
    if ('retryAfter' in after) return { ...after, emptyBucketOf, sharedBucketWrites: [] };
    local.bucket = after;
    if (local.write || after.unwrittenTokens < toWrite || now < local.nextWriteAt) return { sharedBucketWrites: [] };
    const most = now + timeOf(mostUsed(limit, demand) - unwrittenTokens, limit);
    const write = this.#addToSharedBucket(local, key, limit, now, isLarge ? most : undefined);
    const sharedBucketWrites = [(local.write = write.then(() => undefined))];
    // The caller awaits this promise later. Until then, a failure would be an unhandled rejection.
    local.write.catch(() => undefined);
    const tooHigh = isLarge ? await write.catch(() => undefined) : undefined;
    if (tooHigh === undefined) return { sharedBucketWrites };
    local.bucket = returnTokens(local.bucket, chargedTokens(limit, demand), tooHigh, limit);
    return { retryAfter: Math.max(1, Math.ceil(tooHigh - most)), emptyBucketOf, sharedBucketWrites };
  }

  /**
   * If the shared bucket, without these tokens, is full again only after `most` (epoch ms), adds nothing and returns
   * that time.
   */
  async #addToSharedBucket(
    local: LocalBucket,
    key: BucketKey,
    limit: Limit,
    now: number,
    most = Infinity,
  ): Promise<number | undefined> {
    const tokens = local.bucket.unwrittenTokens;
    const by = timeOf(tokens, limit);
    try {
      const before = await advanceNumber(this.#table, RateBucketEntity, key, {
        by,
        least: now,
        from: now,
        expiresAt: Math.floor(now / 1000) + LIFETIME_SECONDS,
        most,
      });
      if (typeof before !== 'number') return before.tooHigh;
      local.bucket = mergeSharedBucket(local.bucket, tokens, before + by, limit);
      return undefined;
    } catch (error) {
      local.nextWriteAt = now + PAUSE_AFTER_FAILURE;
      throw error;
    } finally {
      local.write = undefined;
    }
  }

  #bucketOf({ tenant, limitClass, userKey = '' }: BucketKey, owner: 'apiKey' | 'user'): LocalBucket {
    const buckets = this.#buckets[owner];
    const id = `${limitClass} ${tenant} ${userKey}`;
    const existing = buckets.get(id);
    if (existing) return existing;
    const local: LocalBucket = { bucket: fullBucket, nextWriteAt: 0 };
    buckets.set(id, local);
    return local;
  }
}

const rateVariables = {
  read: 'READS_PER_SECOND_PER_KEY',
  write: 'WRITES_PER_SECOND_PER_KEY',
  expensive: 'EXPENSIVE_CALLS_PER_SECOND_PER_KEY',
} as const satisfies Record<LimitClass, string>;

export const rateBuckets: Capability<RateBuckets> = {
  grants: [{ resource: 'table', actions: ['UpdateItem'] }],
  env: [...Object.values(rateVariables), 'CALL_BURST_SECONDS'],
  open: (env) =>
    new RateBuckets(
      openTable(env),
      Object.fromEntries(
        limitClasses.map((limitClass) => [
          limitClass,
          { perSecond: Number(env[rateVariables[limitClass]]), burstSeconds: Number(env.CALL_BURST_SECONDS) },
        ]),
      ) as Record<LimitClass, Limit>,
    ),
};
