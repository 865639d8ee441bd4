/**
 * Measures deliveries per second of one process: those of the worker's handler on a table in memory, and those of a loop that
 * only posts. Takes about 12 s.
 */
import { Agent, request } from 'undici';
import { printTable, quantile, ratio, type Row } from '../report.ts';
import { EVENT_TYPE, eventData, newPublisher, startMemoryWorld } from './world.ts';

const GOAL = 0.4;
const BEFORE = 0.13;
const ENDPOINTS = 10;
const WARM_UP = 1;
const ROUNDS = 5;
/** The time after which no round starts, so that a busy machine makes fewer rounds. */
const MAX_MILLISECONDS = 6_000;
/** The number of deliveries of a round. */
const ROUND = 1_000;
/** The number of parallel posts of the loop. The worker has a tenth as many batches, of ten messages each. */
const WIDTHS = [10, 50];

const world = await startMemoryWorld();
const { cloud, receiver } = world;
const customer = await newPublisher();
for (let i = 0; i < ENDPOINTS; i++) await customer.subscribe(receiver.url('/ok'));
const agent = new Agent();
const body = JSON.stringify({ event: EVENT_TYPE, source: 'huddle', data: eventData });

const rows: Row[] = [];
let rounds = 0;
for (const width of WIDTHS) {
  const [ours, bare]: [number[], number[]] = [[], []];
  // The worker and the loop run in turns, so that other load on the machine slows both.
  const startedAt = performance.now();
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    if (ours.length > 0 && performance.now() > startedAt + MAX_MILLISECONDS) break;
    rounds++;
    for (let event = 0; event < ROUND / ENDPOINTS; event++) await customer.publish();
    await cloud.fanOut();
    const own = await perSecond(() => cloud.drainQueue('deliver', width / 10));
    const peer = await perSecond(() => postAll(width));
    if (round < WARM_UP) continue;
    ours.push(own);
    bare.push(peer);
  }
  const [own, peer] = [quantile(ours, 0.5), quantile(bare, 0.5)];
  const reaches = own / peer >= GOAL ? 'yes' : 'no';
  rows.push([
    `${width} at a time`,
    Math.round(own),
    Math.round(peer),
    ratio(own, peer),
    ratio(BEFORE, 1),
    ratio(GOAL, 1),
    reaches,
  ]);
}
const { requests = 0 } = (await receiver.received())['/ok'] ?? {};
const expectedRequests = rounds * 2 * ROUND;
if (requests !== expectedRequests) throw new Error(`${requests} requests were received, not ${expectedRequests}`);
await agent.close();
await world.stop();
printTable(
  `Deliveries per second of one process, storage in memory, median of at most ${ROUNDS} rounds; the peer is undici in a loop, unsigned, nothing stored`,
  ['what', 'ours', 'peer', 'ratio', 'before', 'goal', 'reached'],
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
  await Promise.all(Array.from({ length: width }, post));
}

async function perSecond(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (ROUND * 1_000) / (performance.now() - startedAt);
}
