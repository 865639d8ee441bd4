/**
 * Publishes events through `npm start`, which delivers each event to one healthy receiver on loopback. Measures the
 * CPU time of all processes of the local system. Clients and receiver do not count. Takes about 40 s.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { startSystem } from '../e2e/system.ts';
import { slowdownNow } from '../support/cpu.ts';
import { times } from '../support/times.ts';
import { startReceiver } from './deliveries/receivers.ts';
import { postJson } from './engine.ts';
import { type CpuTime, cpuTime, memoryBytes } from './processUsage.ts';
import { printTable, quantiles } from './report.ts';

const EVENTS = Number(process.env.EVENTS ?? 2_000);
const CLIENTS = Number(process.env.CLIENTS ?? 32);
const PACED = { events: 200, perSecond: 20 };
const TEXT = 'x'.repeat(1_700);
/** The ids of all published events. */
const eventIds = new Set<string>();

const receiver = await startReceiver();
const system = await startSystem({
  env: { WRITES_PER_SECOND_PER_KEY: '100000', READS_PER_SECOND_PER_KEY: '100000' },
});
try {
  await measure();
} finally {
  await Promise.all([system.stop(), receiver.stop()]);
}

async function measure(): Promise<void> {
  const headers = { 'content-type': 'application/json', ...system.headers };
  const call = async (path: string, data: unknown) =>
    (await postJson(system.baseUrl + path, headers, { data })).result.data;

  await call('/v2/workspace/advancedwebhookconfig/update', { isEnabled: true });
  await call('/v2/organizations/folders/add', {
    organizationId: 'acme',
    createOrganization: true,
    folders: [{ folderId: 'contracts', accessType: 'public' }],
  });
  await call('/v2/organizations/documents/add', {
    organizationId: 'acme',
    folderId: 'contracts',
    documents: [{ documentId: 'nda', documentName: 'NDA' }],
  });
  await call('/v2/workspace/advancedwebhook/endpoints/create', { url: receiver.url('/well') });
  const publish = async (): Promise<Published> => {
    const startedAt = performance.now();
    const { eventId } = await call('/v2/events/publish', {
      organizationId: 'acme',
      documentId: 'nda',
      event: 'execution.completed',
      data: { text: TEXT },
    });
    eventIds.add(eventId);
    return { eventId, answeredAt: Date.now(), milliseconds: performance.now() - startedAt };
  };

  // The first calls of the functions load their code, so they are not measured.
  await repeat(100, 8, publish);
  await untilDelivered();

  const pacedAtStart = await measurePaced(publish);

  const slowdowns = [slowdownNow()];
  const cpu = cpuTime(system.pid);
  const startedAt = performance.now();
  await repeat(EVENTS, CLIENTS, publish);
  const publishedAfter = performance.now() - startedAt;
  await untilDelivered();
  const deliveredAfter = performance.now() - startedAt;
  const used = difference(cpu);
  slowdowns.push(slowdownNow());
  const memory = memoryBytes(system.pid);
  const pacedLater = await measurePaced(publish);
  const perEvent = (milliseconds: number) => (milliseconds / EVENTS).toFixed(2);
  printTable(
    `${EVENTS} events of 2 KB through npm start, ${CLIENTS} clients, one healthy receiver`,
    ['what', 'ours', 'first design', 'goal', 'server in Rust'],
    [
      ['events delivered per second', ((EVENTS * 1_000) / deliveredAfter).toFixed(0), '43 to 52', '300', '645 to 778'],
      ['events published per second', ((EVENTS * 1_000) / publishedAfter).toFixed(0), '', '', ''],
      ['CPU ms per event and delivery', perEvent(sum(used)), '37 to 45', '6', '1.9 to 2.1'],
      ['the same on the reference machine', perEvent((sum(used) * slowdowns.length) / sum(slowdowns)), '', '', ''],
      ['of it the table engine', perEvent(used.engine), '9', '', ''],
      ['memory after that, MB', (memory / 2 ** 20).toFixed(0), '2300', '800', ''],
      ...[
        { paced: pacedAtStart, when: 'soon after the start' },
        { paced: pacedLater, when: 'after that' },
      ].flatMap(({ paced: { cpu, answers, waits }, when }) => [
        [`CPU ms per event at ${PACED.perSecond} a second, ${when}`, cpu.toFixed(2), '', '', ''],
        [`publish, p50 / p99 ms, ${when}`, quantiles(answers), '12 / 34', '5 / 15', '3.5 / 6'],
        [`answer to first byte, p50 / p99 ms, ${when}`, quantiles(waits), '31 / 66', '10 / 30', '0.6 / 1.5'],
      ]),
    ],
  );
}

interface Published {
  readonly eventId: string;
  readonly answeredAt: number;
  /** The time from the request to the answer. */
  readonly milliseconds: number;
}

interface Paced {
  /** CPU time per event in milliseconds. */
  readonly cpu: number;
  /** Milliseconds from the request to the answer, of each event. */
  readonly answers: readonly number[];
  /** Milliseconds from the answer to the first byte at the receiver, of each event. */
  readonly waits: readonly number[];
}

/** Publishes events at an even pace. */
async function measurePaced(publish: () => Promise<Published>): Promise<Paced> {
  const paced: Published[] = [];
  const cpu = cpuTime(system.pid);
  const begun: Promise<unknown>[] = [];
  const begin = performance.now();
  for (let i = 0; i < PACED.events; i++) {
    await delay(Math.max(0, begin + (i * 1_000) / PACED.perSecond - performance.now()));
    begun.push(publish().then((each) => paced.push(each)));
  }
  await Promise.all(begun);
  const arrivals = await untilDelivered();
  return {
    cpu: sum(difference(cpu)) / PACED.events,
    answers: paced.map(({ milliseconds }) => milliseconds),
    waits: paced.map(({ eventId, answeredAt }) => arrivals[eventId]! - answeredAt),
  };
}

/** Waits until all published events have arrived. Returns their times by event id. */
async function untilDelivered(): Promise<Readonly<Record<string, number>>> {
  const { times: arrivals } = (await receiver.receivedEvents('/well', eventIds.size))['/well']!;
  const missing = [...eventIds].filter((eventId) => arrivals[eventId] === undefined);
  if (missing.length > 0) throw new Error(`${missing.length} of ${eventIds.size} events are missing`);
  return arrivals;
}

async function repeat<T>(count: number, clients: number, run: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let begun = 0;
  await Promise.all(
    times(clients, async () => {
      while (begun++ < count) results.push(await run());
    }),
  );
  return results;
}

function difference(before: CpuTime): CpuTime {
  const now = cpuTime(system.pid);
  return { main: now.main - before.main, engine: now.engine - before.engine };
}

function sum(values: readonly number[] | CpuTime): number {
  return (Array.isArray(values) ? values : Object.values(values)).reduce(
    (total: number, each: number) => total + each,
    0,
  );
}
