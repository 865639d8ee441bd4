/**
 * Measures how long deliveries to a healthy endpoint wait while other endpoints of the same customer never answer.
 * Uses the time limits and concurrency of production, a table in memory, and fair queues as in SQS. Takes about 40 s.
 *
 * All invocations share one processor here, but in Lambda each has its own. A second figure therefore leaves out the
 * time in which the processor worked for other invocations.
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
/** This is longer than the timeout of an attempt, so that the breakers open. */
const BESIDE_SECONDS = 24;
const MAX_WAIT_SECONDS = 6;
/** The time between two measurements of how busy this process is. */
const SAMPLE_MILLISECONDS = 1;

/** The time of publishing an event (`from`) and of its arrival at the receiver (`to`), in epoch milliseconds. */
interface Wait {
  readonly from: number;
  readonly to: number;
}

const world = await startMemoryWorld();
const { cloud, receiver } = world;
const customer = await newPublisher();
await customer.subscribe(receiver.url('/healthy'));
cloud.start();
/** How long this process had been busy at each measured time. Both are in milliseconds. */
const samples: { readonly time: number; readonly busy: number }[] = [];
const sampling = setInterval(() => {
  samples.push({ time: now(), busy: performance.eventLoopUtilization().active });
}, SAMPLE_MILLISECONDS);
await waits(WARM_UP_SECONDS);
const alone = await waits(ALONE_SECONDS);
for (let i = 0; i < HANGING; i++) await customer.subscribe(receiver.url(`/hang/${i}`));
const beside = await waits(BESIDE_SECONDS);
const received = await receiver.received();
clearInterval(sampling);
cloud.stop();
// `alone` was measured without the other endpoints. Its busy time is therefore the delivery's own publishing, fan-out
// and attempt.
const ownBusy = quantile(alone.map(busyDuring), 0.5);
const waitOf = ({ from, to }: Wait) => to - from;
const ownProcessorWaitOf = (wait: Wait) => waitOf(wait) - Math.max(0, busyDuring(wait) - ownBusy);
const hung = Object.entries(received).reduce(
  (sum, [path, { requests }]) => sum + (path === '/healthy' ? 0 : requests),
  0,
);
printTable(
  `Publishing to first byte at a healthy endpoint, ms, ${PER_SECOND} events a second, beside ${HANGING} endpoints of the same customer that hang and got ${hung} requests in ${BESIDE_SECONDS} s`,
  ['quantile', 'beside them', 'alone', 'ratio', 'before', 'goal', 'reached', 'without other invocations', 'ratio'],
  (
    [
      ['p50', 0.5],
      ['p99', 0.99],
      ['longest', 1],
    ] as const
  ).map(([name, part]) => {
    const [with_, without] = [quantile(beside.map(waitOf), part), quantile(alone.map(waitOf), part)];
    const ownProcessor = [beside, alone].map((waits) => quantile(waits.map(ownProcessorWaitOf), part)) as [
      number,
      number,
    ];
    const isGoal = name === 'p99';
    return [
      name,
      with_.toFixed(1),
      without.toFixed(1),
      ratio(with_, without),
      isGoal ? BEFORE : '',
      isGoal ? ratio(GOAL, 1) : '',
      isGoal ? reached(with_ / without, GOAL) : '',
      `${ownProcessor[0].toFixed(1)} / ${ownProcessor[1].toFixed(1)}`,
      ratio(...ownProcessor),
    ];
  }),
);
// Attempts without an answer would keep the process alive.
process.exit();

/**
 * Publishes at a fixed rate, even if earlier calls still run. Returns when each event was published and when it
 * arrived at the healthy endpoint. An event that did not arrive counts with the longest measured wait.
 */
async function waits(seconds: number): Promise<Wait[]> {
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
    const isOver = performance.now() > deadline;
    if (isOver || [...published.keys()].every((eventId) => eventId in times))
      return [...published].map(([eventId, from]) => ({
        from,
        to: times[eventId] ?? from + MAX_WAIT_SECONDS * SECOND,
      }));
    await pause(50);
  }
}

/** Returns how long this process was busy during a wait, in milliseconds. */
function busyDuring({ from, to }: Wait): number {
  return busyUntil(to) - busyUntil(from);
}

/** Returns how long this process had been busy at a time, in milliseconds. Interpolates between two measurements. */
function busyUntil(time: number): number {
  const next = samples.findIndex((sample) => sample.time >= time);
  const [before, after] = [samples.at(next - 1), samples.at(next)];
  if (!before || !after || after.time === before.time) return after?.busy ?? 0;
  return before.busy + ((after.busy - before.busy) * (time - before.time)) / (after.time - before.time);
}

/** Returns the time in epoch milliseconds, with fractions. */
function now(): number {
  return performance.timeOrigin + performance.now();
}
