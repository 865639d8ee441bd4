/**
 * Measures the busiest second of endpoints that have a rate limit and a backlog. Uses the engine and real time. Takes
 * about 20 s.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { times } from '../../support/times.ts';
import { printTable, ratio } from '../report.ts';
import { newPublisher, startEngineWorld } from './world.ts';

const GOAL = 1.1;
/** The minimum share of the rate limit that must be used. Otherwise a sender that sends nothing would pass. */
const MIN_USE = 0.8;
const BEFORE: Readonly<Record<number, string>> = { 20: '1.50×', 100: '1.52×' };
const SECOND = 1_000;
const LIMITS = [20, 100];
const QUEUED = 500;
/** The number of parallel publishing calls. */
const PARALLEL = 8;
/** Publishing stops after this time. On a busy machine, the backlog is then smaller. */
const MAX_PUBLISHING_SECONDS = 6;
const OBSERVED_SECONDS = 10;

const world = await startEngineWorld();
const { cloud, receiver } = world;
const customer = await newPublisher();
for (const rateLimit of LIMITS) await customer.subscribe(receiver.url(`/${rateLimit}`), { rateLimit });
let queued = 0;
const until = performance.now() + MAX_PUBLISHING_SECONDS * SECOND;
const publish = async () => {
  while (queued < QUEUED && performance.now() < until) {
    queued++;
    await customer.publish();
  }
};
await Promise.all(times(PARALLEL, publish));
await cloud.fanOut();
cloud.start();
await pause(OBSERVED_SECONDS * SECOND);
cloud.stop();
const received = await receiver.received();

printTable(
  `Endpoints with a rate limit and ${queued} deliveries queued, on the engine, the first ${OBSERVED_SECONDS} s; any second of them`,
  ['rateLimit', 'worst second', 'ratio', 'before', 'goal', 'reached', 'first second', 'per second in all'],
  LIMITS.map((limit) => {
    const arrivals = Object.values(received[`/${limit}`]?.times ?? {}).sort((a, b) => a - b);
    const from = arrivals[0] ?? NaN;
    const inSecondFrom = (start: number) => arrivals.filter((time) => time >= start && time < start + SECOND).length;
    const worst = Math.max(0, ...arrivals.map(inSecondFrom));
    const perSecond = arrivals.length > 1 ? ((arrivals.length - 1) * SECOND) / (arrivals.at(-1)! - from) : 0;
    return [
      limit,
      worst,
      ratio(worst, limit),
      BEFORE[limit] ?? '',
      ratio(GOAL, 1),
      worst / limit <= GOAL && perSecond / limit >= MIN_USE ? 'yes' : 'no',
      inSecondFrom(from),
      perSecond.toFixed(1),
    ];
  }),
);
await world.stop();
// Delayed messages would keep the process alive.
process.exit();
