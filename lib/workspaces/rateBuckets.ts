import * as z from 'zod';
import type { Capability } from '../app/capability.ts';
import {
  type Bucket,
  fullBucket,
  type Limit,
  type LimitClass,
  limitClasses,
  settled,
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
  purpose: 'How much of its limit of calls an API key has used up',
  schema: z.object({ at: z.number(), expiresAt: z.number() }),
  pk: (of: { tenant: string }) => [of.tenant, 'RATE_BUCKETS'],
  sk: (key: { limitClass: LimitClass }) => [key.limitClass],
  expiresAt: ({ expiresAt }) => expiresAt,
});

const LIFETIME_SECONDS = 24 * 60 * 60;
/** Buckets that a process keeps; the oldest is dropped when there are more. */
const MOST_BUCKETS = 1_000;
/** How long a process waits after a settlement failed before it tries again. */
const PAUSE_AFTER_FAILURE = 1_000;

export interface Taking {
  readonly tenant: string;
  readonly limitClass: LimitClass;
  /** Calls per second, instead of what the settings say. */
  readonly perSecond?: number | undefined;
  /** Epoch ms. */
  readonly now: number;
}

export interface Taken {
  /** The settlement that this call has started, if any. It runs beside the call and must end before its answer, because a function sleeps after that. */
  readonly settlement?: Promise<void>;
}

interface Kept {
  bucket: Bucket;
  settling: boolean;
  settleFrom: number;
}

/**
 * The limits of calls. A call takes a token from this process's view of the bucket, which costs nothing. After a tenth of a second's worth of calls
 * the process adds them to the shared bucket and learns what all processes have used: one write. All calls are counted in the long run; at a time, each
 * process can be ahead by what it has not settled. When the table fails, a process still holds the limit for itself.
 */
export class RateBuckets {
  readonly #table: Table;
  readonly #limits: Readonly<Record<LimitClass, Limit>>;
  readonly #kept = new Map<string, Kept>();

  constructor(table: Table, limits: Readonly<Record<LimitClass, Limit>>) {
    this.#table = table;
    this.#limits = limits;
  }

  /** Takes a token for one call, or says after how many milliseconds there is one. */
  take({ tenant, limitClass, perSecond, now }: Taking): Taken | { readonly retryAfter: number } {
    const limit = { ...this.#limits[limitClass], ...(perSecond !== undefined && { perSecond }) };
    const kept = this.#keptOf(`${limitClass} ${tenant}`);
    const after = takeToken(kept.bucket, limit, now);
    if ('retryAfter' in after) return after;
    kept.bucket = after;
    if (kept.settling || after.unsettled < settlementSize(limit) || now < kept.settleFrom) return {};
    kept.settling = true;
    return { settlement: this.#settle(kept, { tenant, limitClass }, limit, now) };
  }

  async #settle(kept: Kept, key: { tenant: string; limitClass: LimitClass }, limit: Limit, now: number): Promise<void> {
    const calls = kept.bucket.unsettled;
    const by = timeOf(calls, limit);
    try {
      const before = await this.#table.advanceNumber(RateBucketEntity, key, {
        by,
        least: now,
        from: now,
        expiresAt: Math.floor(now / 1000) + LIFETIME_SECONDS,
      });
      kept.bucket = settled(kept.bucket, calls, before + by, limit);
    } catch (error) {
      kept.settleFrom = now + PAUSE_AFTER_FAILURE;
      throw error;
    } finally {
      kept.settling = false;
    }
  }

  #keptOf(id: string): Kept {
    const known = this.#kept.get(id);
    if (known) return known;
    const kept: Kept = { bucket: fullBucket, settling: false, settleFrom: 0 };
    this.#kept.set(id, kept);
    if (this.#kept.size > MOST_BUCKETS)
      for (const oldest of this.#kept.keys()) {
        this.#kept.delete(oldest);
        break;
      }
    return kept;
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
