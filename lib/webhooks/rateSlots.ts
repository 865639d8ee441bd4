import * as z from 'zod';
import { advanceNumber } from '../table/counters.ts';
import { defineEntity } from '../table/entity.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import { healthPartition } from './endpointHealth.ts';
import { SLOT_TOLERANCE, slotInterval } from './rules/limiter.ts';
import type { EndpointKey } from './targets.ts';

const LIFETIME_SECONDS = 30 * 24 * 60 * 60;

/** One update advances the slot, without a read before. */
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

export interface RevisionLimit {
  readonly rateLimit: number;
  readonly revision: number;
}

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
   * Returns the time of the slot, epoch ms. Slots from before the endpoint's last change do not count: they can follow
   * another limit, or belong to cancelled deliveries. Callers that arrive during a reservation share the next write,
   * because DynamoDB allows about 1,000 writes of one item per second.
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
