/** Measures the capacity units of one event and one delivery, as the engine reports them, and their list price. Takes about 10 s. */
import { environment } from '../../../lib/app/capability.ts';
import { openTable } from '../../../lib/table/table.ts';
import type { DeliveryMessage } from '../../../lib/webhooks/deliveryMessage.ts';
import { startRecorder, total } from '../../support/capacity.ts';
import { startEngine } from '../../support/engine.ts';
import { newWebhookCustomer, paths } from '../../support/webhooks.ts';
import { printTable, type Row } from '../report.ts';
import { dollarsPerMillion, FUNCTIONS_PER_MILLION, prices } from './prices.ts';
import { startReceiver } from './receivers.ts';
import { Sender } from './sender.ts';

const MANY = 10;
/** Send, receive and delete: three requests per ten messages. */
const REQUESTS_PER_DELIVERY = 3 / 10;

interface Consumed {
  readonly calls: number;
  readonly read: number;
  readonly written: number;
}

const engine = await startEngine({ sdk: true });
const recorder = await startRecorder();
process.env.ALLOW_LOOPBACK_DELIVERY = 'true';
const receiver = await startReceiver();
const { apiKey, ok } = await newWebhookCustomer();
const sender = new Sender(openTable(environment(process.env)), { live: 0, slow: 0 });
const create = async (path: string, event: string): Promise<string> =>
  (await ok(paths.create, { url: receiver.url(path), filterTypes: [event] })).id;
const well = await create('/well', 'comment.add');
const failing = await create('/fail', 'comment.update');
for (let i = 0; i < MANY; i++) await create('/many', 'huddle.create');

// This event fills the caches of the process, such as the master key. They are no part of the cost of a delivery.
const warm = await sender.emit(apiKey);
await sender.fanOut([warm]);
await sender.deliver(messageFor(warm, well, 1), sender.live);

const [, emitting] = await eventOf('huddle.join');
const [{ eventId }, , one] = await eventOf('comment.add');
const [, , many] = await eventOf('huddle.create');
const [failed] = await eventOf('comment.update');
const making = minus(many, one, MANY - 1);
const event = plus(emitting, minus(one, making));
const delivered = await consumed(() => sender.deliver(messageFor({ eventId }, well, 1), sender.live));
const first = await consumed(() => sender.deliver(messageFor(failed, failing, 1), sender.live));
await receiver.recover();
const second = await consumed(() => sender.deliver(messageFor(failed, failing, 2), sender.slow));
await receiver.stop();
await recorder.stop();
await engine.stop();
if (
  sender.errors.length > 0 ||
  sender.counted.get('WebhookAttemptsDelivered') !== 3 ||
  sender.counted.get('WebhookAttemptsFailed') !== 1
)
  throw new Error(`Not what was to be measured: ${String(sender.errors[0])}`);

const delivery = plus(making, delivered);
printTable(
  `What an event of two kilobytes and its deliveries consume, and dollars per million of them by list prices of us-east-1
(written $${prices.written}, read $${prices.read}, SQS $${prices.sqsRequests} per million; functions $${FUNCTIONS_PER_MILLION} per million deliveries of 300 ms, ten at a time). The change that causes the event is not in it.`,
  ['what', 'calls', 'read', 'written', 'table $', 'with SQS and functions $'],
  [
    row('an event, without deliveries', event, 0),
    row('a delivery, first attempt succeeds', delivery, 1),
    row('  of these: made', making, 0),
    row('  of these: delivered', delivered, 1),
    row('an attempt that fails', first, 1),
    row('the second one, which succeeds', second, 1),
    row('1 event at 1 endpoint', plus(event, delivery), 1),
    row('1 event at 50 endpoints', plus(event, times(delivery, 50)), 50),
  ],
);

/** Creates an event. Returns the units of writing it and of its fan-out. */
async function eventOf(type: string): Promise<[{ eventId: string }, Consumed, Consumed]> {
  const { result: made, calls } = await recorder.record(() => sender.emit(apiKey, type));
  return [made, sum(calls), await consumed(() => sender.fanOut([made]))];
}

async function consumed(work: () => Promise<unknown>): Promise<Consumed> {
  return sum((await recorder.record(work)).calls);
}

function sum(calls: Parameters<typeof total>[0]): Consumed {
  const { readUnits: read, writeUnits: written } = total(calls);
  return { calls: calls.length, read, written };
}

function plus(a: Consumed, b: Consumed): Consumed {
  return { calls: a.calls + b.calls, read: a.read + b.read, written: a.written + b.written };
}

function times(a: Consumed, factor: number): Consumed {
  return { calls: a.calls * factor, read: a.read * factor, written: a.written * factor };
}

/** Returns the difference, divided by `parts`. */
function minus(a: Consumed, b: Consumed, parts = 1): Consumed {
  return times(plus(a, times(b, -1)), 1 / parts);
}

function messageFor({ eventId }: { eventId: string }, endpointId: string, attemptNo: number): DeliveryMessage {
  return { tenant: apiKey, eventId, endpointId, attemptNo };
}

function row(what: string, consumption: Consumed, deliveries: number): Row {
  const table = dollarsPerMillion(consumption);
  const all = table + deliveries * (REQUESTS_PER_DELIVERY * prices.sqsRequests + FUNCTIONS_PER_MILLION);
  return [
    what,
    consumption.calls,
    consumption.read.toFixed(1),
    consumption.written.toFixed(1),
    table.toFixed(2),
    all.toFixed(2),
  ];
}
