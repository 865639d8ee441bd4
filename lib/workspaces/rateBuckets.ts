import * as z from 'zod';
import type { Capability } from '../app/capability.ts';
import { BoundedMap } from '../shared/boundedMap.ts';
import { advanceNumber } from '../table/counters.ts';
import { defineEntity } from '../table/entity.ts';
import { openTable, type Table } from '../table/table.ts';
import {
  type Bucket,
  callsPerWrite,
  fullBucket,
  type Limit,
  type LimitClass,
  limitClasses,
  mergeSharedBucket,
  takeToken,
  timeOf,
} from './rules/rateLimit.ts';

/**
 * The token bucket that all processes share, for an API key and a class of calls. `at` is the time at which it is full again, epoch
 * ms.
 */
export const RateBucketEntity = defineEntity({
  type: 'RateBucket',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'The shared token bucket of an API key, one per class of calls',
  schema: z.object({ at: z.number(), expiresAt: z.number() }),
  pk: (of: { tenant: string }) => [of.tenant, 'RATE_BUCKETS'],
  sk: (key: { limitClass: LimitClass }) => [key.limitClass],
  expiresAt: ({ expiresAt }) => expiresAt,
});

const LIFETIME_SECONDS = 24 * 60 * 60;
/** The most buckets that a process keeps. If there are more, it drops the oldest one. */
const MAX_BUCKETS = 1_000;
/** After a failed write to a shared bucket, the next write follows after this time at the earliest, in milliseconds. */
const PAUSE_AFTER_FAILURE = 1_000;

export interface TokenRequest {
  readonly tenant: string;
  readonly limitClass: LimitClass;
  /** The API key's own limit in calls per second. The default is the limit in the operator's settings. */
  readonly perSecond?: number | undefined;
  /** The current time, epoch milliseconds. */
  readonly now: number;
}

export interface TokenTaken {
  /**
   * The write to the shared bucket, if this call started one. Await it before the answer, because Lambda stops the process after
   * the answer.
   */
  readonly sharedBucketWrite?: Promise<void>;
}

interface LocalBucket {
  bucket: Bucket;
  /** The running write to the shared bucket. */
  write?: Promise<void> | undefined;
  /** The earliest time of the next write to the shared bucket, epoch milliseconds. */
  nextWriteAt: number;
}

/**
 * Limits the calls of API keys. Each call takes a token from this process's copy of a bucket, without a read or write.
 *
 * A process counts as many calls as its limit allows in a tenth of a second. Then it adds them to the shared bucket in one write,
 * which also returns the calls of all other processes. Until that write, the process can exceed the limit by the calls that it has
 * not added. Calls that run at the same time wait for the write if these are already the calls of a fifth of a second. If the
 * table fails, each process limits only its own calls.
 */
export class RateBuckets {
  readonly #table: Table;
  readonly #limits: Readonly<Record<LimitClass, Limit>>;
  readonly #buckets = new BoundedMap<string, LocalBucket>(MAX_BUCKETS);

  constructor(table: Table, limits: Readonly<Record<LimitClass, Limit>>) {
    this.#table = table;
    this.#limits = limits;
  }

  /** Takes a token for one call. If there is none, `retryAfter` is the time until there is one, in milliseconds. */
  async take({
    tenant,
    limitClass,
    perSecond,
    now,
  }: TokenRequest): Promise<TokenTaken | { readonly retryAfter: number }> {
    const limit = { ...this.#limits[limitClass], ...(perSecond !== undefined && { perSecond }) };
    const local = this.#bucketOf(`${limitClass} ${tenant}`);
    while (local.write && local.bucket.unwrittenCalls >= 2 * callsPerWrite(limit))
      await local.write.catch(() => undefined);
    const after = takeToken(local.bucket, limit, now);
    if ('retryAfter' in after) return after;
    local.bucket = after;
    if (local.write || after.unwrittenCalls < callsPerWrite(limit) || now < local.nextWriteAt) return {};
    local.write = this.#addToSharedBucket(local, { tenant, limitClass }, limit, now);
    return { sharedBucketWrite: local.write };
  }

  async #addToSharedBucket(
    local: LocalBucket,
    key: { tenant: string; limitClass: LimitClass },
    limit: Limit,
    now: number,
  ): Promise<void> {
    const calls = local.bucket.unwrittenCalls;
    const by = timeOf(calls, limit);
    try {
      const before = await advanceNumber(this.#table, RateBucketEntity, key, {
        by,
        least: now,
        from: now,
        expiresAt: Math.floor(now / 1000) + LIFETIME_SECONDS,
      });
      local.bucket = mergeSharedBucket(local.bucket, calls, before + by, limit);
    } catch (error) {
      local.nextWriteAt = now + PAUSE_AFTER_FAILURE;
      throw error;
    } finally {
      local.write = undefined;
    }
  }

  #bucketOf(id: string): LocalBucket {
    const existing = this.#buckets.get(id);
    if (existing) return existing;
    const local: LocalBucket = { bucket: fullBucket, nextWriteAt: 0 };
    this.#buckets.set(id, local);
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
