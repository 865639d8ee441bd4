import diagnostics from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { ClientRequest } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import type { DeliveryConsumption, deliveryConsumption } from '../../../infra/commands/cost/deliveries.ts';
import { numbers, STATES } from '../../support/numbers.ts';
import { EVENT_TYPE, newPublisher, OTHER_TYPE, startMemoryWorld } from './world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const BATCH = 10;
const MANY_ENDPOINTS = 50;
/**
 * Two runs deliver these numbers of events to an endpoint that always fails. The breaker probes the endpoint equally
 * often in both runs, so the difference between the runs excludes the probes. The numbers are large, so that random
 * shard ids matter little.
 */
const DEAD = [200, 1_200] as const;
/** The time between two runs of the timers, in milliseconds. Real timers run every minute. Fewer runs save time. */
const TICK = 5 * MINUTE;
/**
 * Milliseconds. Messages that are due within this time are received in one batch, as they are when there are many
 * events.
 */
const TOGETHER = 10_000;
/** Milliseconds. This is longer than the time from an event to the end of its deliveries. */
const MAX_MILLISECONDS = 31 * HOUR;

/**
 * The consumption for each row of `npm run cost`. `single` is an event with one delivery, when every batch has one
 * message.
 */
export type Measured = Readonly<Record<keyof typeof deliveryConsumption | 'single', DeliveryConsumption>>;

/**
 * Measures what events of two kilobytes and their deliveries consume. A table in memory counts capacity units like
 * DynamoDB. Reads by the publishing call do not count. Time is simulated, because deliveries to a failing endpoint
 * take thirty hours. The measurement takes about 10 s.
 */
export async function measureConsumption(): Promise<Measured> {
  const random = Math.random;
  const next = numbers(1);
  Math.random = () => next(STATES) / STATES;
  const { table, cloud, receiver, stop } = await startMemoryWorld();
  cloud.stopClock();
  let allPosts = 0;
  // If the HTTP client repeats a request on a new connection, both count as one post.
  const distinctPosts = new Set<string>();
  const countPost = (message: unknown) => {
    const { request } = message as { request: ClientRequest };
    // Requests without this header are not deliveries. Functions also read secrets over HTTP.
    if (!request.hasHeader('webhook-id')) return;
    allPosts++;
    distinctPosts.add(`${request.path} ${String(request.getHeader('webhook-id'))}`);
  };
  diagnostics.subscribe('http.client.request.start', countPost);

  /** Publishes events and runs `work`. Returns what both consume together. */
  const measure = async (publish: () => Promise<unknown>, events: number, work: () => Promise<void>) => {
    const published = await table.measure(async () => {
      for (let i = 0; i < events; i++) await publish();
    });
    let [postingRuns, otherRuns] = [0, 0];
    distinctPosts.clear();
    cloud.sqsRequests = 0;
    cloud.onRun = async (run) => {
      const before = allPosts;
      const answer = await run();
      if (allPosts > before) postingRuns++;
      else otherRuns++;
      return answer;
    };
    const { calls, read, written } = await table.measure(work);
    return {
      calls: published.writes + calls,
      read,
      written: published.written + written,
      sqs: cloud.sqsRequests,
      postingRuns,
      otherRuns,
      posts: distinctPosts.size,
    };
  };

  const letTimePass = async () => {
    const from = Date.now();
    await cloud.drain();
    for (let tick = from + TICK; tick < from + MAX_MILLISECONDS; tick += TICK) {
      for (let next = cloud.nextMessageAt; next <= tick; next = cloud.nextMessageAt) {
        cloud.advanceTo(next + TOGETHER);
        await cloud.drain();
      }
      cloud.advanceTo(tick);
      await cloud.tick();
      await cloud.drain();
    }
  };

  const publisher = await newPublisher();
  await publisher.subscribe(receiver.url('/one'));
  const many = await newPublisher();
  for (let i = 0; i < MANY_ENDPOINTS; i++) await many.subscribe(receiver.url(`/many/${i}`));
  // The first event also reads secrets and opens connections. The process keeps both.
  for (const customer of [publisher, many]) await customer.publish();
  await cloud.drain();

  const delivered = (events: number) =>
    measure(
      () => publisher.publish(EVENT_TYPE),
      events,
      () => cloud.drain(),
    );
  const [single, ten] = [await delivered(1), await delivered(BATCH)];
  cloud.batchSize = 1;
  const tenAlone = await delivered(BATCH);
  cloud.batchSize = undefined;
  const none = await measure(
    () => publisher.publish(OTHER_TYPE),
    BATCH,
    () => cloud.drain(),
  );
  const fifty = await measure(
    () => many.publish(),
    1,
    () => cloud.drain(),
  );
  const dead: DeliveryConsumption[] = [];
  for (const events of DEAD) {
    const customer = await newPublisher();
    await customer.subscribe(`http://127.0.0.1:${await closedPort()}/dead`);
    dead.push(await measure(() => customer.publish(), events, letTimePass));
  }
  const noneAlone = await measure(
    () => publisher.publish(OTHER_TYPE),
    1,
    () => cloud.drain(),
  );
  diagnostics.unsubscribe('http.client.request.start', countPost);
  await stop();
  Math.random = random;
  if (cloud.failures > 0) throw new Error(`${cloud.failures} messages failed`);

  const [less, more] = dead as [DeliveryConsumption, DeliveryConsumption];
  return {
    single,
    event: divided(none, BATCH),
    eventAlone: noneAlone,
    inTens: divided(minus(ten, none), BATCH),
    alone: divided(minus(tenAlone, none), BATCH),
    fifty,
    // Subtracts what the events consume without deliveries.
    exhausted: minus(divided(minus(more, less), DEAD[1] - DEAD[0]), divided(none, BATCH)),
  };
}

/** Returns a port on which no server listens. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function minus(a: DeliveryConsumption, b: DeliveryConsumption): DeliveryConsumption {
  return mapped((name) => a[name] - b[name]);
}

function divided(a: DeliveryConsumption, by: number): DeliveryConsumption {
  return mapped((name) => a[name] / by);
}

function mapped(value: (name: keyof DeliveryConsumption) => number): DeliveryConsumption {
  return {
    calls: value('calls'),
    read: value('read'),
    written: value('written'),
    sqs: value('sqs'),
    postingRuns: value('postingRuns'),
    otherRuns: value('otherRuns'),
    posts: value('posts'),
  };
}
