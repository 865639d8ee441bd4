/** Measures the busiest second of an endpoint with a rate limit and a backlog, in real time. Takes about 25 s in memory and 25 s on the engine. */
import { environment } from '../../../lib/app/capability.ts';
import { emitTo } from '../../../lib/webhooks/deliveries.ts';
import { EndpointHealthStore } from '../../../lib/webhooks/endpointHealth.ts';
import { RateSlots } from '../../../lib/webhooks/rateSlots.ts';
import { recordEvent } from '../../../lib/events/outbox.ts';
import { openTable } from '../../../lib/table/table.ts';
import { nextAttemptMessages } from '../../../lib/webhooks/deliveryMessage.ts';
import { initialAdvancedConfig } from '../../../lib/webhooks/rules/advanced.ts';
import { newId } from '../../../lib/shared/ids.ts';
import type { QueueMessage } from '../../../lib/workers/sender.ts';
import { startEngine } from '../../support/engine.ts';
import { newWebhookCustomer, paths } from '../../support/webhooks.ts';
import { printTable, ratio, reached, type Row } from '../report.ts';
import { Memory } from './memory.ts';
import { until } from './queue.ts';
import { startReceiver } from './receivers.ts';
import { payload, realTiming, Sender } from './sender.ts';

const RATE_LIMIT = 100;
const QUEUED = 2_000;
const GOAL_WORST = 1.1;
const GOAL_USE = 0.9;
const SECOND = 1000;
/** The concurrency limit of the template. */
const MAX_CONCURRENCY = 1_000;
/** The number of events that are written together. */
const EVENTS_PER_WRITE = 20;

const engine = await startEngine({ sdk: true });
process.env.ALLOW_LOOPBACK_DELIVERY = 'true';
const receiver = await startReceiver();
const table = openTable(environment(process.env));

const rows = [...(await rowsFor('storage in memory', inMemory)), ...(await rowsFor('on the engine', onEngine))];
await receiver.stop();
await engine.stop();
printTable(
  `An endpoint with rateLimit ${RATE_LIMIT} and ${QUEUED} deliveries queued, one process, in real time; goal: at most ${GOAL_WORST}× in any second, at least ${GOAL_USE}× used
Both reserve slots on the engine. A delay after the slot check, for example by other load on the machine, counts against the result.`,
  ['what', 'ours', 'limit', 'ratio', 'reached'],
  rows,
);

/** Delivers the prepared backlog. */
async function rowsFor(
  where: string,
  prepare: () => Promise<{ sender: Sender; backlog: QueueMessage[] }>,
): Promise<Row[]> {
  await receiver.clear();
  const { sender, backlog } = await prepare();
  await sender.live.send(backlog);
  await until(() => sender.counted.get('WebhookAttemptsDelivered') === QUEUED);
  const { times = {}, requests = 0 } = (await receiver.came())['/limited'] ?? {};
  const sorted = Object.values(times).sort((a, b) => a - b);
  const worst = Math.max(
    ...sorted.map((from, index) => sorted.filter((at, other) => other >= index && at < from + SECOND).length),
  );
  const use = (sorted.length - 1) / (((sorted.at(-1)! - sorted[0]!) / SECOND) * RATE_LIMIT);
  return [
    [
      `${where}: most in any second`,
      worst,
      RATE_LIMIT,
      ratio(worst, RATE_LIMIT),
      reached(worst / RATE_LIMIT, GOAL_WORST),
    ],
    [
      `${where}: per second from first to last`,
      (use * RATE_LIMIT).toFixed(1),
      RATE_LIMIT,
      ratio(use, 1),
      use >= GOAL_USE ? 'yes' : 'no',
    ],
    [`${where}: requests, of so many messages`, requests, QUEUED, ratio(requests, QUEUED), reached(requests, QUEUED)],
  ];
}

async function inMemory(): Promise<{ sender: Sender; backlog: QueueMessage[] }> {
  const [tenant, endpointId, now] = ['memory', 'ep_limited', Date.now()];
  const memory = new Memory();
  const endpoint = {
    endpointId,
    url: receiver.url('/limited'),
    disabled: false,
    rateLimit: RATE_LIMIT,
    secrets: [],
    createdAt: now,
    updatedAt: now,
  };
  memory.customer(tenant, { ...initialAdvancedConfig, isEnabled: true }, [endpoint]);
  const sender = new Sender(memory.table, {
    live: MAX_CONCURRENCY,
    stores: { deliveries: memory.deliveries, health: new EndpointHealthStore(table), slots: new RateSlots(table) },
  });
  const messages = Array.from({ length: QUEUED }, () => {
    const { event } = recordEvent(tenant, newEvent(tenant), now);
    return memory.event({ ...event, tenant, _r: 1 }, JSON.stringify(payload(tenant)), [endpointId]);
  });
  return { sender, backlog: messages.flat().map((body) => ({ body })) };
}

async function onEngine(): Promise<{ sender: Sender; backlog: QueueMessage[] }> {
  const { apiKey, ok } = await newWebhookCustomer();
  const { id: endpointId } = await ok(paths.create, { url: receiver.url('/limited'), rateLimit: RATE_LIMIT });
  const backlog: QueueMessage[] = [];
  for (let made = 0; made < QUEUED; made += EVENTS_PER_WRITE) {
    const now = Date.now();
    const events = Array.from({ length: EVENTS_PER_WRITE }, () =>
      emitTo(apiKey, endpointId, newEvent(apiKey), now, realTiming),
    );
    await table.writeAll(events.flatMap(({ ops }) => ops));
    backlog.push(...events.flatMap(({ delivery }) => nextAttemptMessages(delivery, now)));
  }
  return { sender: new Sender(table, { live: MAX_CONCURRENCY }), backlog };
}

function newEvent(tenant: string) {
  return {
    event: 'comment.add',
    cause: { type: 'Bench', id: newId('cause', Date.now()), revision: 1 },
    payload: payload(tenant),
  };
}
