import { combine } from '../app/capability.ts';
import { EventEntity, payloadItem, smallPayloadOf, type StoredEvent } from '../events/outbox.ts';
import type { EventPayload } from '../events/rules/payload.ts';
import { BatchReader } from '../table/batchReader.ts';
import type { Stored } from '../table/entity.ts';
import { tableWith } from '../table/storeCapability.ts';
import { itemOf, type Table } from '../table/table.ts';
import { DeliveryEntity, type DeliveryKey, type StoredDelivery } from './deliveries.ts';
import { EndpointHealthEntity } from './endpointHealth.ts';
import type { EndpointHealth } from './rules/health.ts';
import { readSubscriptions, settingsItem, type SubscriptionReader, type Subscriptions } from './subscriptions.ts';

export interface LoadedItems {
  readonly event: StoredEvent | undefined;
  readonly payload: EventPayload | undefined;
  readonly delivery: StoredDelivery | undefined;
  readonly health: Stored<EndpointHealth> | undefined;
  readonly subscriptions: Subscriptions;
}

/** Attempts that begin together share consistent BatchGets. */
export class AttemptLoader {
  readonly #reader: BatchReader;
  readonly #subscriptions: Pick<SubscriptionReader, 'readAt'>;

  constructor(table: Table, subscriptions: Pick<SubscriptionReader, 'readAt'>) {
    this.#reader = BatchReader.of(table);
    this.#subscriptions = subscriptions;
  }

  async load(key: DeliveryKey): Promise<LoadedItems> {
    const { tenant } = key;
    const [event, payload, delivery, health, settings] = await this.#reader.batchGet(
      itemOf(EventEntity, key),
      payloadItem(key),
      itemOf(DeliveryEntity, key),
      itemOf(EndpointHealthEntity, key),
      settingsItem(tenant),
    );
    return {
      event: event && { ...event, tenant },
      payload: event && (smallPayloadOf(event) ?? payload),
      delivery: delivery && { ...delivery, tenant },
      health,
      subscriptions: await this.#subscriptions.readAt(tenant, settings),
    };
  }
}

export const loadAttempts = /* @__PURE__ */ combine(
  { table: /* @__PURE__ */ tableWith(['BatchGetItem']), subscriptions: readSubscriptions },
  ({ table, subscriptions }) => new AttemptLoader(table, subscriptions),
);
