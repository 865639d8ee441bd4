import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type AwsCall, type Recorder, startRecorder } from '../../support/capacity.ts';
import { DeliverySystem, HOUR, MINUTE } from '../../support/deliveries.ts';
import { type Engine, startEngine } from '../../support/engine.ts';
import { WebhookReceiver } from '../../support/hooks.ts';
import { newWebhookCustomer, paths } from '../../support/webhooks.ts';

const PARKED = 100;
/** Dollars per million units, list prices of us-east-1. */
const WRITTEN = 0.625;
const READ = 0.125;
/** Send, receive and delete of a message in batches of ten; 30 ms of a function. */
const OTHERS = 0.3 * 0.4 + 0.25;
const GOAL = 8;
/** Write units of an event that leaves the outbox. They are part of the cost of the event, however many deliveries it has. */
const OUTBOX = 2;

let engine: Engine;
let recorder: Recorder;
let hooks: WebhookReceiver;
beforeAll(async () => {
  engine = await startEngine();
  recorder = await startRecorder();
  hooks = await new WebhookReceiver().start();
  process.env.ALLOW_LOOPBACK_DELIVERY = 'true';
});
afterAll(async () => {
  await hooks.stop();
  await recorder.stop();
  await engine.stop();
});

const sum = (calls: readonly AwsCall[], units: 'readUnits' | 'writeUnits') =>
  calls.reduce((total, call) => total + call[units], 0);

test('a delivery that is exhausted while its endpoint is paused costs at most $8 per million', async () => {
  const customer = await newWebhookCustomer();
  const tenant = customer.apiKey;
  const system = new DeliverySystem(tenant);
  hooks.answer('/dead', { status: 500 });
  await customer.ok(paths.create, { url: hooks.url('/dead'), filterTypes: ['comment.add'] });
  for (let i = 0; i < 10; i++) await system.publish(tenant);
  for (let i = 0; i < 10; i++) await system.processNextMessage();
  system.retryQueue.messages.length = 0;

  for (let i = 0; i < PARKED; i++) await system.publish(tenant);
  const parking = await recorder.record(() => system.drain(system.now));
  expect(system.measures.counted.get('DeliveriesParked')).toBe(PARKED);
  system.now += 30 * HOUR + MINUTE;
  const exhausting = await recorder.record(() => system.runNextJob());
  expect(system.measures.counted.get('DeliveriesExhausted')).toBe(PARKED);

  const written = (sum(parking.calls, 'writeUnits') + sum(exhausting.calls, 'writeUnits')) / PARKED - OUTBOX;
  const read = (sum(parking.calls, 'readUnits') + sum(exhausting.calls, 'readUnits')) / PARKED;
  // Parked: the row and its entries in two indexes. Exhausted: its event, and the row with its new index entry.
  expect(sum(parking.calls, 'writeUnits') / PARKED - OUTBOX).toBe(3);
  expect(sum(exhausting.calls, 'writeUnits') / PARKED).toBeLessThan(6.5);
  expect(written * WRITTEN + read * READ + OTHERS).toBeLessThan(GOAL);
});
