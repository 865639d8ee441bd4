import { beforeAll, expect, test } from '@jest/globals';
import { worker as sweep } from '../../../functions/workers/sweep.ts';
import { SWEEP_UNITS_READ } from '../../../infra/commands/cost/idle.ts';
import { environment, openAll } from '../../../lib/app/capability.ts';
import { forAllTests } from '../../support/acmeWorld.ts';
import { type AwsCall, startRecorder } from '../../support/capacity.ts';
import { DeliverySystem, HOUR, MINUTE } from '../../support/deliveries.ts';
import { startEngine } from '../../support/engine.ts';
import { WebhookReceiver } from '../../support/hooks.ts';
import { times } from '../../support/times.ts';
import { newWebhookCustomer, paths } from '../../support/webhooks.ts';

forAllTests(startEngine);
const recorder = forAllTests(startRecorder);
const hooks = forAllTests(() => new WebhookReceiver().start());
beforeAll(() => {
  process.env.ALLOW_LOOPBACK_DELIVERY = 'true';
});

const written = (calls: readonly AwsCall[]) => calls.reduce((sum, { writeUnits }) => sum + writeUnits, 0);

/** The event's data name no user, so deliveries do not read profiles. */
const payload = { source: 'huddle' as const, data: { huddleId: 'h1' } };
const read = (calls: readonly AwsCall[]) => calls.reduce((sum, { readUnits }) => sum + readUnits, 0);
const shape = (calls: readonly AwsCall[]) => calls.map(({ operation, writeUnits }) => [operation, writeUnits]);
/** Returns what a million repetitions of the calls cost in dollars, by the list prices of us-east-1. */
const tableDollars = (calls: readonly AwsCall[]) => 0.625 * written(calls) + 0.125 * read(calls);

/** Creates a customer with an endpoint for each path, and the workers that deliver the customer's webhooks. */
async function newSystem(endpoints: Readonly<Record<string, object>>): Promise<DeliverySystem> {
  const customer = await newWebhookCustomer();
  for (const [path, fields] of Object.entries(endpoints))
    await customer.ok(paths.create, { url: hooks.url(path), ...fields });
  return new DeliverySystem(customer.apiKey);
}

test('an event with one delivery that succeeds at once makes 5 calls', async () => {
  const system = await newSystem({ '/a': {} });
  // The first delivery also reads secrets and settings and opens connections. The process keeps them.
  await system.publish();
  await system.drain();

  const emitted = await recorder.record(() => system.emit({ payload }));
  const [event] = await system.insertedEvents([emitted.result]);
  const fannedOut = await recorder.record(() => system.fanOutEvents([event!]));
  const delivered = await recorder.record(() => system.drain());
  // Writes the event with two index entries.
  expect(shape(emitted.calls)).toEqual([['PutItem', 3]]);
  // Reads the revision of the webhook settings, and the API key.
  expect(shape(fannedOut.calls)).toEqual([['BatchGetItem', 0]]);
  // Reads the event, its payload, the delivery, the endpoint's health and the revision of the settings. Writes the
  // delivery with its index entry. Removes the event from the outbox.
  expect(shape(delivered.calls)).toEqual([
    ['BatchGetItem', 0],
    ['PutItem', 2],
    ['PutItem', 2],
  ]);
  expect([read(fannedOut.calls), read(delivered.calls)]).toEqual([2, 5]);
});

test('an event with 50 deliveries makes at most 118 calls, at $96 per million events', async () => {
  const system = await newSystem(Object.fromEntries(times(50, (index) => [`/many/${index}`, {}])));
  await system.publish();
  await system.drain();

  const { calls } = await recorder.record(async () => {
    const eventId = await system.emit({ payload });
    await system.fanOutEvents(await system.insertedEvents([eventId]));
    for (const { body } of system.firstQueue.messages.splice(0)) await system.processMessage(body);
  });
  // In reality, the event comes from the stream. The test reads it instead, and does not count this read.
  expect([calls.length - 1, written(calls), read(calls) - 1]).toEqual([62, 117, 111]);
  // Each of the three messages is sent, received and deleted in a batch of ten. A Lambda run of 300 ms processes ten
  // messages, which is $0.21 per million messages.
  const queueAndFunctions = 3 * (0.3 * 0.4 + 0.21);
  expect(tableDollars(calls) + queueAndFunctions).toBeLessThanOrEqual(96);
});

test('a delivery that succeeds at once costs 2 write units, $3 per million in batches and $5 alone', async () => {
  const system = await newSystem({ '/ten': {} });
  await system.publish();
  await system.drain();
  await system.publishMany(10, { payload });
  const messages = system.firstQueue.messages.splice(0).map(({ body }) => body);

  const ten = await recorder.record(() => Promise.all(messages.map((body) => system.processMessage(body))));
  // One BatchGet reads the items of all deliveries. Each delivery is one write, and so is the removal of each event
  // from the outbox.
  expect(ten.calls.map(({ operation }) => operation).sort()).toEqual(['BatchGetItem', ...Array(20).fill('PutItem')]);
  const mark = 2;
  expect(written(ten.calls)).toBe(10 * (2 + mark));
  // Reads the event, its payload and its delivery for each message. Reads the endpoint's health and the revision of
  // the settings only once.
  expect(read(ten.calls)).toBe(10 * 3 + 2);
  const inTen = tableDollars(ten.calls) / 10 - 0.625 * mark;
  // Three SQS requests and a Lambda run of 300 ms: in the first line for ten messages together, in the second line for
  // one message.
  expect(inTen + 0.3 * 0.4 + 0.21).toBeLessThanOrEqual(3);
  expect(inTen + 0.125 + 3 * 0.4 + 1.53).toBeLessThanOrEqual(5);
});

test('a delivery to an endpoint with recent failures costs one more write unit', async () => {
  const system = await newSystem({ '/b': {} });
  hooks.answer('/b', (_hook, nth) => ({ status: nth === 1 ? 500 : 200 }));
  await system.publish();
  await system.processNextMessage();
  await system.publish();
  const { calls } = await recorder.record(() => system.processMessage(system.firstQueue.messages[0]!.body));
  expect(written(calls)).toBe(4 + 1);
});

test('a sweep without work reads half a unit per shard, as the price calculation assumes', async () => {
  const system = await newSystem({});
  const deps = openAll(sweep.uses, environment(process.env));
  const { calls } = await recorder.record(() => sweep.run({ ...system.call, deps, deadline: Date.now() + 50_000 }));
  expect(new Set(calls.map(({ operation }) => operation))).toEqual(new Set(['Query']));
  // The number of shards: 128 each for deliveries, first attempts and events, 16 each for mails and jobs, 8 for
  // presences, 2 for sessions, 1 for endpoints.
  expect(calls).toHaveLength(3 * 128 + 2 * 16 + 8 + 2 + 1);
  expect([read(calls), written(calls)]).toEqual([SWEEP_UNITS_READ, 0]);
});

test('a parked delivery that becomes exhausted costs at most $8 per million', async () => {
  const system = await newSystem({ '/dead': { filterTypes: ['comment.add'] } });
  hooks.answer('/dead', { status: 500 });
  await system.publishMany(10);
  await system.processMessages(10);
  system.retryQueue.messages.length = 0;

  await system.publishMany(100);
  const parking = await recorder.record(() => system.drain(system.now));
  expect(system.measures.counted.get('DeliveriesParked')).toBe(100);
  system.now += 30 * HOUR + MINUTE;
  const exhausting = await recorder.record(() => system.runNextJob());
  expect(system.measures.counted.get('DeliveriesExhausted')).toBe(100);

  // The removal of an event from the outbox is a cost of the event, so the cost of a delivery excludes it.
  const [parkingUnits, exhaustingUnits] = [written(parking.calls) / 100 - 2, written(exhausting.calls) / 100];
  // Parking writes the delivery, and its entries in two indexes. Exhausting writes an event, the delivery and its new
  // index entry.
  expect([parkingUnits, exhaustingUnits < 6.5]).toEqual([3, true]);
  // Messages of SQS come in batches of ten, and a Lambda run lasts 30 ms.
  const all = tableDollars([...parking.calls, ...exhausting.calls]) / 100 - 0.625 * 2;
  expect(all + 0.3 * 0.4 + 0.25).toBeLessThan(8);
});
