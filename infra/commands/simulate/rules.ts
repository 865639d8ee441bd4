/**
 * The model of `npm run simulate`: which component is full at which load, and what the load costs. Everything is computed from
 * averages and shares, without randomness and without a clock.
 */
import { CREDENTIALS_UNITS_READ, idempotencyConsumption } from '../cost/calls.ts';
import {
  deliveryConsumption,
  type DeliveryConsumption,
  deliveryDollars,
  OTHER_MILLISECONDS,
  POSTING_MILLISECONDS,
} from '../cost/deliveries.ts';
import { MILLION, MINUTES_PER_MONTH } from '../cost/prices.ts';
import type { PricedCall } from '../load/mix.ts';
import { callFootprints, eventFootprint, type Footprint, ORGANIZATIONS, type Scope } from './footprints.ts';
import { quotas } from './quotas.ts';

/** What no bench measures. */
export const assumptions = {
  /** The number of API keys. Their shares of the load are a Zipf distribution. */
  tenants: 1_000_000,
  /** The documents of an API key, and its users. Their shares of its load are a Zipf distribution too. */
  documentsPerTenant: 1_000,
  /** The events of a new comment, the deliveries of an event, and its mails. */
  eventsPerComment: 1,
  deliveriesPerEvent: 1,
  mailsPerEvent: 0.1,
  /** The connected users of a document that changes. */
  viewersPerDocument: 5,
  /** The time in which Lambda creates an execution environment and loads the function. */
  coldStartMilliseconds: 400,
  /** The writes of logs per second of a busy execution environment. */
  logWritesPerEnvironment: 1,
  /** The parallel polls with which Lambda begins to read a queue. */
  polls: 5,
} as const;

/** The time for which functions keep credentials in memory, and secrets. */
const CREDENTIALS_SECONDS = 10;
const SECRETS_SECONDS = 5 * 60;
const SECRETS = 2;
const COMMENT: PricedCall['path'] = '/v2/commentannotations/comments/add';
const BATCH_SIZE = 10;
const JUMP_SECONDS = 10;
const SECONDS_PER_MONTH = MINUTES_PER_MONTH * 60;

/** The limits that the settings and the declarations of queues set. */
export interface OwnLimits {
  readonly requestsPerSecond: number;
  readonly readsPerSecondPerKey: number;
  readonly writesPerSecondPerKey: number;
  /** The largest number of concurrent runs of the workers of these queues. */
  readonly deliverConcurrency: number;
  readonly mailConcurrency: number;
}

export interface Workload {
  readonly calls: readonly PricedCall[];
  readonly limits: OwnLimits;
  /** The share of each API key in the load, the largest first. The sum is 1. */
  readonly tenantShares: ArrayLike<number>;
}

/** A component with a limit. */
export interface Component {
  readonly name: string;
  /** The limit, or undefined if AWS agrees on one with each account. */
  readonly limit: number | undefined;
  /** `steady`: at a constant load. `jump`: in the first ten seconds, if the load begins at once. */
  readonly when: 'steady' | 'jump';
  /** Returns what a load uses, in units of the limit. */
  readonly use: (requestsPerSecond: number) => number;
  /** How to raise the limit. */
  readonly remedy: string;
}

/** Returns the shares of `count` members of a Zipf distribution, the largest first. Their sum is 1. */
export function zipfShares(count: number): Float64Array {
  const shares = Float64Array.from({ length: count }, (_each, rank) => 1 / (rank + 1));
  const sum = shares.reduceRight((total, weight) => total + weight, 0);
  return shares.map((weight) => weight / sum);
}

/**
 * Returns the mean number of messages in a batch. Lambda's polls take all waiting messages, at most ten. While few messages arrive,
 * each poll finds one.
 */
export function batchSize(messagesPerSecond: number): number {
  const pollsPerSecond = assumptions.polls / (POSTING_MILLISECONDS / 1000);
  return Math.min(BATCH_SIZE, Math.max(1, messagesPerSecond / pollsPerSecond));
}

/** Returns the consumption of a delivery in batches of `size`: between those of one and of ten, by the share of a batch. */
export function deliveryInBatches(size: number): DeliveryConsumption {
  const { alone, inTens } = deliveryConsumption;
  const toAlone = (1 / size - 1 / BATCH_SIZE) / (1 - 1 / BATCH_SIZE);
  const between = (name: keyof DeliveryConsumption) =>
    inTens.consumed[name] + (alone.consumed[name] - inTens.consumed[name]) * toAlone;
  return {
    calls: between('calls'),
    read: between('read'),
    written: between('written'),
    sqs: between('sqs'),
    postingRuns: between('postingRuns'),
    otherRuns: between('otherRuns'),
  };
}

/** Returns the share of a partition's throughput that these units per second use. */
export function partitionUse({ read, written }: { readonly read: number; readonly written: number }): number {
  return read / quotas.partitionRead.limit + written / quotas.partitionWritten.limit;
}

/** What happens per second at a load, besides the requests. */
interface Work {
  readonly events: number;
  readonly deliveries: number;
  readonly mails: number;
  /** The runs of the workers per second. */
  readonly streamRuns: number;
  readonly deliverRuns: number;
  readonly mailRuns: number;
}

/** Returns the mean number of events of a request. */
function eventsPerRequest({ calls }: Workload): number {
  return shareOf(calls, ({ path }) => path === COMMENT) * assumptions.eventsPerComment;
}

function workOf(workload: Workload, requestsPerSecond: number): Work {
  const events = requestsPerSecond * eventsPerRequest(workload);
  const deliveries = events * assumptions.deliveriesPerEvent;
  const mails = events * assumptions.mailsPerEvent;
  return {
    events,
    deliveries,
    mails,
    streamRuns: events * deliveryConsumption.event.consumed.otherRuns,
    deliverRuns: deliveries / batchSize(deliveries),
    mailRuns: mails / batchSize(mails),
  };
}

function shareOf(calls: readonly PricedCall[], isMeant: (call: PricedCall) => boolean): number {
  return calls.filter(isMeant).reduce((sum, { share }) => sum + share, 0);
}

const isWrite = ({ kind }: PricedCall) => kind === 'write';

/** Returns the average number of concurrent executions of the functions of endpoints. */
function requestConcurrency(calls: readonly PricedCall[], requestsPerSecond: number, extraMilliseconds = 0): number {
  return calls.reduce(
    (sum, { share, cost }) => sum + (requestsPerSecond * share * (cost.milliseconds + extraMilliseconds)) / 1000,
    0,
  );
}

/** Returns the average number of concurrent executions of all functions. */
export function concurrencyAt(workload: Workload, requestsPerSecond: number): number {
  const { streamRuns, deliverRuns, mailRuns } = workOf(workload, requestsPerSecond);
  const workers = streamRuns * OTHER_MILLISECONDS + (deliverRuns + mailRuns) * POSTING_MILLISECONDS;
  return requestConcurrency(workload.calls, requestsPerSecond) + workers / 1000;
}

/** The consumption of an average request with its events and deliveries, in the partitions of one kind. */
function footprintsPerRequest(workload: Workload): Footprint[] {
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

/** Returns all components, in no order. */
export function componentsOf(workload: Workload): Component[] {
  return [
    ...requestComponents(workload),
    ...tableComponents(workload),
    ...partitionComponents(workload),
    ...workerComponents(workload),
    ...platformComponents(workload),
    ...jumpComponents(workload),
  ];
}

/** How to raise a quota. */
const REQUEST = 'request a higher quota';

function requestComponents(workload: Workload): Component[] {
  const { calls, limits, tenantShares } = workload;
  const largestTenant = tenantShares[0] ?? 0;
  const writes = shareOf(calls, isWrite);
  const perKey = 'raise the limits of the API key with `npm run workspace -- limits`';
  return [
    steady(
      'requests to the stage of the API',
      limits.requestsPerSecond,
      (rps) => rps,
      'raise the setting `requestsPerSecond`',
    ),
    steady('requests to API Gateway', quotas.gatewayRequests.limit, (rps) => rps, REQUEST),
    steady(
      'reads of the largest API key',
      limits.readsPerSecondPerKey,
      (rps) => rps * largestTenant * (1 - writes),
      perKey,
    ),
    steady(
      'writes of the largest API key',
      limits.writesPerSecondPerKey,
      (rps) => rps * largestTenant * writes,
      perKey,
    ),
    steady('concurrent executions of Lambda', quotas.concurrency.limit, (rps) => concurrencyAt(workload, rps), REQUEST),
    steady(
      'invocations of Lambda',
      quotas.concurrency.limit * quotas.invocationsPerConcurrency.limit,
      (rps) => {
        const { streamRuns, deliverRuns, mailRuns } = workOf(workload, rps);
        return rps + streamRuns + deliverRuns + mailRuns;
      },
      'request more concurrent executions, ten invocations for each',
    ),
  ];
}

function tableComponents(workload: Workload): Component[] {
  const byIndex = Map.groupBy(footprintsPerRequest(workload), ({ partitions }) => partitions.split(' ')[0] ?? '');
  return [...byIndex].flatMap(([index, footprints]) => {
    const read = footprints.reduce((sum, footprint) => sum + footprint.read, 0);
    const written = footprints.reduce((sum, footprint) => sum + footprint.written, 0);
    const name = index === 'table' ? 'the table' : `index ${index}`;
    return [
      ...(read > 0 ? [steady(`units read of ${name}`, quotas.tableRead.limit, (rps) => rps * read, REQUEST)] : []),
      ...(written > 0
        ? [steady(`units written to ${name}`, quotas.tableWritten.limit, (rps) => rps * written, REQUEST)]
        : []),
    ];
  });
}

/** The remedies, and the number of partitions in the tables, of everything, of an API key, and of its documents and users. */
const partitionGroups = {
  account: { shown: 1, remedy: 'more shards in the code' },
  tenant: { shown: 2, remedy: 'several API keys, or none: DynamoDB splits a partition between its items' },
  document: { shown: 1, remedy: 'none: DynamoDB splits a partition between its items' },
} as const;
type PartitionGroup = keyof typeof partitionGroups;

/** The remedy for the partition whose only busy item is one organization, which DynamoDB cannot split. */
const organizationRemedy = 'several organizations or API keys';

/** Returns the busiest partitions of everything, of the largest API key, and of its largest document or user. */
function partitionComponents(workload: Workload): Component[] {
  const largestTenant = workload.tenantShares[0] ?? 0;
  const largestDocument = largestTenant * (zipfShares(assumptions.documentsPerTenant)[0] ?? 0);
  const groups: Readonly<Record<Scope, { readonly group: PartitionGroup; readonly share: number }>> = {
    account: { group: 'account', share: 1 },
    tenant: { group: 'tenant', share: largestTenant },
    endpoint: { group: 'tenant', share: largestTenant },
    document: { group: 'document', share: largestDocument },
    user: { group: 'document', share: largestDocument },
    item: { group: 'document', share: 0 },
  };
  const uses = footprintsPerRequest(workload).map((footprint) => {
    const { group, share } = groups[footprint.scope];
    return { partitions: footprint.partitions, group, use: (partitionUse(footprint) * share) / footprint.shards };
  });
  const busiest = [...Map.groupBy(uses, ({ group }) => group)].flatMap(([group, members]) => {
    const { shown, remedy } = partitionGroups[group];
    return members
      .toSorted((a, b) => b.use - a.use)
      .slice(0, shown)
      .map(({ partitions, use }) =>
        steady(
          partitionName(partitions),
          1,
          (rps) => rps * use,
          partitions === ORGANIZATIONS ? organizationRemedy : remedy,
        ),
      );
  });
  const credentials = (rps: number) => credentialReads(workload.calls, rps, largestTenant) * CREDENTIALS_UNITS_READ;
  return [
    ...busiest,
    steady(
      partitionName('table T#<tenant>'),
      1,
      (rps) => partitionUse({ read: credentials(rps), written: 0 }),
      'keep credentials in memory for longer',
    ),
  ];
}

function partitionName(partitions: string): string {
  return `partition \`${partitions}\``;
}

function workerComponents(workload: Workload): Component[] {
  const { deliverConcurrency, mailConcurrency } = workload.limits;
  const concurrencyOf = (runs: number) => (runs * POSTING_MILLISECONDS) / 1000;
  const raise = (queue: string) =>
    `raise \`maxConcurrency\` of the queue \`${queue}\`, up to ${formatted(quotas.queueConcurrency.limit)}`;
  return [
    steady(
      'runs of the worker of webhooks',
      deliverConcurrency,
      (rps) => concurrencyOf(workOf(workload, rps).deliverRuns),
      raise('deliver'),
    ),
    steady(
      'messages of webhooks in flight',
      quotas.messagesInFlight.limit,
      (rps) => concurrencyOf(workOf(workload, rps).deliveries),
      REQUEST,
    ),
    steady(
      'runs of the worker of mails',
      mailConcurrency,
      (rps) => concurrencyOf(workOf(workload, rps).mailRuns),
      raise('mail'),
    ),
    steady('mails of SES', undefined, (rps) => workOf(workload, rps).mails, 'agree on a rate with AWS'),
  ];
}

function platformComponents(workload: Workload): Component[] {
  const environments = (rps: number) => concurrencyAt(workload, rps);
  const writes = shareOf(workload.calls, isWrite);
  const live = `${REQUEST}; only with the setting \`live\``;
  return [
    steady(
      'reads of Secrets Manager',
      quotas.secretReads.limit,
      (rps) => (environments(rps) * SECRETS) / SECRETS_SECONDS,
      'keep keys in memory for longer',
    ),
    steady(
      'decryptions of KMS',
      quotas.keyOperations.limit,
      (rps) => (environments(rps) * SECRETS) / SECRETS_SECONDS,
      REQUEST,
    ),
    steady(
      'writes of CloudWatch Logs',
      quotas.logWrites.limit,
      (rps) => environments(rps) * assumptions.logWritesPerEnvironment,
      REQUEST,
    ),
    steady('calls of PutMetricData', quotas.metricWrites.limit, () => 0, 'none: metrics are lines of the log'),
    steady('runs of EventBridge', quotas.scheduledRuns.limit, () => 1 / 60, 'none: one run a minute'),
    steady('events to AppSync', quotas.liveEvents.limit, (rps) => rps * writes, live),
    steady(
      'messages of AppSync to browsers',
      quotas.liveMessages.limit,
      (rps) => rps * writes * assumptions.viewersPerDocument,
      live,
    ),
  ];
}

function jumpComponents(workload: Workload): Component[] {
  const { calls } = workload;
  const cold = assumptions.coldStartMilliseconds;
  const busiest = calls.reduce((most, call) => (call.share > most.share ? call : most));
  const footprints = footprintsPerRequest(workload).filter(({ partitions }) => partitions.startsWith('table '));
  const [read, written] = [
    footprints.reduce((sum, footprint) => sum + footprint.read, 0),
    footprints.reduce((sum, footprint) => sum + footprint.written, 0),
  ];
  const increase = 'increase the load over minutes';
  return [
    {
      name: 'new environments of the busiest function',
      limit: quotas.newEnvironments.limit,
      when: 'jump',
      use: (rps) => requestConcurrency([busiest], rps, cold),
      remedy: increase,
    },
    {
      name: 'new log streams',
      limit: quotas.logStreams.limit,
      when: 'jump',
      use: (rps) => requestConcurrency(calls, rps, cold) / JUMP_SECONDS,
      remedy: `${REQUEST}, or accept that some lines of the first seconds are lost`,
    },
    {
      name: 'units of a new table',
      limit: 1,
      when: 'jump',
      use: (rps) => (rps * read) / quotas.newTableRead.limit + (rps * written) / quotas.newTableWritten.limit,
      remedy: `${increase}, or set \`WarmThroughput\` of the table before`,
    },
  ];
}

function steady(name: string, limit: number | undefined, use: Component['use'], remedy: string): Component {
  return { name, limit, when: 'steady', use, remedy };
}

/** The load above which nothing is searched. */
const MAX_REQUESTS_PER_SECOND = 1e9;
const SEARCH_STEPS = 100;

/**
 * Returns the load in requests per second at which the component is full. Infinity if a billion requests do not fill it, or if it
 * has no limit. The use must not fall with the load.
 */
export function fullAt({ limit, use }: Pick<Component, 'limit' | 'use'>): number {
  if (limit === undefined || use(MAX_REQUESTS_PER_SECOND) <= limit) return Infinity;
  let [below, above] = [0, MAX_REQUESTS_PER_SECOND];
  for (let step = 0; step < SEARCH_STEPS; step++) {
    const middle = (below + above) / 2;
    if (use(middle) <= limit) below = middle;
    else above = middle;
  }
  return above;
}

/** Returns dollars per million requests at a load: the calls, their events and deliveries. */
export function dollarsPerMillion(workload: Workload, requestsPerSecond: number): number {
  const calls = workload.calls.reduce((sum, { share, cost }) => sum + share * cost.total, 0);
  const events = eventsPerRequest(workload);
  const delivery = deliveryInBatches(batchSize(workOf(workload, requestsPerSecond).deliveries));
  return (
    calls +
    events * deliveryDollars(deliveryConsumption.event.consumed) +
    events * assumptions.deliveriesPerEvent * deliveryDollars(delivery)
  );
}

/** Returns dollars per month at a constant load, without the costs of a month without calls. */
export function dollarsPerMonth(workload: Workload, requestsPerSecond: number): number {
  return (requestsPerSecond * SECONDS_PER_MONTH * dollarsPerMillion(workload, requestsPerSecond)) / MILLION;
}

/** The API keys above their limits at a load. */
export interface KeysAboveLimits {
  readonly keys: number;
  /** The share of all requests that gets RESOURCE_EXHAUSTED. */
  readonly rejected: number;
}

/** Returns how many API keys send more calls than their limits, and the share of the requests above the limits. */
export function keysAboveLimits({ calls, limits, tenantShares }: Workload, requestsPerSecond: number): KeysAboveLimits {
  const writes = shareOf(calls, isWrite);
  let [keys, rejected] = [0, 0];
  for (let rank = 0; rank < tenantShares.length; rank++) {
    const perSecond = requestsPerSecond * (tenantShares[rank] ?? 0);
    const above =
      Math.max(0, perSecond * (1 - writes) - limits.readsPerSecondPerKey) +
      Math.max(0, perSecond * writes - limits.writesPerSecondPerKey);
    // The shares fall, so no later key is above its limits.
    if (above === 0) break;
    keys++;
    rejected += above;
  }
  return { keys, rejected: requestsPerSecond === 0 ? 0 : rejected / requestsPerSecond };
}

/**
 * Returns the share of requests that read their credentials from the table. Each execution environment keeps the credentials of an
 * API key for ten seconds.
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

/** Returns how often per second the functions read the credentials of an API key with a share of the load. */
function credentialReads(calls: readonly PricedCall[], requestsPerSecond: number, tenantShare: number): number {
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
 * Returns how often per second the execution environments of a function read the credentials of a key. The requests of the key
 * spread evenly over the environments. After a read, an environment needs no other read for ten seconds.
 */
function readsOfKey(requestsPerSecond: number, environments: number): number {
  return requestsPerSecond / (1 + (requestsPerSecond / environments) * CREDENTIALS_SECONDS);
}

function formatted(value: number): string {
  return value.toLocaleString('en-US');
}
