import * as z from 'zod';
import { defineEntity } from '../table/entity.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import { healthPartition } from './endpointHealth.ts';
import { slotInterval, SLOT_TOLERANCE } from './rules/limiter.ts';
import type { EndpointKey } from './targets.ts';

const LIFETIME_SECONDS = 30 * 24 * 60 * 60;

/** The first free slot in the rate limit of an endpoint, epoch ms. It is an item of its own, which is advanced without a read. */
export const EndpointSlotsEntity = defineEntity({
  type: 'EndpointSlots',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'When the next delivery to a webhook endpoint with a rate limit may begin',
  schema: z.object({ at: z.number(), expiresAt: z.number() }),
  pk: healthPartition,
  sk: (_key: unknown) => ['SLOTS'],
  expiresAt: ({ expiresAt }) => expiresAt,
});

/** Callers that wait for the next reservation, which is made for all of them in one write. */
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
   * Reserves the next free slot of an endpoint, epoch ms. Callers of this process that arrive during a reservation share the next one,
   * because one item takes about 1,000 writes per second.
   */
  async reserve(key: EndpointKey, rateLimit: number, clock: () => number): Promise<number> {
    const name = EndpointSlotsEntity.partition(key);
    const interval = slotInterval(rateLimit);
    const group = this.#waiting.get(name);
    if (group) {
      const position = group.size++;
      return (await group.firstSlot) + position * interval;
    }
    const running = this.#running.get(name);
    if (!running) return this.#reserve(name, key, interval, clock());
    const next: WaitingGroup = {
      size: 1,
      firstSlot: running
        .catch(() => undefined)
        .then(() => {
          this.#waiting.delete(name);
          return this.#reserve(name, key, next.size * interval, clock());
        }),
    };
    this.#waiting.set(name, next);
    return next.firstSlot;
  }

  /** Advances the free slot by `step` milliseconds and returns its value before that. */
  #reserve(name: string, key: EndpointKey, step: number, now: number): Promise<number> {
    const expiresAt = Math.ceil(now / 1000) + LIFETIME_SECONDS;
    const reservation = this.#table.advanceNumber(EndpointSlotsEntity, key, {
      by: step,
      least: now - SLOT_TOLERANCE,
      from: now,
      expiresAt,
    });
    this.#running.set(name, reservation);
    return reservation.finally(() => {
      if (this.#running.get(name) === reservation) this.#running.delete(name);
    });
  }
}

export const reserveRateSlots = /* @__PURE__ */ storeCapability(RateSlots, ['UpdateItem']);
