/**
 * Measures how long deliveries to a healthy endpoint wait while other endpoints of the same customer hang. Uses the real time
 * limits and concurrency, a table in memory, and fair queues as in SQS. Takes about 40 s.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { printTable, quantile, ratio, reached } from '../report.ts';
import { newPublisher, startMemoryWorld } from './world.ts';

const GOAL = 2;
const BEFORE = '1 to 8 s';
const SECOND = 1_000;
const HANGING = 30;
const PER_SECOND = 10;
const WARM_UP_SECONDS = 2;
const ALONE_SECONDS = 8;
/** A time that is longer than the time limit of a receiver, so that the breakers open. */
const BESIDE_SECONDS = 24;
const MAX_WAIT_SECONDS = 6;

const world = await startMemoryWorld();
const { cloud, receiver } = world;
const customer = await newPublisher();
await customer.subscribe(receiver.url('/healthy'));
cloud.start();
await waits(WARM_UP_SECONDS);
const alone = await waits(ALONE_SECONDS);
for (let i = 0; i < HANGING; i++) await customer.subscribe(receiver.url(`/hang/${i}`));
const beside = await waits(BESIDE_SECONDS);
const received = await receiver.received();
cloud.stop();
const hung = Object.entries(received).reduce(
  (sum, [path, { requests }]) => sum + (path === '/healthy' ? 0 : requests),
  0,
);
printTable(
  `Publishing to first byte at a healthy endpoint, ms, ${PER_SECOND} events a second, beside ${HANGING} endpoints of the same customer that hang and got ${hung} requests in ${BESIDE_SECONDS} s`,
  ['quantile', 'beside them', 'alone', 'ratio', 'before', 'goal', 'reached'],
  (
    [
      ['p50', 0.5],
      ['p99', 0.99],
      ['longest', 1],
    ] as const
  ).map(([name, part]) => {
    const [with_, without] = [quantile(beside, part), quantile(alone, part)];
    const isGoal = name === 'p99';
    return [
      name,
      with_.toFixed(1),
      without.toFixed(1),
      ratio(with_, without),
      isGoal ? BEFORE : '',
      isGoal ? ratio(GOAL, 1) : '',
      isGoal ? reached(with_ / without, GOAL) : '',
    ];
  }),
);
// Attempts that hang would keep the process alive.
process.exit();

/**
 * Publishes at a fixed rate, regardless of the duration of the answers. Returns how long each event took to the healthy
 * endpoint. An event that did not arrive has the longest wait.
 */
async function waits(seconds: number): Promise<number[]> {
  const published = new Map<string, number>();
  const from = performance.now();
  const pending: Promise<void>[] = [];
  for (let n = 0; n < seconds * PER_SECOND; n++) {
    await pause(Math.max(0, from + (n * SECOND) / PER_SECOND - performance.now()));
    const publishedAt = now();
    pending.push(customer.publish().then((eventId) => void published.set(eventId, publishedAt)));
  }
  await Promise.all(pending);
  const deadline = performance.now() + MAX_WAIT_SECONDS * SECOND;
  for (;;) {
    const { times = {} } = (await receiver.received())['/healthy'] ?? {};
    const arrived = [...published].flatMap(([eventId, publishedAt]) =>
      eventId in times ? [times[eventId]! - publishedAt] : [],
    );
    const missing = published.size - arrived.length;
    if (missing === 0) return arrived;
    if (performance.now() > deadline) return [...arrived, ...Array<number>(missing).fill(MAX_WAIT_SECONDS * SECOND)];
    await pause(50);
  }
}

/** Returns the time in epoch ms, with fractions. */
function now(): number {
  return performance.timeOrigin + performance.now();
}
