import { beforeAll } from '@jest/globals';
import { type AcmeWorld, acmeWorld, forEachTest, type WorldOptions } from './acmeWorld.ts';
import { DeliverySystem } from './deliveries.ts';
import { WebhookReceiver } from './hooks.ts';
import { newWebhookCustomer, paths } from './webhooks.ts';

interface WebhookWorld extends AcmeWorld {
  /** The receiver of the customer's webhooks. */
  readonly hooks: WebhookReceiver;
  /** The workers that deliver the customer's webhooks. */
  readonly system: DeliverySystem;
  /** Creates a webhook endpoint with the receiver's URL of a path. Returns its id. */
  createEndpoint(path: string, fields?: object): Promise<string>;
  /** Turns basic webhooks on. */
  useBasicWebhooks(webhookServiceConfig: object): Promise<unknown>;
  /** Returns the customer's stored events of a type. */
  eventsOf(type: string): Promise<Record<string, any>[]>;
  /** Returns the status of a delivery and its number of attempts, or undefined if there is no delivery. */
  stateOf(eventId: string, endpointId: string): Promise<unknown[] | undefined>;
}

/** Like `acmeWorld`. Each test has a customer with advanced webhooks turned on, a receiver, and workers. */
export function webhookWorld(options: WorldOptions = {}): WebhookWorld {
  beforeAll(() => {
    process.env.ALLOW_LOOPBACK_DELIVERY = 'true';
  });
  const world = acmeWorld({ newCustomer: newWebhookCustomer, ...options });
  const { customer } = world;
  const hooks = forEachTest(() => new WebhookReceiver().start());
  const system = forEachTest(() => new DeliverySystem(customer.apiKey));
  return {
    ...world,
    hooks,
    system,
    createEndpoint: async (path, fields) =>
      (await customer.ok(paths.create, { url: hooks.url(path), ...fields })).id as string,
    useBasicWebhooks: (webhookServiceConfig) =>
      customer.ok(paths.updateBasic, { useWebhookService: true, webhookServiceConfig }),
    eventsOf: async (type) => (await world.itemsOf('Event')).filter(({ event }) => event === type),
    async stateOf(eventId, endpointId) {
      const delivery = await system.delivery(eventId, endpointId);
      return delivery && [delivery.status, delivery.attempts];
    },
  };
}
