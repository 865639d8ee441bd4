import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type AwsCall, type Recorder, startRecorder } from '../../support/capacity.ts';
import { DeliverySystem } from '../../support/deliveries.ts';
import { type Engine, startEngine } from '../../support/engine.ts';
import { Hooks } from '../../support/hooks.ts';
import { newWebhookCustomer, paths } from '../../support/webhooks.ts';

let engine: Engine;
let recorder: Recorder;
let hooks: Hooks;
beforeAll(async () => {
  engine = await startEngine();
  recorder = await startRecorder();
  hooks = await new Hooks().start();
  process.env.ALLOW_LOOPBACK_DELIVERY = 'true';
});
afterAll(async () => {
  await hooks.stop();
  await recorder.stop();
  await engine.stop();
});

const written = (calls: readonly AwsCall[]) => calls.reduce((sum, { writeUnits }) => sum + writeUnits, 0);

test('costs 8 write units for an event, and 7 for each delivery that succeeds at once', async () => {
  const customer = await newWebhookCustomer();
  const tenant = customer.apiKey;
  const system = new DeliverySystem(tenant);
  await customer.ok(paths.create, { url: hooks.url('/a') });
  // The first delivery opens secrets and connections, which the process keeps.
  await system.publish(tenant);
  await system.drain();

  const emitted = await recorder.record(() => system.emit(tenant));
  const fannedOut = await recorder.record(() => system.fanOut(tenant, emitted.result));
  const delivered = await recorder.record(() => system.drain());
  expect(written(emitted.calls)).toBe(6);
  // The delivery with its two index entries; the mark of the event, which removes one entry.
  expect(fannedOut.calls.map(({ operation, writeUnits }) => [operation, writeUnits])).toEqual([
    ['BatchGetItem', 0],
    ['BatchGetItem', 0],
    ['Query', 0],
    ['PutItem', 3],
    ['PutItem', 2],
  ]);
  // load; claim; the event; the target again; the log; the result, which removes the entry of the due index.
  expect(delivered.calls.map(({ operation, writeUnits }) => [operation, writeUnits])).toEqual([
    ['BatchGetItem', 0],
    ['PutItem', 1],
    ['BatchGetItem', 0],
    ['BatchGetItem', 0],
    ['PutItem', 1],
    ['PutItem', 2],
  ]);
  expect(written(emitted.calls) + written(fannedOut.calls) + written(delivered.calls)).toBe(8 + 7);
});

test('costs one more write unit for a delivery to an endpoint with recent failures', async () => {
  const customer = await newWebhookCustomer();
  const tenant = customer.apiKey;
  const system = new DeliverySystem(tenant);
  await customer.ok(paths.create, { url: hooks.url('/b') });
  hooks.answer('/b', (_hook, nth) => ({ status: nth === 1 ? 500 : 200 }));
  await system.publish(tenant);
  await system.workOnNext();
  await system.publish(tenant);
  const { calls } = await recorder.record(() => system.work(system.live.messages[0]!.body));
  expect(written(calls)).toBe(4 + 1);
});
