/**
 * A model with averages and shares, without randomness and clock. The load of the API keys, and of the documents and
 * users of one key, follows Zipf's law.
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

export const assumptions = {
  tenants: 1_000_000,
  documentsPerTenant: 1_000,
  eventsPerComment: 1,
  deliveriesPerEvent: 1,
  mailsPerEvent: 0.1,
  connectedUsersPerDocument: 5,
  logWritesPerEnvironment: 1,
  polls: 5,
  /** For every load: a larger table has more shards, but also more events, so a poll finds as many. */
  streamShards: 4,
  /** AWS documents this base rate for each shard. */
  streamPollsPerSecond: 4,
} as const;

const COMMENT: PricedCall['path'] = '/v2/commentannotations/comments/add';
const BATCH_SIZE = 10;
const SECONDS_PER_MONTH = MINUTES_PER_MONTH * 60;

export interface OwnLimits {
  readonly requestsPerSecond: number;
  readonly readsPerSecondPerKey: number;
  readonly writesPerSecondPerKey: number;
  /** The largest numbers of concurrent runs of the workers for the queues `deliver` and `mail`. */
  readonly deliverConcurrency: number;
  readonly mailConcurrency: number;
}

export interface Workload {
  readonly calls: readonly PricedCall[];
  readonly limits: OwnLimits;
  /** The share of each API key in the load, the largest first. The sum is 1. */
  readonly tenantShares: ArrayLike<number>;
}

export function zipfShares(count: number): Float64Array {
  const shares = Float64Array.from({ length: count }, (_each, rank) => 1 / (rank + 1));
  const sum = shares.reduceRight((total, weight) => total + weight, 0);
  return shares.map((weight) => weight / sum);
}

/** A poll takes all waiting messages, up to ten. With few messages per second, each poll finds one. */
export function batchSize(messagesPerSecond: number): number {
  const pollsPerSecond = assumptions.polls / (POSTING_MILLISECONDS / 1000);
  return Math.min(BATCH_SIZE, Math.max(1, messagesPerSecond / pollsPerSecond));
}

/** Returns at most ten: a batch of the stream can be larger, but its consumption is not measured. */
export function eventBatchSize(eventsPerSecond: number): number {
  const pollsPerSecond = assumptions.streamShards * assumptions.streamPollsPerSecond;
  return Math.min(BATCH_SIZE, Math.max(1, eventsPerSecond / pollsPerSecond));
}

export function deliveryInBatches(size: number): DeliveryConsumption {
  return inBatches(deliveryConsumption.alone.consumed, deliveryConsumption.inTens.consumed, size);
}

export function eventInBatches(size: number): DeliveryConsumption {
  return inBatches(deliveryConsumption.eventAlone.consumed, deliveryConsumption.event.consumed, size);
}

function inBatches(alone: DeliveryConsumption, inTens: DeliveryConsumption, size: number): DeliveryConsumption {
  const toAlone = (1 / size - 1 / BATCH_SIZE) / (1 - 1 / BATCH_SIZE);
  const names = Object.keys(inTens) as (keyof DeliveryConsumption)[];
  return Object.fromEntries(
    names.map((name) => [name, inTens[name] + (alone[name] - inTens[name]) * toAlone]),
  ) as unknown as DeliveryConsumption;
}

export function partitionUse({ read, written }: { readonly read: number; readonly written: number }): number {
  return read / quotas.partitionRead.limit + written / quotas.partitionWritten.limit;
}

interface Work {
  readonly events: number;
  readonly deliveries: number;
  readonly mails: number;
  readonly streamRuns: number;
  readonly deliverRuns: number;
  readonly mailRuns: number;
}

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

export function concurrencyAt(workload: Workload, requestsPerSecond: number): number {
  const { streamRuns, deliverRuns, mailRuns } = workOf(workload, requestsPerSecond);
  const workers = streamRuns * OTHER_MILLISECONDS + (deliverRuns + mailRuns) * POSTING_MILLISECONDS;
  return requestConcurrency(workload.calls, requestsPerSecond) + workers / 1000;
}

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

/** Returns dollars. The cost depends on the load, because batches grow with it. */
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
 * Returns what the setting `live` adds, if each write is pushed to the users of its document. Connections and presence
 * are left out, because their cost depends on the number of users.
 */
export function pushDollarsPerMonth({ calls }: Workload, requestsPerSecond: number): number {
  const pushes = requestsPerSecond * SECONDS_PER_MONTH * shareOf(calls, isWrite);
  return (pushes / MILLION) * pushDollars(assumptions.connectedUsersPerDocument);
}

/**
 * Returns dollars for the writes of a replica in a second region, if each unit is written again there. Stored data and
 * the transfer between the regions are left out.
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

export function dollarsPerMonth(workload: Workload, requestsPerSecond: number): number {
  return (requestsPerSecond * SECONDS_PER_MONTH * dollarsPerMillion(workload, requestsPerSecond)) / MILLION;
}

export interface KeysAboveLimits {
  readonly keys: number;
  readonly rejected: number;
}

export function keysAboveLimits({ calls, limits, tenantShares }: Workload, requestsPerSecond: number): KeysAboveLimits {
  const writes = shareOf(calls, isWrite);
  let [keys, rejected] = [0, 0];
  for (let rank = 0; rank < tenantShares.length; rank++) {
    const perSecond = requestsPerSecond * (tenantShares[rank] ?? 0);
    const above =
      Math.max(0, perSecond * (1 - writes) - limits.readsPerSecondPerKey) +
      Math.max(0, perSecond * writes - limits.writesPerSecondPerKey);
    if (above === 0) break;
    keys++;
    rejected += above;
  }
  return { keys, rejected: requestsPerSecond === 0 ? 0 : rejected / requestsPerSecond };
}

/**
 * Returns the share of requests that read credentials from the table. The others find them in the memory of an
 * execution environment.
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
 * Returns reads per second of one API key's credentials, in all functions. `tenantShare` is the key's share of the
 * load.
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
 * Assumes that requests spread evenly over the environments, and that an environment keeps the credentials for ten
 * seconds.
 */
function readsOfKey(requestsPerSecond: number, environments: number): number {
  return requestsPerSecond / (1 + ((requestsPerSecond / environments) * POSITIVE_MILLISECONDS) / 1000);
}
