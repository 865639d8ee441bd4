import * as z from 'zod';
import type { Capability } from '../app/capability.ts';
import {
  type Bucket,
  fullBucket,
  type Limit,
  type LimitClass,
  limitClasses,
  settleBucket,
  settlementSize,
  takeToken,
  timeOf,
} from './rules/rateLimit.ts';
import { defineEntity } from '../table/entity.ts';
import { openTable, type Table } from '../table/table.ts';

/** The shared bucket of an API key and a class of calls. */
export const RateBucketEntity = defineEntity({
  type: 'RateBucket',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'The used part of the rate limit of an API key',
  schema: z.object({ at: z.number(), expiresAt: z.number() }),
  pk: (of: { tenant: string }) => [of.tenant, 'RATE_BUCKETS'],
  sk: (key: { limitClass: LimitClass }) => [key.limitClass],
  expiresAt: ({ expiresAt }) => expiresAt,
});

const LIFETIME_SECONDS = 24 * 60 * 60;
/** The most buckets of a process. The oldest one is dropped when there are more. */
const MOST_BUCKETS = 1_000;
/** The pause after a failed settlement, in ms. */
const PAUSE_AFTER_FAILURE = 1_000;

export interface Taking {
  readonly tenant: string;
  readonly limitClass: LimitClass;
  /** Calls per second, when they differ from the settings. */
  readonly perSecond?: number | undefined;
  /** Epoch ms. */
  readonly now: number;
}

export interface Taken {
  /**
   * The settlement that this call started, if any. It runs concurrently and must end before the answer, because a
   * function sleeps after it.
   */
  readonly settlement?: Promise<void>;
}

interface LocalBucket {
  bucket: Bucket;
  settling: boolean;
  settleFrom: number;
}

/**
 * Limits the calls of API keys. A call takes a token from this process's copy of the bucket, which needs no I/O.
 * After as many calls as a tenth of a second allows, the process settles: one write adds its calls to the shared bucket
 * and returns the calls of all processes. Every call is counted in the end. Until then each process can exceed the
 * limit by its unsettled calls. When the table fails, each process enforces the limit on its own calls.
 */
export class RateBuckets {
  readonly #table: Table;
  readonly #limits: Readonly<Record<LimitClass, Limit>>;
  readonly #buckets = new Map<string, LocalBucket>();

  constructor(table: Table, limits: Readonly<Record<LimitClass, Limit>>) {
    this.#table = table;
    this.#limits = limits;
  }

  /** Takes a token for one call, or returns after how many milliseconds there is one. */
  take({ tenant, limitClass, perSecond, now }: Taking): Taken | { readonly retryAfter: number } {
    const limit = { ...this.#limits[limitClass], ...(perSecond !== undefined && { perSecond }) };
    const local = this.#bucketOf(`${limitClass} ${tenant}`);
    const after = takeToken(local.bucket, limit, now);
    if ('retryAfter' in after) return after;
    local.bucket = after;
    if (local.settling || after.unsettled < settlementSize(limit) || now < local.settleFrom) return {};
    local.settling = true;
    return { settlement: this.#settle(local, { tenant, limitClass }, limit, now) };
  }

  async #settle(
    local: LocalBucket,
    key: { tenant: string; limitClass: LimitClass },
    limit: Limit,
    now: number,
  ): Promise<void> {
    const calls = local.bucket.unsettled;
    const by = timeOf(calls, limit);
    try {
      const before = await this.#table.advanceNumber(RateBucketEntity, key, {
        by,
        least: now,
        from: now,
        expiresAt: Math.floor(now / 1000) + LIFETIME_SECONDS,
      });
      local.bucket = settleBucket(local.bucket, calls, before + by, limit);
    } catch (error) {
      local.settleFrom = now + PAUSE_AFTER_FAILURE;
      throw error;
    } finally {
      local.settling = false;
    }
  }

  #bucketOf(id: string): LocalBucket {
    const existing = this.#buckets.get(id);
    if (existing) return existing;
    const local: LocalBucket = { bucket: fullBucket, settling: false, settleFrom: 0 };
    this.#buckets.set(id, local);
    if (this.#buckets.size > MOST_BUCKETS)
      for (const oldest of this.#buckets.keys()) {
        this.#buckets.delete(oldest);
        break;
      }
    return local;
  }
}

const rateVariables = {
  read: 'READS_PER_SECOND_PER_KEY',
  write: 'WRITES_PER_SECOND_PER_KEY',
  expensive: 'EXPENSIVE_CALLS_PER_SECOND_PER_KEY',
} as const satisfies Record<LimitClass, string>;

/** Limit the calls of API keys. */
export const rateBuckets: Capability<RateBuckets> = {
  grants: [{ resource: 'table', actions: ['UpdateItem'] }],
  env: [...Object.values(rateVariables), 'CALL_BURST_SECONDS'],
  open: (env) =>
    new RateBuckets(
      openTable(env),
      Object.fromEntries(
        limitClasses.map((one) => [
          one,
          { perSecond: Number(env[rateVariables[one]]), burstSeconds: Number(env.CALL_BURST_SECONDS) },
        ]),
      ) as Record<LimitClass, Limit>,
    ),
};
