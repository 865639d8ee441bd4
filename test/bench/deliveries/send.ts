/**
 * Measures deliveries per second of one process. Compares the worker's handler on a table in memory with a loop that
 * only posts. Takes about 12 s.
 */
import { Agent, request } from 'undici';
import { times } from '../../support/times.ts';
import { printTable, quantile, ratio, type Row } from '../report.ts';
import { EVENT_TYPE, eventData, newPublisher, startMemoryWorld } from './world.ts';

const GOAL = 0.4;
const BEFORE = 0.13;
const ENDPOINTS = 10;
const WARM_UP = 1;
const ROUNDS = 5;
/** After this time, no new round starts. A busy machine then makes fewer rounds. */
const MAX_MILLISECONDS = 6_000;
/** The number of deliveries in one round. */
const ROUND = 1_000;
/** Parallel posts, of the worker and of the loop of plain requests with which it is compared. */
const WIDTHS = [10, 50];

interface Speed {
  readonly perSecond: number;
  readonly cpuMilliseconds: number;
}

const world = await startMemoryWorld();
const { table, cloud, receiver } = world;
table.isExact = false;
// Each message has one delivery for each endpoint, so a batch of one message makes ten posts at a time.
cloud.batchSize = 1;
const customer = await newPublisher();
for (let i = 0; i < ENDPOINTS; i++) await customer.subscribe(receiver.url('/ok'));
const agent = new Agent();
const body = JSON.stringify({ event: EVENT_TYPE, source: 'huddle', data: eventData });

const rows: Row[] = [];
let rounds = 0;
for (const width of WIDTHS) {
  const [ours, bare]: [Speed[], Speed[]] = [[], []];
  // The worker and the loop take turns, so that other load on the machine slows both.
  const startedAt = performance.now();
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    if (ours.length > 0 && performance.now() > startedAt + MAX_MILLISECONDS) break;
    rounds++;
    for (let event = 0; event < ROUND / ENDPOINTS; event++) await customer.publish();
    await cloud.fanOut();
    const own = await speedOf(() => cloud.drainQueue('deliver', width / ENDPOINTS));
    const peer = await speedOf(() => postAll(width));
    if (round < WARM_UP) continue;
    ours.push(own);
    bare.push(peer);
  }
  const median = (speeds: readonly Speed[], name: keyof Speed) =>
    quantile(
      speeds.map((speed) => speed[name]),
      0.5,
    );
  const [own, peer] = [median(ours, 'perSecond'), median(bare, 'perSecond')];
  const reaches = own / peer >= GOAL ? 'yes' : 'no';
  rows.push([
    `${width} at a time`,
    Math.round(own),
    Math.round(peer),
    ratio(own, peer),
    ratio(BEFORE, 1),
    ratio(GOAL, 1),
    reaches,
    `${median(ours, 'cpuMilliseconds').toFixed(2)} / ${median(bare, 'cpuMilliseconds').toFixed(2)}`,
  ]);
}
const { requests = 0 } = (await receiver.received())['/ok'] ?? {};
const expectedRequests = rounds * 2 * ROUND;
if (requests !== expectedRequests) throw new Error(`${requests} requests were received, not ${expectedRequests}`);
await agent.close();
await world.stop();
printTable(
  `Deliveries per second of one process, storage in memory, median of at most ${ROUNDS} rounds; the peer is undici in a loop, unsigned, nothing stored`,
  ['what', 'ours', 'peer', 'ratio', 'before', 'goal', 'reached', 'CPU ms of each, ours / peer'],
  rows,
);
process.exit();

async function postAll(width: number): Promise<void> {
  let remaining = ROUND;
  const post = async () => {
    while (remaining-- > 0) {
      const headers = { 'content-type': 'application/json' };
      const answer = await request(receiver.url('/ok'), { dispatcher: agent, method: 'POST', headers, body });
      await answer.body.dump();
    }
  };
  await Promise.all(times(width, post));
}

/** Measures the deliveries of one round. Other load on the machine changes the CPU time less than the rate. */
async function speedOf(work: () => Promise<void>): Promise<Speed> {
  const [startedAt, cpu] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(cpu);
  return {
    perSecond: (ROUND * 1_000) / (performance.now() - startedAt),
    cpuMilliseconds: (user + system) / 1_000 / ROUND,
  };
}
