/**
 * Counts what events and deliveries consume, on a table in memory that counts units as DynamoDB does, and prices it. Time is virtual: a
 * delivery behind a dead endpoint takes thirty hours and less than a second of this machine. Takes about 15 s.
 */
import diagnostics from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { lambdaDollars, MILLION, prices, tableDollars } from '../../../infra/commands/cost/prices.ts';
import { printTable, type Row } from '../report.ts';
import type { Consumption } from './memoryTable.ts';
import { EVENT_TYPE, newPublisher, OTHER_TYPE, startMemoryWorld } from './world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const BATCH = 10;
const MANY_ENDPOINTS = 50;
/** The assumed duration of an invocation that posts, and of any other. */
const MILLISECONDS = { posting: 300, other: 30 };
/** Deliveries of a dead endpoint in two runs. Their difference has no costs of the endpoint itself, such as the probes of its breaker. */
const DEAD = [10, 60] as const;
const TICK = 5 * MINUTE;
/** Messages that are due within this time are received together, as at a higher rate of events. */
const TOGETHER = 10_000;
/** Longer than the deadline of a delivery. */
const LONGEST = 31 * HOUR;

interface Cost {
  calls: number;
  read: number;
  written: number;
  sqs: number;
  milliseconds: number;
  runs: number;
}

const world = await startMemoryWorld();
const { table, cloud, receiver } = world;
let posts = 0;
diagnostics.subscribe('http.client.request.start', () => void posts++);

const one = await newPublisher();
await one.subscribe(receiver.url('/one'));
const many = await newPublisher();
for (let i = 0; i < MANY_ENDPOINTS; i++) await many.subscribe(receiver.url(`/many/${i}`));
// The first event opens secrets and connections, which the process keeps.
for (const customer of [one, many]) await customer.publish();
await cloud.drain();

const [single, none] = [await costOf(one, EVENT_TYPE, 1), await costOf(one, OTHER_TYPE, 1)];
const [ten, tenNone] = [await costOf(one, EVENT_TYPE, BATCH), await costOf(one, OTHER_TYPE, BATCH)];
const fifty = await costOf(many, EVENT_TYPE, 1);
cloud.batchSize = 1;
const alone = minus(await costOf(one, EVENT_TYPE, BATCH), tenNone);
cloud.batchSize = undefined;
const startedAt = performance.now();
const dead = [await costOfDead(DEAD[0]), await costOfDead(DEAD[1])] as const;
const seconds = (performance.now() - startedAt) / 1_000;
await world.stop();
if (cloud.failures > 0) throw new Error(`${cloud.failures} messages failed`);

const [inTens, exhausted] = [
  times(minus(ten, tenNone), 1 / BATCH),
  times(minus(dead[1], dead[0]), 1 / (DEAD[1] - DEAD[0])),
];
printTable(
  `What events of two kilobytes and deliveries consume, and dollars per million of them by list prices of us-east-1: table, SQS and functions (${MILLISECONDS.posting} ms if they post,
else ${MILLISECONDS.other} ms). Of publishing, only the writes count. A delivery is the difference between an event with it and an event without.`,
  ['what', 'calls', 'read', 'written', 'SQS', 'table $', 'all $', 'before', 'goal', 'reached'],
  [
    row('an event without deliveries', none),
    row('an event with one delivery', single, { before: '12 calls', goal: 5, by: ({ calls }) => calls }),
    row('the same, in batches of ten', times(ten, 1 / BATCH)),
    row(`an event to ${MANY_ENDPOINTS} endpoints`, fifty, { before: '355 calls, $288', goal: 96, by: dollars }),
    row('a delivery, in batches of ten', inTens, { before: '$5.59', goal: 3, by: dollars }),
    row('a delivery, in batches of one', times(alone, 1 / BATCH), { before: '$8.6', goal: 5, by: dollars }),
    row('a delivery that is exhausted behind a dead endpoint', exhausted, { before: '$300', goal: 8, by: dollars }),
  ],
);
console.log(`\nTwo times thirty hours of a dead endpoint took ${seconds.toFixed(1)} s.`);
process.exit();

type Publisher = Awaited<ReturnType<typeof newPublisher>>;

/** Publishes events and returns what they and their deliveries consume. Of publishing, only the writes. */
async function costOf(customer: Publisher, type: string, events: number): Promise<Cost> {
  const published = await table.measure(async () => {
    for (let i = 0; i < events; i++) await customer.publish(type);
  });
  return plus(await costOfWork(() => cloud.drain()), writesOf(published));
}

/** Publishes events to an endpoint that refuses connections, one a second, and lets the time pass until their deliveries are exhausted. */
async function costOfDead(events: number): Promise<Cost> {
  const customer = await newPublisher();
  await customer.subscribe(`http://127.0.0.1:${await closedPort()}/dead`);
  const from = Date.now();
  const published = await table.measure(async () => {
    for (let i = 0; i < events; i++) await customer.publish();
  });
  const cost = await costOfWork(async () => {
    await cloud.drain();
    for (let tick = from + TICK; tick < from + LONGEST; tick += TICK) {
      for (let next = cloud.nextMessageAt; next <= tick; next = cloud.nextMessageAt) {
        cloud.advanceTo(next + TOGETHER);
        await cloud.drain();
      }
      cloud.advanceTo(tick);
      await cloud.tick();
      await cloud.drain();
    }
  });
  return plus(cost, writesOf(published));
}

async function costOfWork(work: () => Promise<void>): Promise<Cost> {
  let [runs, milliseconds] = [0, 0];
  cloud.sqsRequests = 0;
  cloud.onRun = async (run) => {
    const before = posts;
    const answer = await run();
    runs++;
    milliseconds += posts > before ? MILLISECONDS.posting : MILLISECONDS.other;
    return answer;
  };
  const consumed: Consumption = await table.measure(work);
  return {
    calls: consumed.calls,
    read: consumed.read,
    written: consumed.written,
    sqs: cloud.sqsRequests,
    runs,
    milliseconds,
  };
}

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Returns the cost of the writes of publishing. */
function writesOf({ writes: calls, written }: Consumption): Cost {
  return { calls, read: 0, written, sqs: 0, milliseconds: 0, runs: 0 };
}

function plus(a: Cost, b: Cost): Cost {
  return {
    calls: a.calls + b.calls,
    read: a.read + b.read,
    written: a.written + b.written,
    sqs: a.sqs + b.sqs,
    milliseconds: a.milliseconds + b.milliseconds,
    runs: a.runs + b.runs,
  };
}

function times(a: Cost, factor: number): Cost {
  return {
    calls: a.calls * factor,
    read: a.read * factor,
    written: a.written * factor,
    sqs: a.sqs * factor,
    milliseconds: a.milliseconds * factor,
    runs: a.runs * factor,
  };
}

function minus(a: Cost, b: Cost): Cost {
  return plus(a, times(b, -1));
}

function tableCost({ read, written }: Cost): number {
  return tableDollars({ read: read * MILLION, written: written * MILLION });
}

/** Returns dollars per million. */
function dollars(cost: Cost): number {
  const functions = lambdaDollars(MILLION * cost.runs, cost.runs === 0 ? 0 : cost.milliseconds / cost.runs);
  return tableCost(cost) + cost.sqs * prices.queueRequests + functions;
}

function row(what: string, cost: Cost, aim?: { before: string; goal: number; by: (cost: Cost) => number }): Row {
  const decimals = (value: number) => value.toFixed(1);
  return [
    what,
    decimals(cost.calls),
    decimals(cost.read),
    decimals(cost.written),
    decimals(cost.sqs),
    tableCost(cost).toFixed(2),
    dollars(cost).toFixed(2),
    aim?.before ?? '',
    aim?.goal ?? '',
    aim ? (aim.by(cost) <= aim.goal ? 'yes' : 'no') : '',
  ];
}
