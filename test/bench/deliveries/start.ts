/**
 * Measures `npm start` as a customer sees it. Events are published over HTTP and delivered to one healthy receiver,
 * all on loopback. Takes about 30 s, at most 70 s.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { startSystem } from '../../e2e/system.ts';
import { paths } from '../../support/webhooks.ts';
import { printTable, quantile, reached, type Row } from '../report.ts';
import { usageOf } from './processes.ts';
import { startReceiver } from './receivers.ts';
import { EVENT_TYPE, eventData } from './world.ts';

const SECOND = 1_000;
const CLIENTS = 32;
const EVENTS = 2_000;
const MAX_SECONDS = 18;
const MAX_ARRIVAL_SECONDS = 8;
const WARM_UP = 60;
const PER_SECOND = 20;
const LATENCY_SECONDS = 10;
const organizationId = 'bench';

const receiver = await startReceiver();
// All events use one API key. With the usual limits, the bench would measure this key's rate limit.
const system = await startSystem({ env: { WRITES_PER_SECOND_PER_KEY: '100000' } });
const { headerPrefix, apiKey, authToken } = system.credentials;
const headers = {
  'content-type': 'application/json',
  [`${headerPrefix}api-key`]: apiKey,
  [`${headerPrefix}auth-token`]: authToken,
};
const body = JSON.stringify({ data: { event: EVENT_TYPE, organizationId, data: eventData } });
const agent = new Agent({ connections: CLIENTS, keepAliveTimeout: 60 * SECOND });
// Ends this process and `npm start` after the time limit.
process.once('SIGTERM', () => void system.kill().then(() => process.exit(1)));
try {
  await setUp();
  for (let n = 0; n < WARM_UP; n++) await publish();
  await arrivals(WARM_UP, MAX_ARRIVAL_SECONDS);
  const latency = await measureLatency();
  const load = await measureLoad();
  printTable(
    `npm start, events of two kilobytes, one healthy receiver. Latencies at ${PER_SECOND} events a second for ${LATENCY_SECONDS} s; throughput and CPU with ${CLIENTS} clients for ${load.events} events.
CPU and memory of the gateway, the functions and the table engine, without clients and receiver.`,
    ['what', 'ours', 'before', 'goal', 'reached', 'server in Rust'],
    [...load.rows, ...latency],
  );
} finally {
  await agent.close();
  await system.stop();
  await receiver.stop();
}

async function setUp(): Promise<void> {
  const calls: [string, object][] = [
    ['/v2/organizations/add', { organizations: [{ organizationId, organizationName: 'Bench' }] }],
    [paths.updateConfig, { isEnabled: true }],
    [paths.create, { url: receiver.url('/ok'), filterTypes: [EVENT_TYPE] }],
  ];
  for (const [path, data] of calls) {
    const { status, body: answer } = await system.post(path, data);
    if (status !== 200) throw new Error(`${path} answered ${status}: ${JSON.stringify(answer)}`);
  }
}

/** Publishes an event. Returns its id, when the request was sent, and when the answer arrived. */
async function publish(): Promise<{ eventId: string; sentAt: number; answeredAt: number }> {
  const sentAt = now();
  const answer = await request(`${system.baseUrl}/v2/events/publish`, {
    dispatcher: agent,
    method: 'POST',
    headers,
    body,
  });
  const text = await answer.body.text();
  const [, eventId] = /"eventId":"([^"]+)"/.exec(text) ?? [];
  if (eventId === undefined) throw new Error(`Publishing answered ${answer.statusCode}: ${text}`);
  return { eventId, sentAt, answeredAt: now() };
}

/**
 * Waits until this number of messages has arrived at the receiver, or until the time is over. Returns the time of
 * arrival of each message by id.
 */
async function arrivals(messages: number, seconds: number): Promise<Readonly<Record<string, number>>> {
  const deadline = performance.now() + seconds * SECOND;
  for (;;) {
    const { times = {} } = (await receiver.received())['/ok'] ?? {};
    if (Object.keys(times).length >= messages || performance.now() > deadline) return times;
    await pause(50);
  }
}

/** Publishes at a fixed rate, even if earlier calls still run. */
async function measureLatency(): Promise<Row[]> {
  await receiver.clear();
  const from = performance.now();
  const pending: ReturnType<typeof publish>[] = [];
  for (let n = 0; n < LATENCY_SECONDS * PER_SECOND; n++) {
    await pause(Math.max(0, from + (n * SECOND) / PER_SECOND - performance.now()));
    pending.push(publish());
  }
  const published = await Promise.all(pending);
  const times = await arrivals(published.length, MAX_ARRIVAL_SECONDS);
  const answers = published.map(({ sentAt, answeredAt }) => answeredAt - sentAt);
  // A message that did not arrive counts with the maximum wait.
  const waits = published.map(({ eventId, answeredAt }) =>
    Math.max(0, (times[eventId] ?? answeredAt + MAX_ARRIVAL_SECONDS * SECOND) - answeredAt),
  );
  return [
    latencyRow('answer of publish, p50, ms', answers, 0.5, { before: '12', goal: 5, peer: '3.5' }),
    latencyRow('answer of publish, p99, ms', answers, 0.99, { before: '34', goal: 15, peer: '6' }),
    latencyRow('answer to first byte at the receiver, p50, ms', waits, 0.5, { before: '31', goal: 10, peer: '0.6' }),
    latencyRow('answer to first byte at the receiver, p99, ms', waits, 0.99, { before: '66', goal: 30, peer: '1.5' }),
  ];
}

function latencyRow(
  label: string,
  values: readonly number[],
  part: number,
  { before, goal, peer }: { before: string; goal: number; peer: string },
): Row {
  const figure = quantile(values, part);
  return [label, figure.toFixed(1), before, goal, reached(figure, goal), peer];
}

/** Publishes with many parallel clients. Each client waits for an answer before it publishes again. */
async function measureLoad(): Promise<{ rows: Row[]; events: number }> {
  await receiver.clear();
  const before = usageOf(system.pid);
  const from = now();
  let [remaining, published] = [EVENTS, 0];
  const client = async () => {
    while (remaining-- > 0 && now() < from + MAX_SECONDS * SECOND) {
      await publish();
      published++;
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  const times = Object.values(await arrivals(published, MAX_ARRIVAL_SECONDS));
  const after = usageOf(system.pid);
  const delivered = times.length;
  const perSecond = (delivered * SECOND) / (Math.max(...times) - from);
  const cpu = (after.cpuMilliseconds - before.cpuMilliseconds) / delivered;
  const gigabytes = after.bytes / 1e9;
  const missing = published - delivered;
  return {
    events: published,
    rows: [
      [
        `events delivered per second${missing > 0 ? `, ${missing} of ${published} not yet` : ''}`,
        perSecond.toFixed(0),
        '43 to 52',
        300,
        perSecond >= 300 ? 'yes' : 'no',
        '645 to 778',
      ],
      ['CPU per event and delivery, ms', cpu.toFixed(1), '37 to 45', 6, reached(cpu, 6), '1.9 to 2.1'],
      [`memory after ${published} events, GB`, gigabytes.toFixed(2), '2.3', 0.8, reached(gigabytes, 0.8), ''],
    ],
  };
}

/** Returns the time in epoch milliseconds, with fractions. */
function now(): number {
  return performance.timeOrigin + performance.now();
}
