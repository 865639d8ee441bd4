import * as z from 'zod';
import { advanceNumber } from '../table/counters.ts';
import { defineEntity } from '../table/entity.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import { healthPartition } from './endpointHealth.ts';
import { SLOT_TOLERANCE, slotInterval } from './rules/limiter.ts';
import type { EndpointKey } from './targets.ts';

const LIFETIME_SECONDS = 30 * 24 * 60 * 60;

/**
 * The first free slot in the rate limit of an endpoint, epoch ms, and the revision of the endpoint for which it was reserved. One
 * update advances it, without a read before.
 */
export const EndpointSlotsEntity = defineEntity({
  type: 'EndpointSlots',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'When the next delivery to a webhook endpoint with a rate limit may begin',
  schema: z.object({ at: z.number(), revision: z.number().optional(), expiresAt: z.number() }),
  pk: healthPartition,
  sk: (_key: unknown) => ['SLOTS'],
  expiresAt: ({ expiresAt }) => expiresAt,
});

/** The rate limit of one revision of an endpoint, in deliveries per second. */
export interface RevisionLimit {
  readonly rateLimit: number;
  readonly revision: number;
}

/** The callers in this process that wait for the next reservation. One write reserves a slot for each of them. */
interface WaitingGroup {
  size: number;
  readonly firstSlot: Promise<number>;
}

export class RateSlots {
  readonly #table: Table;
  readonly #running = new Map<string, Promise<number>>();
  readonly #waiting = new Map<string, WaitingGroup>();

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Reserves the next free slot of an endpoint and returns its time, epoch ms. Slots that were reserved before the endpoint's last
   * change do not count. They can follow another limit, or belong to deliveries that were cancelled since.
   *
   * Callers in this process that arrive during a reservation share the next write, because DynamoDB allows about 1,000 writes of
   * one item per second.
   */
  async reserve(key: EndpointKey, { rateLimit, revision }: RevisionLimit, clock: () => number): Promise<number> {
    const name = `${EndpointSlotsEntity.partition(key)} ${revision}`;
    const interval = slotInterval(rateLimit);
    const group = this.#waiting.get(name);
    if (group) {
      const position = group.size++;
      return (await group.firstSlot) + position * interval;
    }
    const running = this.#running.get(name);
    if (!running) return this.#reserve(name, key, { step: interval, revision }, clock());
    const next: WaitingGroup = {
      size: 1,
      firstSlot: running
        .catch(() => undefined)
        .then(() => {
          this.#waiting.delete(name);
          return this.#reserve(name, key, { step: next.size * interval, revision }, clock());
        }),
    };
    this.#waiting.set(name, next);
    return next.firstSlot;
  }

  /** Advances the first free slot by `step` milliseconds. Returns its value before the update, epoch ms. */
  #reserve(
    name: string,
    key: EndpointKey,
    { step, revision }: { step: number; revision: number },
    now: number,
  ): Promise<number> {
    const expiresAt = Math.ceil(now / 1000) + LIFETIME_SECONDS;
    const reservation = advanceNumber(this.#table, EndpointSlotsEntity, key, {
      by: step,
      least: now - SLOT_TOLERANCE,
      from: now,
      revision,
      expiresAt,
    });
    this.#running.set(name, reservation);
    return reservation.finally(() => {
      if (this.#running.get(name) === reservation) this.#running.delete(name);
    });
  }
}

export const reserveRateSlots = /* @__PURE__ */ storeCapability(RateSlots, ['UpdateItem']);
