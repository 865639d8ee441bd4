/** Sends 400 events to 50 endpoints, of which 5 fail and 2 hang: 20,000 deliveries on the engine. Takes about three minutes, five at most. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { Table } from '../../../lib/table/table.ts';
import { startEngine, TABLE_NAME } from '../../support/engine.ts';
import { newWebhookCustomer, paths } from '../../support/webhooks.ts';
import { printTable, type Row } from '../report.ts';
import { dollarsPerMillion } from './prices.ts';
import { until } from './queue.ts';
import { type Came, startReceiver } from './receivers.ts';
import { Sender } from './sender.ts';

const EVENTS = 400;
const ENDPOINTS = 50;
const FAILING = 5;
const HANGING = 2;
const WELL = ENDPOINTS - FAILING - HANGING;
const SECOND = 1000;
/** The real timeout is 15 s. Pauses are at most 20 s. */
const TIMEOUT = 1_500;
const timing = { schedule: [0, 5, 20, 20, 20, 20, 20, 20].map((seconds) => seconds * SECOND), marginMs: 300 * SECOND };
const STREAM_BATCH = 10;

const engine = await startEngine({ sdk: true });
process.env.ALLOW_LOOPBACK_DELIVERY = 'true';
const receiver = await startReceiver();
const { apiKey, ok } = await newWebhookCustomer();
for (let i = 0; i < ENDPOINTS; i++) {
  const kind = i < FAILING ? 'fail' : i < FAILING + HANGING ? 'hang' : 'well';
  await ok(paths.create, { url: receiver.url(`/${kind}/${i}`) });
}
const { table, units } = meteredTable();
const sender = new Sender(table, { timing, timeoutMs: TIMEOUT, live: 100, slow: 20 });

const startedAt = performance.now();
const events: Awaited<ReturnType<Sender['emit']>>[] = [];
for (let i = 0; i < EVENTS; i += STREAM_BATCH) {
  const batch = await Promise.all(Array.from({ length: STREAM_BATCH }, () => sender.emit(apiKey)));
  events.push(...batch);
  await sender.fanOut(batch);
}
const fannedOutAfter = performance.now() - startedAt;
await until(async () => count(await receiver.came(), '/well').messages === WELL * EVENTS, 250);
const wellAfter = performance.now() - startedAt;
const failedBefore = count(await receiver.came(), '/fail').requests;
await receiver.recover();
await until(async () => count(await receiver.came(), '/fail').messages === FAILING * EVENTS, 250);
const recoveredAfter = performance.now() - startedAt - wellAfter;
await until(() => sender.counted.get('WebhookAttemptsDelivered')! >= (WELL + FAILING) * EVENTS);

const came = await receiver.came();
const [well, fail, hang] = [count(came, '/well'), count(came, '/fail'), count(came, '/hang')];
await receiver.stop();
await engine.stop();
const deliveries = (WELL + FAILING) * EVENTS;
const rows: Row[] = [
  [`messages that ${WELL} healthy endpoints got, of ${WELL * EVENTS}`, well.messages],
  ['requests beyond these (duplicates)', well.requests - well.messages],
  ['seconds until they had them', (wellAfter / SECOND).toFixed(1)],
  ['deliveries per second in that time', Math.round((WELL * EVENTS * SECOND) / wellAfter)],
  ['seconds until all events were fanned out', (fannedOutAfter / SECOND).toFixed(1)],
  [`messages that the ${FAILING} failing ones got once they were well, of ${FAILING * EVENTS}`, fail.messages],
  ['failed requests before that, which breakers kept few', failedBefore],
  ['seconds until they had them', (recoveredAfter / SECOND).toFixed(1)],
  [`requests to the ${HANGING} that hang`, hang.requests],
  ['units written per delivery, events and pauses included', (units.written / deliveries).toFixed(2)],
  ['units read per delivery, the same', (units.read / deliveries).toFixed(2)],
  [
    'list price of the table per million deliveries, the same',
    `$${(dollarsPerMillion(units) / deliveries).toFixed(2)}`,
  ],
  ['faults', sender.errors.length],
];
printTable(
  `${EVENTS} events to ${ENDPOINTS} endpoints, ${FAILING} of which fail and ${HANGING} hang, 100 first attempts at a time, one process, on the engine
The timeout is ${TIMEOUT} ms instead of 15 s and no pause is longer than 20 s; the failing ones recover when the healthy ones have everything.`,
  ['what', 'ours'],
  rows,
);
if (sender.errors.length > 0) console.log(sender.errors[0]);
// Pauses of hanging endpoints would keep the process alive.
process.exit();

function count(came: Readonly<Record<string, Came>>, prefix: string): { messages: number; requests: number } {
  const of = Object.entries(came)
    .filter(([path]) => path.startsWith(prefix))
    .map(([, each]) => each);
  return {
    messages: of.reduce((sum, { times }) => sum + Object.keys(times).length, 0),
    requests: of.reduce((sum, { requests }) => sum + requests, 0),
  };
}

/**
 * Returns the table and the capacity units that its calls consume. The recorder of the tests is not used here,
 * because it makes calls wait for each other.
 */
function meteredTable(): { table: Table; units: { read: number; written: number } } {
  const units = { read: 0, written: 0 };
  const client = DynamoDBDocumentClient.from(new DynamoDBClient({}), {
    marshallOptions: { removeUndefinedValues: true },
  });
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        const answer = await next({ ...args, input: { ...args.input, ReturnConsumedCapacity: 'TOTAL' } });
        const consumed = [(answer.output as { ConsumedCapacity?: unknown }).ConsumedCapacity ?? []].flat() as {
          CapacityUnits: number;
        }[];
        units[/^(Get|BatchGet|Query)/.test(commandName) ? 'read' : 'written'] += consumed.reduce(
          (sum, { CapacityUnits }) => sum + CapacityUnits,
          0,
        );
        return answer;
      },
    { step: 'initialize', priority: 'low' },
  );
  return { table: new Table(client, TABLE_NAME), units };
}
