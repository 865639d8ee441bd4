import { beforeAll } from '@jest/globals';
import { acmeWorld, forEachTest, type World, type WorldOptions } from './acmeWorld.ts';
import { DeliverySystem } from './deliveries.ts';
import { WebhookReceiver } from './hooks.ts';
import { newWebhookCustomer } from './webhooks.ts';

export interface WebhookWorld extends World {
  /** The receiver of the customer's webhooks. */
  readonly hooks: WebhookReceiver;
  /** The workers that deliver the customer's webhooks. */
  readonly system: DeliverySystem;
}

/** Like `acmeWorld`. Each test has a customer with advanced webhooks turned on, a receiver, and workers. */
export function webhookWorld(options: WorldOptions = {}): WebhookWorld {
  beforeAll(() => {
    process.env.ALLOW_LOOPBACK_DELIVERY = 'true';
  });
  const world = acmeWorld({ newCustomer: newWebhookCustomer, ...options });
  return {
    ...world,
    hooks: forEachTest(() => new WebhookReceiver().start()),
    system: forEachTest(() => new DeliverySystem(world.customer.apiKey)),
  };
}
