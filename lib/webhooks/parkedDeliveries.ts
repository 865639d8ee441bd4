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

export interface EndpointState {
  readonly target: Stored<Target> | undefined;
  readonly health: Stored<EndpointHealth> | undefined;
  readonly freeSlot: number | undefined;
}

export interface ParkedPage {
  readonly deliveries: StoredDelivery<ParkedDelivery>[];
  /** The index has no entry. An entry can be of a delivery that is not parked any more. */
  readonly isEmpty: boolean;
}

export class ParkedDeliveryStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async readEndpoint(key: EndpointKey): Promise<EndpointState> {
    const [target, advanced, health, slots] = await this.#table.batchGet(
      targetItem(key),
      itemOf(AdvancedWebhookConfigEntity, key),
      itemOf(EndpointHealthEntity, key),
      itemOf(EndpointSlotsEntity, key),
    );
    const isOn = target?.kind === 'basic' || advanced?.isEnabled;
    const freeSlot = slots && target && (slots.revision ?? 0) >= target._r ? slots.at : undefined;
    return { target: isOn ? target : undefined, health, freeSlot };
  }

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

  /** Without a transaction, for half the price. Existing items stay. */
  async writeListedEvent(ops: readonly WriteOp[]): Promise<void> {
    for (const op of ops) await this.#table.write([op]);
  }
}

export const endParkedDeliveries: Capability<
  Pick<ParkedDeliveryStore, 'readEndpoint' | 'listOldest' | 'writeListedEvent'>
> = /* @__PURE__ */ storeCapability(ParkedDeliveryStore, ['BatchGetItem', 'PutItem'], ['gsi3']);
