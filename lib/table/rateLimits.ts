import * as z from 'zod';
import type { Capability } from '../app/capability.ts';
import { BoundedMap } from '../shared/boundedMap.ts';
import { countDown, countUp } from './counters.ts';
import { defineEntity } from './entity.ts';
import { storeCapability } from './storeCapability.ts';
import type { Table } from './table.ts';

/**
 * Calls of a subject, such as an e-mail address, in a time window. Expires a window after its end, so a process with a
 * late clock can still count.
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
  readonly limit: number;
  readonly windowSeconds: number;
  readonly now: number;
}

/**
 * A process refuses a subject for this time without a table call. Afterwards it asks the table again, because another
 * process may have given calls back.
 */
const REFUSED_MILLISECONDS = 5_000;
const MAX_REFUSED = 10_000;

/**
 * All processes share the counters. Each call within the limit is one conditional write, a flood above it one table
 * call per process in five seconds.
 */
export class RateLimits {
  readonly #table: Table;
  readonly #refusedAt = new BoundedMap<string, number>(MAX_REFUSED);

  constructor(table: Table) {
    this.#table = table;
  }

  async allow(name: string, subject: string, { limit, windowSeconds, now }: RateLimit): Promise<boolean> {
    const window = Math.floor(now / 1000 / windowSeconds);
    if (this.#wasRefused(name, subject, window, now)) return false;
    const key = { name, subject, window };
    const isAllowed = await countUp(this.#table, RateLimitEntity, key, limit, (window + 2) * windowSeconds);
    if (!isAllowed) this.#refusedAt.set(refusalId(name, subject, window), now);
    return isAllowed;
  }

  async isUsedUp(name: string, subject: string, { limit, windowSeconds, now }: RateLimit): Promise<boolean> {
    const window = Math.floor(now / 1000 / windowSeconds);
    if (this.#wasRefused(name, subject, window, now)) return true;
    const stored = await this.#table.get(RateLimitEntity, { name, subject, window }, { eventual: true });
    const isUsedUp = (stored?.count ?? 0) >= limit;
    if (isUsedUp) this.#refusedAt.set(refusalId(name, subject, window), now);
    return isUsedUp;
  }

  async giveBack(name: string, subject: string, { windowSeconds, now }: Omit<RateLimit, 'limit'>): Promise<void> {
    const window = Math.floor(now / 1000 / windowSeconds);
    this.#refusedAt.delete(refusalId(name, subject, window));
    await countDown(this.#table, RateLimitEntity, { name, subject, window }, (window + 2) * windowSeconds);
  }

  #wasRefused(name: string, subject: string, window: number, now: number): boolean {
    return (this.#refusedAt.get(refusalId(name, subject, window)) ?? -Infinity) + REFUSED_MILLISECONDS > now;
  }
}

function refusalId(name: string, subject: string, window: number): string {
  return `${name} ${window} ${subject}`;
}

export const rateLimits = /* @__PURE__ */ storeCapability(RateLimits, ['UpdateItem']);

/** Check `isUsedUp` before the call, and count with `allow` after its failure. */
export const failureLimits: Capability<Pick<RateLimits, 'isUsedUp' | 'allow'>> = /* @__PURE__ */ storeCapability(
  RateLimits,
  ['GetItem', 'UpdateItem'],
);
