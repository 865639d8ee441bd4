import type { StoredDelivery } from '../../../lib/webhooks/deliveries.ts';
import { type Target, targetItem } from '../../../lib/webhooks/targets.ts';
import type { Key, Stored } from '../../../lib/table/entity.ts';
import { EventEntity, EventPayloadEntity, type StoredEvent } from '../../../lib/events/outbox.ts';
import type { Table, ItemRead } from '../../../lib/table/table.ts';
import { AdvancedWebhookConfigEntity } from '../../../lib/webhooks/configs.ts';
import type { AttemptPorts } from '../../../lib/webhooks/attempt.ts';
import type { DeliveryMessage } from '../../../lib/webhooks/deliveryMessage.ts';
import { type Delivery, newDelivery } from '../../../lib/webhooks/rules/delivery.ts';
import type { AdvancedWebhookConfig } from '../../../lib/webhooks/rules/advanced.ts';
import type { WebhookEndpoint } from '../../../lib/webhooks/rules/endpoints.ts';
import { realTiming } from './sender.ts';

const identity = ({ PK, SK }: Key) => `${PK}\n${SK}`;
const rowOf = ({ eventId, endpointId }: { eventId: string; endpointId: string }) => `${eventId}\n${endpointId}`;

/** Stores deliveries in memory instead of in a table. */
export class Memory {
  readonly #values = new Map<string, unknown>();
  readonly #targets = new Map<string, Stored<Target>>();
  readonly #rows = new Map<string, StoredDelivery>();

  /** A table that returns stored values, for the code that builds requests. */
  readonly table = {
    batchGet: async (...all: readonly ItemRead<unknown>[]) => all.map(({ key }) => this.#values.get(identity(key))),
  } as unknown as Table;

  readonly deliveries: AttemptPorts['deliveries'] = {
    load: async (key) => ({
      delivery: this.#rows.get(rowOf(key)),
      target: this.#targets.get(key.endpointId),
      health: undefined,
    }),
    get: async (key) => this.#rows.get(rowOf(key)),
    replace: async <D extends Delivery>({ tenant, _r }: { tenant: string; _r: number }, next: D) => {
      if (this.#rows.get(rowOf(next))?._r !== _r) return 'lost';
      const stored = { ...next, tenant, _r: _r + 1 };
      this.#rows.set(rowOf(next), stored);
      return stored;
    },
    logAttempt: async () => undefined,
  };

  readonly health: AttemptPorts['health'] = { get: async () => undefined, write: async () => 'done' };

  readonly slots: AttemptPorts['slots'] = { reserve: async (_key, _rateLimit, clock) => clock() };

  customer(tenant: string, config: AdvancedWebhookConfig, endpoints: readonly WebhookEndpoint[]): void {
    this.#values.set(identity(AdvancedWebhookConfigEntity.key({ tenant })), { ...config, _r: 1 });
    for (const endpoint of endpoints) {
      const target: Stored<Target> = {
        kind: 'advanced',
        url: endpoint.url,
        rateLimit: endpoint.rateLimit,
        endpoint: { ...endpoint, _r: 1 },
        _r: 1,
      };
      this.#targets.set(endpoint.endpointId, target);
      this.#values.set(identity(targetItem({ tenant, endpointId: endpoint.endpointId }).key), target);
    }
  }

  /** Stores an event with its deliveries. Returns the messages of the deliveries. */
  event(event: StoredEvent, payload: string, endpointIds: readonly string[]): DeliveryMessage[] {
    const { tenant, eventId, createdAt } = event;
    this.#values.set(identity(EventEntity.key(event)), event);
    this.#values.set(identity(EventPayloadEntity.key(event)), { payload, createdAt, _r: 1 });
    return endpointIds.map((endpointId) => {
      this.#rows.set(rowOf({ eventId, endpointId }), {
        ...newDelivery({ ...event, endpointId }, createdAt, realTiming),
        tenant,
        _r: 1,
      });
      return { tenant, eventId, endpointId, attemptNo: 1 };
    });
  }
}
