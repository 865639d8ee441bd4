import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { worker as deliverWebhookWorker } from '../../../functions/workers/deliverWebhook.ts';
import { worker as deliverWebhookSlowWorker } from '../../../functions/workers/deliverWebhookSlow.ts';
import { worker as fanOutEventsWorker } from '../../../functions/workers/fanOutEvents.ts';
import { worker as sweepWorker } from '../../../functions/workers/sweep.ts';
import { worker as sweepShardWorker } from '../../../functions/workers/sweepShard.ts';
import { forAllTests } from '../../support/acmeWorld.ts';
import { DeliverySystem } from '../../support/deliveries.ts';
import { startEngine } from '../../support/engine.ts';
import { workerHandler } from '../../support/functionHandlers.ts';
import { WebhookReceiver } from '../../support/hooks.ts';
import { everyItem } from '../../support/items.ts';
import { startQueues } from '../../support/queues.ts';
import { newWebhookCustomer, paths } from '../../support/webhooks.ts';
import { insertsEvent, lambdaContext, messagesEvent } from '../../support/workers.ts';

const deliverWebhook = workerHandler(deliverWebhookWorker);
const deliverWebhookSlow = workerHandler(deliverWebhookSlowWorker);
const fanOutEvents = workerHandler(fanOutEventsWorker);
const sweep = workerHandler(sweepWorker);
const sweepShard = workerHandler(sweepShardWorker);

const engine = forAllTests(startEngine);
const queues = forAllTests(startQueues);
const hooks = forAllTests(() => new WebhookReceiver().start());
beforeAll(() => {
  process.env.ALLOW_LOOPBACK_DELIVERY = 'true';
});
beforeEach(() => queues.clear());

const bodies = (name: 'deliver' | 'deliverSlow' | 'sweep') => queues.messagesOf(name).map(({ body }) => body);
const eventItems = async (...ids: string[]) =>
  (await everyItem(engine)).filter(({ _t, eventId }) => _t === 'Event' && ids.includes(eventId));
const nothingFailed = { batchItemFailures: [] };

/** Creates a customer with one endpoint. */
async function newCustomerWithEndpoint(path: string) {
  const customer = await newWebhookCustomer();
  const { id } = await customer.ok(paths.create, { url: hooks.url(path) });
  return { tenant: customer.apiKey, endpointId: id as string, system: new DeliverySystem(customer.apiKey) };
}

test('the fan-out worker and the delivery worker deliver an event of the stream and retry a failed attempt', async () => {
  const { tenant, endpointId, system } = await newCustomerWithEndpoint('/a');
  hooks.answer('/a', (_hook, nth) => ({ status: nth === 1 ? 500 : 200 }));
  const eventId = await system.emit();

  expect(await fanOutEvents(insertsEvent(await eventItems(eventId)), lambdaContext())).toEqual(nothingFailed);
  expect(bodies('deliver')).toEqual([{ tenant, eventId, endpointId, group: expect.any(String), attemptNo: 1 }]);

  expect(await deliverWebhook(messagesEvent(bodies('deliver')), lambdaContext())).toEqual(nothingFailed);
  expect(queues.messagesOf('deliverSlow')).toEqual([
    { body: { tenant, eventId, endpointId, attemptNo: 2 }, delaySeconds: 5 },
  ]);

  expect(await deliverWebhookSlow(messagesEvent(bodies('deliverSlow')), lambdaContext())).toEqual(nothingFailed);
  expect(hooks.at('/a').map(({ headers }) => headers['webhook-id'])).toEqual([eventId, eventId]);
  expect(await system.delivery(eventId, endpointId)).toMatchObject({
    status: 'DELIVERED',
    attempts: 2,
  });
});

test('the fan-out worker ignores an event that is stored as fanned out', async () => {
  const { system } = await newCustomerWithEndpoint('/b');
  const [item] = await eventItems(await system.emit());
  expect(await fanOutEvents(insertsEvent([{ ...item, fannedOutAt: 1 }]), lambdaContext())).toEqual(nothingFailed);
  expect(bodies('deliver')).toEqual([]);
});

test('the timer and the sweep worker fan out an event that did not arrive through the stream', async () => {
  const { tenant, endpointId, system } = await newCustomerWithEndpoint('/c');
  system.now -= 10 * 60_000;
  const eventId = await system.emit();
  await sweep({}, lambdaContext());
  const messages = bodies('sweep');
  expect(messages).toEqual([{ work: 'events', shard: expect.any(Number) }]);
  expect(await sweepShard(messagesEvent(messages), lambdaContext())).toEqual(nothingFailed);
  expect(bodies('deliver')).toEqual([{ tenant, eventId, endpointId, group: expect.any(String), attemptNo: 1 }]);
  expect(await system.isFannedOut(eventId)).toBe(true);
});
