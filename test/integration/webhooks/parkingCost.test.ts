import { beforeAll, expect, test } from '@jest/globals';
import { forAllTests } from '../../support/acmeWorld.ts';
import { type AwsCall, startRecorder } from '../../support/capacity.ts';
import { DeliverySystem, HOUR, MINUTE } from '../../support/deliveries.ts';
import { startEngine } from '../../support/engine.ts';
import { WebhookReceiver } from '../../support/hooks.ts';
import { newWebhookCustomer, paths } from '../../support/webhooks.ts';

const PARKED = 100;
/** Dollars per million units, by the list prices of us-east-1. */
const WRITTEN = 0.625;
const READ = 0.125;
/**
 * What SQS and Lambda cost for a million deliveries, in dollars. Messages are sent, received and deleted in batches of
 * ten. A Lambda run lasts 30 ms.
 */
const OTHERS = 0.3 * 0.4 + 0.25;
const GOAL = 8;
/**
 * The write units for removing an event from the outbox. They are a cost of the event, so the cost of a delivery
 * excludes them.
 */
const OUTBOX = 2;

forAllTests(startEngine);
const recorder = forAllTests(startRecorder);
const hooks = forAllTests(() => new WebhookReceiver().start());
beforeAll(() => {
  process.env.ALLOW_LOOPBACK_DELIVERY = 'true';
});

const sum = (calls: readonly AwsCall[], units: 'readUnits' | 'writeUnits') =>
  calls.reduce((total, call) => total + call[units], 0);

test('a parked delivery that becomes exhausted costs at most $8 per million', async () => {
  const customer = await newWebhookCustomer();
  const tenant = customer.apiKey;
  const system = new DeliverySystem(tenant);
  hooks.answer('/dead', { status: 500 });
  await customer.ok(paths.create, { url: hooks.url('/dead'), filterTypes: ['comment.add'] });
  await system.publishMany(10);
  await system.processMessages(10);
  system.retryQueue.messages.length = 0;

  await system.publishMany(PARKED);
  const parking = await recorder.record(() => system.drain(system.now));
  expect(system.measures.counted.get('DeliveriesParked')).toBe(PARKED);
  system.now += 30 * HOUR + MINUTE;
  const exhausting = await recorder.record(() => system.runNextJob());
  expect(system.measures.counted.get('DeliveriesExhausted')).toBe(PARKED);

  const written = (sum(parking.calls, 'writeUnits') + sum(exhausting.calls, 'writeUnits')) / PARKED - OUTBOX;
  const read = (sum(parking.calls, 'readUnits') + sum(exhausting.calls, 'readUnits')) / PARKED;
  // Parking writes the delivery, and its entries in two indexes. Exhausting writes an event, the delivery and its new
  // index entry.
  expect(sum(parking.calls, 'writeUnits') / PARKED - OUTBOX).toBe(3);
  expect(sum(exhausting.calls, 'writeUnits') / PARKED).toBeLessThan(6.5);
  expect(written * WRITTEN + read * READ + OTHERS).toBeLessThan(GOAL);
});
