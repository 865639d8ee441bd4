/** Measures deliveries per second: the code of the worker in memory and on the engine, next to a loop that only posts. Takes about 35 s. */
import { Agent, request } from 'undici';
import { environment } from '../../../lib/app/capability.ts';
import { secretBox } from '../../../lib/crypto/secretBox.ts';
import { recordEvent, type StoredEvent } from '../../../lib/events/outbox.ts';
import { insert, openTable, type WriteOp } from '../../../lib/table/table.ts';
import { AdvancedWebhookConfigEntity } from '../../../lib/webhooks/configs.ts';
import { WebhookEndpointEntity } from '../../../lib/webhooks/endpoints.ts';
import { createSigningSecret } from '../../../lib/webhooks/signingSecrets.ts';
import type { DeliveryMessage } from '../../../lib/webhooks/deliveryMessage.ts';
import { initialAdvancedConfig } from '../../../lib/webhooks/rules/advanced.ts';
import { newEndpoint, type WebhookEndpoint } from '../../../lib/webhooks/rules/endpoints.ts';
import { advancedPayload } from '../../../lib/webhooks/rules/payloads.ts';
import { newId } from '../../../lib/shared/ids.ts';
import { startEngine } from '../../support/engine.ts';
import { printTable, quantile, ratio, type Row } from '../report.ts';
import { Memory } from './memory.ts';
import { startReceiver } from './receivers.ts';
import { payload, Sender } from './sender.ts';

const GOAL = 0.6;
const TENANT = 'bench';
const config = { ...initialAdvancedConfig, isEnabled: true };
const ENDPOINTS = 10;
const WARM_UP = 3;
const ROUNDS = 7;
/** The number of deliveries of a round, in memory and on the engine. */
const ROUND = 2_000;
const ENGINE_ROUND = 200;

const engine = await startEngine({ sdk: true });
const receiver = await startReceiver();
const agent = new Agent();
const url = receiver.url('/ok');
const body = advancedPayload(
  { eventId: 'msg_1', event: 'comment.add', createdAt: Date.now(), payload: payload(TENANT) },
  { config },
);

const rows: Row[] = [];
const [stubbed, stored] = [await inMemory(), await onEngine()];
for (const width of [10, 50]) {
  const rates = { bare: [] as number[], stubbed: [] as number[], stored: [] as number[] };
  // The variants run in turns, so that other load on the machine slows all of them.
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    const each = {
      bare: await perSecond(Array.from({ length: ROUND }), width, post),
      stubbed: await stubbed(width),
      stored: await stored(width),
    };
    if (round >= WARM_UP) for (const [name, rate] of Object.entries(each)) rates[name as keyof typeof rates].push(rate);
  }
  const [bare, ...ours] = [rates.bare, rates.stubbed, rates.stored].map((each) => quantile(each, 0.5)) as [
    number,
    number,
    number,
  ];
  for (const [what, rate] of [
    ['storage in memory', ours[0]],
    ['on the engine', ours[1]],
  ] as const) {
    rows.push([
      `${width} at a time, ${what}`,
      Math.round(rate),
      Math.round(bare),
      ratio(rate, bare),
      what === 'on the engine' ? '' : rate / bare >= GOAL ? 'yes' : 'no',
    ]);
  }
}
await agent.close();
await receiver.stop();
await engine.stop();

printTable(
  `Deliveries per second of one process, ${Buffer.byteLength(body)} bytes, median of ${ROUNDS} rounds; the peer is undici in a loop, unsigned, nothing stored. Goal: at least ${GOAL}× with storage in memory`,
  ['what', 'ours', 'peer', 'ratio', 'reached'],
  rows,
);

type Round = (width: number) => Promise<number>;

/** Creates the endpoints of a customer. All of them use the same receiver. */
async function newEndpoints(): Promise<WebhookEndpoint[]> {
  const now = Date.now();
  const box = secretBox.open(environment(process.env));
  return Promise.all(
    Array.from({ length: ENDPOINTS }, async () => {
      const endpointId = newId('ep', now);
      const { stored: secret } = await createSigningSecret(box, TENANT, endpointId, now);
      return newEndpoint({ url }, { endpointId, secret, now });
    }),
  );
}

/** Returns a function that makes deliveries in memory and returns the deliveries per second. */
async function inMemory(): Promise<Round> {
  const endpoints = await newEndpoints();
  const memory = new Memory();
  memory.customer(TENANT, config, endpoints);
  const sender = new Sender(memory.table, { stores: memory });
  return (width) => {
    const messages = eventsFor(ROUND).flatMap(({ event }) =>
      memory.event(
        event,
        JSON.stringify(payload(TENANT)),
        endpoints.map(({ endpointId }) => endpointId),
      ),
    );
    return delivered(sender, messages, width);
  };
}

/** Returns a function that makes deliveries on the engine and returns the deliveries per second. */
async function onEngine(): Promise<Round> {
  const table = openTable(environment(process.env));
  const endpoints = await newEndpoints();
  await table.writeAll([
    insert(AdvancedWebhookConfigEntity, { tenant: TENANT, ...config }),
    ...endpoints.map((endpoint) => insert(WebhookEndpointEntity, { tenant: TENANT, ...endpoint })),
  ]);
  const sender = new Sender(table);
  return async (width) => {
    const messages: DeliveryMessage[] = [];
    for (const { event, ops } of eventsFor(ENGINE_ROUND)) {
      await table.write(ops);
      messages.push(
        ...(await sender.make(
          event,
          endpoints.map(({ endpointId }) => endpointId),
        )),
      );
    }
    return delivered(sender, messages, width);
  };
}

function eventsFor(deliveries: number): { event: StoredEvent; ops: WriteOp[] }[] {
  return Array.from({ length: deliveries / ENDPOINTS }, () => {
    const now = Date.now();
    const { event, ops } = recordEvent(
      TENANT,
      {
        event: 'comment.add',
        cause: { type: 'Bench', id: newId('cause', now), revision: 1 },
        payload: payload(TENANT),
      },
      now,
    );
    return { event: { ...event, tenant: TENANT, _r: 1 }, ops };
  });
}

async function delivered(sender: Sender, messages: readonly DeliveryMessage[], width: number): Promise<number> {
  const rate = await perSecond(messages, width, (message) => sender.deliver(message, sender.live));
  const count = sender.counted.get('WebhookAttemptsDelivered');
  if (count !== messages.length || sender.errors.length > 0)
    throw new Error(`${count} of ${messages.length} were delivered: ${String(sender.errors[0])}`);
  sender.counted.clear();
  return rate;
}

async function post(): Promise<void> {
  const answer = await request(url, {
    dispatcher: agent,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  await answer.body.dump();
}

/** Processes values with a concurrency of `width`. Returns the values per second. */
async function perSecond<T>(
  values: readonly T[],
  width: number,
  work: (value: T) => Promise<unknown>,
): Promise<number> {
  const rest = values.values();
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: width }, async () => {
      for (const value of rest) await work(value);
    }),
  );
  return (values.length * 1000) / (performance.now() - startedAt);
}
