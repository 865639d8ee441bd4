/**
 * The model of `npm run simulate`: what a load uses and costs. It computes with averages and shares. It uses no
 * randomness and no clock.
 */
import { POSITIVE_MILLISECONDS } from '../../../lib/table/recordCache.ts';
import { CREDENTIALS_UNITS_READ, idempotencyConsumption } from '../../cost/calls.ts';
import { MILLION, MINUTES_PER_MONTH, prices, tableDollars } from '../../cost/prices.ts';
import {
  type DeliveryConsumption,
  deliveryConsumption,
  deliveryCost,
  OTHER_MILLISECONDS,
  POSTING_MILLISECONDS,
} from '../cost/deliveries.ts';
import { pushDollars } from '../cost/live.ts';
import type { PricedCall } from '../load/mix.ts';
import { callFootprints, eventFootprint, type Footprint } from './footprints.ts';
import { quotas } from './quotas.ts';

/** Values that no benchmark measures. */
export const assumptions = {
  /** The number of API keys. The load is distributed over them by Zipf's law. */
  tenants: 1_000_000,
  /**
   * The number of documents of an API key, and also the number of its users. The load of the key is distributed over
   * them by Zipf's law.
   */
  documentsPerTenant: 1_000,
  /** Averages: events for a new comment, deliveries for an event, and mails for an event. */
  eventsPerComment: 1,
  deliveriesPerEvent: 1,
  mailsPerEvent: 0.1,
  /** The average number of users who are connected to a document when it changes. */
  connectedUsersPerDocument: 5,
  /** How many times per second a busy execution environment writes logs. */
  logWritesPerEnvironment: 1,
  /** The number of parallel polls with which Lambda starts to read a queue. */
  polls: 5,
  /**
   * The number of shards in the stream of a new table. The stream of a larger table has more shards, but also more
   * events.
   */
  streamShards: 4,
  /** How often Lambda reads each shard of the stream per second. AWS documents this base rate. */
  streamPollsPerSecond: 4,
} as const;

const COMMENT: PricedCall['path'] = '/v2/commentannotations/comments/add';
const BATCH_SIZE = 10;
const SECONDS_PER_MONTH = MINUTES_PER_MONTH * 60;

/** The limits of this service. Settings and declarations of queues set them. */
export interface OwnLimits {
  readonly requestsPerSecond: number;
  readonly readsPerSecondPerKey: number;
  readonly writesPerSecondPerKey: number;
  /**
   * The largest numbers of concurrent runs: of the worker for the queue `deliver`, and of the worker for the queue
   * `mail`.
   */
  readonly deliverConcurrency: number;
  readonly mailConcurrency: number;
}

export interface Workload {
  readonly calls: readonly PricedCall[];
  readonly limits: OwnLimits;
  /** The share of each API key in the load, the largest first. The sum is 1. `tenant` means API key. */
  readonly tenantShares: ArrayLike<number>;
}

/** Returns the shares of `count` members in a Zipf distribution, the largest first. Their sum is 1. */
export function zipfShares(count: number): Float64Array {
  const shares = Float64Array.from({ length: count }, (_each, rank) => 1 / (rank + 1));
  const sum = shares.reduceRight((total, weight) => total + weight, 0);
  return shares.map((weight) => weight / sum);
}

/**
 * Returns the average number of messages in a batch. A poll takes all waiting messages, up to ten. With few messages
 * per second, each poll finds one.
 */
export function batchSize(messagesPerSecond: number): number {
  const pollsPerSecond = assumptions.polls / (POSTING_MILLISECONDS / 1000);
  return Math.min(BATCH_SIZE, Math.max(1, messagesPerSecond / pollsPerSecond));
}

/**
 * Returns the average number of events in a batch of the table's stream, at most ten. A batch can be larger, but the
 * consumption of larger batches is not measured.
 */
export function eventBatchSize(eventsPerSecond: number): number {
  const pollsPerSecond = assumptions.streamShards * assumptions.streamPollsPerSecond;
  return Math.min(BATCH_SIZE, Math.max(1, eventsPerSecond / pollsPerSecond));
}

/** Returns the consumption of a delivery in batches of `size`. */
export function deliveryInBatches(size: number): DeliveryConsumption {
  return inBatches(deliveryConsumption.alone.consumed, deliveryConsumption.inTens.consumed, size);
}

/** Returns the consumption of an event in batches of `size`. */
export function eventInBatches(size: number): DeliveryConsumption {
  return inBatches(deliveryConsumption.eventAlone.consumed, deliveryConsumption.event.consumed, size);
}

/** Returns the consumption in batches of `size`, interpolated between the measured consumptions in batches of one and of ten. */
function inBatches(alone: DeliveryConsumption, inTens: DeliveryConsumption, size: number): DeliveryConsumption {
  const toAlone = (1 / size - 1 / BATCH_SIZE) / (1 - 1 / BATCH_SIZE);
  const names = Object.keys(inTens) as (keyof DeliveryConsumption)[];
  return Object.fromEntries(
    names.map((name) => [name, inTens[name] + (alone[name] - inTens[name]) * toAlone]),
  ) as unknown as DeliveryConsumption;
}

/** Returns which share of one partition's throughput the units use. `read` and `written` are units per second. */
export function partitionUse({ read, written }: { readonly read: number; readonly written: number }): number {
  return read / quotas.partitionRead.limit + written / quotas.partitionWritten.limit;
}

/** What the workers process per second at a load, and how often they run per second. */
interface Work {
  readonly events: number;
  readonly deliveries: number;
  readonly mails: number;
  readonly streamRuns: number;
  readonly deliverRuns: number;
  readonly mailRuns: number;
}

/** Returns the average number of events that one request causes. */
function eventsPerRequest({ calls }: Workload): number {
  return shareOf(calls, ({ path }) => path === COMMENT) * assumptions.eventsPerComment;
}

export function workOf(workload: Workload, requestsPerSecond: number): Work {
  const events = requestsPerSecond * eventsPerRequest(workload);
  const deliveries = events * assumptions.deliveriesPerEvent;
  const mails = events * assumptions.mailsPerEvent;
  return {
    events,
    deliveries,
    mails,
    streamRuns: events * eventInBatches(eventBatchSize(events)).otherRuns,
    deliverRuns: deliveries / batchSize(deliveries),
    mailRuns: mails / batchSize(mails),
  };
}

export function shareOf(calls: readonly PricedCall[], isIncluded: (call: PricedCall) => boolean): number {
  return calls.filter(isIncluded).reduce((sum, { share }) => sum + share, 0);
}

export const isWrite = ({ kind }: PricedCall) => kind === 'write';

/** Returns the average number of concurrent executions of the endpoints' functions. */
export function requestConcurrency(
  calls: readonly PricedCall[],
  requestsPerSecond: number,
  extraMilliseconds = 0,
): number {
  return calls.reduce(
    (sum, { share, cost }) => sum + (requestsPerSecond * share * (cost.milliseconds + extraMilliseconds)) / 1000,
    0,
  );
}

/** Returns the average number of concurrent executions of all functions, including workers. */
export function concurrencyAt(workload: Workload, requestsPerSecond: number): number {
  const { streamRuns, deliverRuns, mailRuns } = workOf(workload, requestsPerSecond);
  const workers = streamRuns * OTHER_MILLISECONDS + (deliverRuns + mailRuns) * POSTING_MILLISECONDS;
  return requestConcurrency(workload.calls, requestsPerSecond) + workers / 1000;
}

/** Returns the footprints (capacity units by partition) of an average request with its events and deliveries. */
export function footprintsPerRequest(workload: Workload): Footprint[] {
  const { calls } = workload;
  const all: Footprint[] = [
    ...calls.flatMap(({ path, share }) => callFootprints[path].map((footprint) => scaled(footprint, share))),
    ...eventFootprint.map((footprint) => scaled(footprint, eventsPerRequest(workload))),
    { partitions: 'table T#<tenant>', scope: 'item', shards: 1, read: CREDENTIALS_UNITS_READ, written: 0 },
    scaled(
      { partitions: 'table T#<tenant>#IDEMPOTENCY', scope: 'item', shards: 1, ...idempotencyConsumption },
      shareOf(calls, isWrite),
    ),
  ];
  return [...Map.groupBy(all, ({ partitions, scope }) => `${scope} ${partitions}`).values()].map((same) => ({
    ...(same[0] as Footprint),
    read: same.reduce((sum, { read }) => sum + read, 0),
    written: same.reduce((sum, { written }) => sum + written, 0),
  }));
}

function scaled({ partitions, scope, shards, read, written }: Footprint, by: number): Footprint {
  return { partitions, scope, shards, read: read * by, written: written * by };
}

/**
 * Returns the cost of a million requests with their events, deliveries and mails, in dollars. The cost depends on the
 * load, because batches grow with it.
 */
export function dollarsPerMillion(workload: Workload, requestsPerSecond: number): number {
  const calls = workload.calls.reduce((sum, { share, cost }) => sum + share * cost.total, 0);
  const events = eventsPerRequest(workload);
  const work = workOf(workload, requestsPerSecond);
  const event = eventInBatches(eventBatchSize(work.events));
  const delivery = deliveryInBatches(batchSize(work.deliveries));
  return (
    calls +
    events * deliveryCost(event).total +
    events * assumptions.deliveriesPerEvent * deliveryCost(delivery).total +
    events * assumptions.mailsPerEvent * prices.mails
  );
}

/**
 * Returns what the setting `live` adds to the cost of a month, in dollars, if each write is pushed to the users of its
 * document. Does not include the cost of connections and presence, which depends on the number of users.
 */
export function pushDollarsPerMonth({ calls }: Workload, requestsPerSecond: number): number {
  const pushes = requestsPerSecond * SECONDS_PER_MONTH * shareOf(calls, isWrite);
  return (pushes / MILLION) * pushDollars(assumptions.connectedUsersPerDocument);
}

/**
 * Returns the most that a replica of the table in a second region adds to the cost of a month, in dollars: every unit
 * that is written, again. Does not include stored data and the transfer between the regions.
 */
export function replicaDollarsPerMonth(workload: Workload, requestsPerSecond: number): number {
  const { events, deliveries } = workOf(workload, requestsPerSecond);
  const calls = workload.calls.reduce((sum, { share, cost }) => sum + share * cost.written, 0);
  const written =
    requestsPerSecond * calls +
    events * eventInBatches(eventBatchSize(events)).written +
    deliveries * deliveryInBatches(batchSize(deliveries)).written;
  return tableDollars({ read: 0, written: written * SECONDS_PER_MONTH });
}

/** Returns the cost of a month at a constant load in dollars. Does not include the cost of a month without calls. */
export function dollarsPerMonth(workload: Workload, requestsPerSecond: number): number {
  return (requestsPerSecond * SECONDS_PER_MONTH * dollarsPerMillion(workload, requestsPerSecond)) / MILLION;
}

/** The number of API keys that exceed their limits at a load. */
export interface KeysAboveLimits {
  readonly keys: number;
  /** The share of all requests that gets RESOURCE_EXHAUSTED. */
  readonly rejected: number;
}

/** Returns how many API keys exceed their limits, and which share of all requests is above the limits. */
export function keysAboveLimits({ calls, limits, tenantShares }: Workload, requestsPerSecond: number): KeysAboveLimits {
  const writes = shareOf(calls, isWrite);
  let [keys, rejected] = [0, 0];
  for (let rank = 0; rank < tenantShares.length; rank++) {
    const perSecond = requestsPerSecond * (tenantShares[rank] ?? 0);
    const above =
      Math.max(0, perSecond * (1 - writes) - limits.readsPerSecondPerKey) +
      Math.max(0, perSecond * writes - limits.writesPerSecondPerKey);
    // API keys come in the order of their load, so all later keys are within their limits.
    if (above === 0) break;
    keys++;
    rejected += above;
  }
  return { keys, rejected: requestsPerSecond === 0 ? 0 : rejected / requestsPerSecond };
}

/**
 * Returns the share of requests that read their credentials from the table. The other requests find the credentials in
 * the memory of the execution environment, which keeps them for ten seconds.
 */
export function credentialReadShare({ calls, tenantShares }: Workload, requestsPerSecond: number): number {
  if (requestsPerSecond === 0) return 1;
  let reads = 0;
  for (const call of calls) {
    const environments = environmentsOf(call, requestsPerSecond);
    for (let rank = 0; rank < tenantShares.length; rank++)
      reads += readsOfKey(requestsPerSecond * call.share * (tenantShares[rank] ?? 0), environments);
  }
  return reads / requestsPerSecond;
}

/**
 * Returns how often per second all functions together read the credentials of one API key. `tenantShare` is the key's
 * share of the load.
 */
export function credentialReads(calls: readonly PricedCall[], requestsPerSecond: number, tenantShare: number): number {
  return calls.reduce(
    (sum, call) =>
      sum + readsOfKey(requestsPerSecond * call.share * tenantShare, environmentsOf(call, requestsPerSecond)),
    0,
  );
}

function environmentsOf(call: PricedCall, requestsPerSecond: number): number {
  return Math.max(1, requestConcurrency([call], requestsPerSecond));
}

/**
 * Returns how often per second the execution environments of one function read the credentials of one API key. Assumes
 * that requests spread evenly over the environments. An environment keeps the credentials for ten seconds after a read.
 */
function readsOfKey(requestsPerSecond: number, environments: number): number {
  return requestsPerSecond / (1 + ((requestsPerSecond / environments) * POSITIVE_MILLISECONDS) / 1000);
}
