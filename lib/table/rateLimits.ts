import * as z from 'zod';
import type { Capability } from '../app/capability.ts';
import { countDown, countUp } from './counters.ts';
import { defineEntity } from './entity.ts';
import { storeCapability } from './storeCapability.ts';
import type { Table } from './table.ts';

/**
 * The number of calls of a subject, such as an e-mail address, in a time window. The item expires one window after the end of its
 * window, so a process whose clock is late can still count.
 */
export const RateLimitEntity = defineEntity({
  type: 'RateLimit',
  version: 1,
  scope: 'service',
  ownedBy: 'expiry',
  purpose: 'The number of calls of a subject in a time window',
  schema: z.object({ count: z.number(), expiresAt: z.number() }),
  pk: (of: { name: string; subject: string }) => ['RATE', of.name, of.subject],
  sk: (key: { window: number }) => [String(key.window)],
  expiresAt: ({ expiresAt }) => expiresAt,
});

export interface RateLimit {
  /** The largest number of calls in one window. */
  readonly limit: number;
  readonly windowSeconds: number;
  /** The current time, epoch milliseconds. */
  readonly now: number;
}

/**
 * Limits the calls of subjects, such as e-mail addresses. All processes share the counters in the table. Each call is one
 * conditional write.
 */
export class RateLimits {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Counts a call of a subject. Returns whether it is within the limit of the current window. */
  async allow(name: string, subject: string, { limit, windowSeconds, now }: RateLimit): Promise<boolean> {
    const window = Math.floor(now / 1000 / windowSeconds);
    return countUp(this.#table, RateLimitEntity, { name, subject, window }, limit, (window + 2) * windowSeconds);
  }

  async isUsedUp(name: string, subject: string, { limit, windowSeconds, now }: RateLimit): Promise<boolean> {
    const window = Math.floor(now / 1000 / windowSeconds);
    const stored = await this.#table.get(RateLimitEntity, { name, subject, window }, { eventual: true });
    return (stored?.count ?? 0) >= limit;
  }

  /** Takes back the count of a call that had no effect. `now` is the time at which the call was counted. */
  async giveBack(name: string, subject: string, { windowSeconds, now }: Omit<RateLimit, 'limit'>): Promise<void> {
    const window = Math.floor(now / 1000 / windowSeconds);
    await countDown(this.#table, RateLimitEntity, { name, subject, window }, (window + 2) * windowSeconds);
  }
}

export const rateLimits = /* @__PURE__ */ storeCapability(RateLimits, ['UpdateItem']);

/** Check `isUsedUp` before the call, and count with `allow` after its failure. */
export const failureLimits: Capability<Pick<RateLimits, 'isUsedUp' | 'allow'>> = /* @__PURE__ */ storeCapability(
  RateLimits,
  ['GetItem', 'UpdateItem'],
);
