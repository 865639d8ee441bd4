import type { Capability } from '../app/capability.ts';
import { AFTER_ALL_TIMES, isoTime } from '../shared/isoTime.ts';
import type { Stored } from '../table/entity.ts';
import { shardNumbers } from '../table/queryShards.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { itemOf, type Table, type WriteOp } from '../table/table.ts';
import { DeliveryEntity, parkedDeliveriesTo, parkedShards, type StoredDelivery } from './deliveries.ts';
import { EndpointHealthEntity } from './endpointHealth.ts';
import { EndpointSlotsEntity } from './rateSlots.ts';
import { isParked, type ParkedDelivery } from './rules/delivery.ts';
import type { EndpointHealth } from './rules/health.ts';
import { type EndpointKey, type Target, targetItem } from './targets.ts';
import { AdvancedWebhookConfigEntity } from './webhookConfigs.ts';

/** The state of an endpoint. It decides what happens to the endpoint's parked deliveries, which wait for its circuit breaker. */
export interface EndpointState {
  /** Undefined if the endpoint is deleted or disabled, or if advanced webhooks are disabled. */
  readonly target: Stored<Target> | undefined;
  readonly health: Stored<EndpointHealth> | undefined;
  /** The first free slot of the rate limit, epoch ms. */
  readonly freeSlot: number | undefined;
}

export interface ParkedPage {
  readonly deliveries: StoredDelivery<ParkedDelivery>[];
  /**
   * Whether the query found no index entry. The index is eventually consistent, so `deliveries` can be empty although there are
   * entries.
   */
  readonly isEmpty: boolean;
}

export class ParkedDeliveryStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Reads the state of an endpoint in one consistent BatchGet. */
  async readEndpoint(key: EndpointKey): Promise<EndpointState> {
    const [target, advanced, health, slots] = await this.#table.batchGet(
      targetItem(key),
      itemOf(AdvancedWebhookConfigEntity, key),
      itemOf(EndpointHealthEntity, key),
      itemOf(EndpointSlotsEntity, key),
    );
    const isOn = target?.kind === 'basic' || advanced?.isEnabled;
    // Slots of an earlier revision do not count, as in `RateSlots`.
    const freeSlot = slots && target && (slots.revision ?? 0) >= target._r ? slots.at : undefined;
    return { target: isOn ? target : undefined, health, freeSlot };
  }

  /**
   * Reads at most `limit` parked deliveries of an endpoint, those with the earliest deadlines first. With `until` (epoch ms), reads
   * only deliveries with a deadline up to this time.
   */
  async listOldest(key: EndpointKey, limit: number, until?: number): Promise<ParkedPage> {
    const between = [isoTime(0), `${until === undefined ? '' : isoTime(until)}${AFTER_ALL_TIMES}`] as const;
    const shards = await Promise.all(
      shardNumbers(parkedShards).map((shard) =>
        this.#table.queryIndex('gsi3', parkedDeliveriesTo(key, shard), {
          between,
          limit: Math.ceil(limit / parkedShards),
        }),
      ),
    );
    // Sort keys begin with the deadline, so they sort by deadline.
    const keys = shards
      .flatMap((page) => page.keys.map((item, index) => ({ item, sortKey: page.sortKeys[index] ?? '' })))
      .sort((a, b) => (a.sortKey < b.sortKey ? -1 : 1))
      .slice(0, limit)
      .map(({ item }) => item);
    const stored = await this.#table.getByKeys(DeliveryEntity, keys);
    return {
      deliveries: stored.flatMap((delivery) =>
        delivery && isParked(delivery) ? [{ ...delivery, tenant: key.tenant }] : [],
      ),
      isEmpty: keys.length === 0,
    };
  }

  /**
   * Writes the items of an event that no endpoint receives one after the other, without a transaction. Customers can still list the
   * event as a message. Items that exist stay unchanged.
   */
  async writeListedEvent(ops: readonly WriteOp[]): Promise<void> {
    for (const op of ops) await this.#table.write([op]);
  }
}

export const endParkedDeliveries: Capability<
  Pick<ParkedDeliveryStore, 'readEndpoint' | 'listOldest' | 'writeListedEvent'>
> = /* @__PURE__ */ storeCapability(ParkedDeliveryStore, ['BatchGetItem', 'PutItem'], ['gsi3']);
