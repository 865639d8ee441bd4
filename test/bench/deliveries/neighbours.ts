/**
 * Measures how long deliveries to a healthy endpoint wait while other endpoints of the same customer never answer.
 * Uses the time limits and concurrency of production, a table in memory, and fair queues as in SQS. Takes about 38 s.
 *
 * The workers run in threads, so the work of one function does not delay another while a processor is free. In Lambda, each
 * invocation has a processor of its own. Here, invocations of one function share threads, and all share the processors of the
 * machine, so the waits are longer than in Lambda.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { printTable, quantile, ratio, reached } from '../report.ts';
import { newPublisher, startMemoryWorld } from './world.ts';

const GOAL = 2;
const BEFORE = '1 to 8 s';
const SECOND = 1_000;
const HANGING = 30;
const PER_SECOND = 20;
const WARM_UP_SECONDS = 2;
const ALONE_SECONDS = 10;
/** This is longer than the timeout of an attempt, so that the breakers open. */
const BESIDE_SECONDS = 21;
const MAX_WAIT_SECONDS = 6;

const { cloud, receiver } = await startMemoryWorld({
  threads: { fanOutEvents: 1, deliverWebhook: 2, deliverWebhookSlow: 1 },
});
const customer = await newPublisher();
const first = await customer.subscribe(receiver.url('/healthy'));
cloud.start();
await waits(WARM_UP_SECONDS);
const alone = await waits(ALONE_SECONDS);
// Endpoints are attempted in the order of their creation. The healthy endpoint is created again, so that it is not the first.
await customer.unsubscribe(first);
for (let i = 0; i < HANGING; i++) {
  if (i === HANGING / 2) await customer.subscribe(receiver.url('/healthy'));
  await customer.subscribe(receiver.url(`/hang/${i}`));
}
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
// Attempts without an answer would keep the process alive.
process.exit();

/**
 * Publishes at a fixed rate, even if earlier calls still run. Returns how long each event took from its publishing to its arrival at
 * the healthy endpoint, in milliseconds. An event that did not arrive counts with the longest measured wait.
 */
async function waits(seconds: number): Promise<number[]> {
  const published = new Map<string, number>();
  const from = performance.now();
  const pending: Promise<void>[] = [];
  for (let n = 0; n < seconds * PER_SECOND; n++) {
    await pause(Math.max(0, from + (n * SECOND) / PER_SECOND - performance.now()));
    const publishedAt = performance.timeOrigin + performance.now();
    pending.push(customer.publish().then((eventId) => void published.set(eventId, publishedAt)));
  }
  await Promise.all(pending);
  const deadline = performance.now() + MAX_WAIT_SECONDS * SECOND;
  for (;;) {
    const { times = {} } = (await receiver.received())['/healthy'] ?? {};
    const isOver = performance.now() > deadline;
    if (isOver || [...published.keys()].every((eventId) => eventId in times))
      return [...published].map(([eventId, from]) => (times[eventId] ?? from + MAX_WAIT_SECONDS * SECOND) - from);
    await pause(50);
  }
}
