/** Measures the delay of a quiet endpoint next to one that hangs. Times are a tenth of the real ones. Takes about 25 s. */
import { environment } from '../../../lib/app/capability.ts';
import { openTable } from '../../../lib/table/table.ts';
import { startEngine } from '../../support/engine.ts';
import { newWebhookCustomer, paths } from '../../support/webhooks.ts';
import { printTable, quantile, ratio, reached, type Row } from '../report.ts';
import { until } from './queue.ts';
import { startReceiver } from './receivers.ts';
import { Sender } from './sender.ts';

const GOAL = 2;
const SECOND = 1000;
/** A tenth of the real 15 s. The pauses of the schedule and the 1,000 concurrent attempts of the template are scaled in the same way. */
const TIMEOUT = 1_500;
const timing = { schedule: [0, 0.5, 3, 3, 3, 3, 3, 3].map((seconds) => seconds * SECOND), marginMs: 300 * SECOND };
const WIDTH = 100;
const EVENTS = 200;
const EVERY = 50;

const engine = await startEngine({ sdk: true });
process.env.ALLOW_LOOPBACK_DELIVERY = 'true';
const receiver = await startReceiver();

const [alone, beside] = [await waits(false), await waits(true)];
await receiver.stop();
await engine.stop();

const rows = (
  [
    ['p50', 0.5],
    ['p99', 0.99],
  ] as const
).map(([name, part]): Row => {
  const [with_, without] = [quantile(beside.waits, part), quantile(alone.waits, part)];
  return [name, with_, without, ratio(with_, without), name === 'p99' ? reached(with_ / without, GOAL) : ''];
});
printTable(
  `Commit to first byte at a quiet endpoint, ms, ${EVENTS} events at ${SECOND / EVERY} per second, beside one that hangs and gets as many; goal: p99 at most ${GOAL}×
Timeout ${TIMEOUT} ms instead of 15 s, ${WIDTH} attempts at a time instead of 1,000. This shows breaker and concurrency (the one that hangs got ${beside.hung} requests); the queue
here is first in first out, so it does not show the fairness of SQS.`,
  ['quantile', 'beside it', 'without it', 'ratio', 'reached'],
  rows,
);
// Pauses of the hanging endpoint would keep the process alive.
process.exit();

async function waits(withHanging: boolean): Promise<{ waits: number[]; hung: number }> {
  await receiver.clear();
  const { apiKey, ok } = await newWebhookCustomer();
  await ok(paths.create, { url: receiver.url('/quiet'), filterTypes: ['comment.add'] });
  if (withHanging) await ok(paths.create, { url: receiver.url('/hang') });
  const sender = new Sender(openTable(environment(process.env)), {
    timing,
    timeoutMs: TIMEOUT,
    live: WIDTH,
    slow: WIDTH / 5,
  });
  const since = new Map<string, number>();
  const emitted: Promise<void>[] = [];
  const from = Date.now();
  for (let i = 0; i < EVENTS; i++) {
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, from + i * EVERY - Date.now())));
    emitted.push(
      (async () => {
        const event = await sender.emit(apiKey);
        since.set(event.eventId, Date.now());
        await sender.fanOut([event]);
      })(),
    );
  }
  await Promise.all(emitted);
  let times: Readonly<Record<string, number>> = {};
  await until(async () => Object.keys((times = (await receiver.came())['/quiet']?.times ?? {})).length === EVENTS, 100);
  const hung = (await receiver.came())['/hang']?.requests ?? 0;
  return { waits: Object.entries(times).map(([id, at]) => at - since.get(id)!), hung };
}
