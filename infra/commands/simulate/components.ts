/** A component is a part of the service or of AWS that has a limit, which a load fills. */
import { CURRENT_KEY_MILLISECONDS } from '../../../lib/crypto/keyRing.ts';
import { API_MEMORY_MB } from '../../constructs/memory.ts';
import { CREDENTIALS_UNITS_READ, startMilliseconds } from '../../cost/calls.ts';
import { POSTING_MILLISECONDS } from '../cost/deliveries.ts';
import { ORGANIZATIONS, type Scope } from './footprints.ts';
import { type Quota, quotas } from './quotas.ts';
import {
  assumptions,
  concurrencyAt,
  credentialReads,
  footprintsPerRequest,
  isWrite,
  partitionUse,
  requestConcurrency,
  shareOf,
  type Workload,
  workOf,
  zipfShares,
} from './rules.ts';

const SECRETS = 2;
const JUMP_SECONDS = 10;

export interface Component {
  readonly name: string;
  /** Undefined if each account agrees on its own limit with AWS. */
  readonly limit: number | undefined;
  /** `steady`: the load is constant. `jump`: the whole load begins at once, and `use` is for its first seconds. */
  readonly when: 'steady' | 'jump';
  readonly use: (requestsPerSecond: number) => number;
  readonly remedy: string;
}

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

const REQUEST = 'request a higher quota';

function requestComponents(workload: Workload): Component[] {
  const { calls, limits, tenantShares } = workload;
  const largestTenant = tenantShares[0] ?? 0;
  const writes = shareOf(calls, isWrite);
  const routes = [...Map.groupBy(calls, ({ path }) => path).values()];
  const busiestRoute = Math.max(...routes.map((ofRoute) => shareOf(ofRoute, () => true)));
  const perKey = 'raise the limits of the API key with `npm run workspace -- limits`';
  return [
    steady(
      'requests to the busiest route',
      limits.requestsPerSecond,
      (rps) => rps * busiestRoute,
      'raise the setting `requestsPerSecond`',
    ),
    ofQuota('requests to API Gateway', quotas.gatewayRequests, (rps) => rps),
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
    ofQuota('concurrent executions of Lambda', quotas.concurrency, (rps) => concurrencyAt(workload, rps)),
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
      ...(read > 0 ? [ofQuota(`units read of ${name}`, quotas.tableRead, (rps) => rps * read)] : []),
      ...(written > 0 ? [ofQuota(`units written to ${name}`, quotas.tableWritten, (rps) => rps * written)] : []),
    ];
  });
}

/**
 * Partitions belong to the account, to an API key, or to a document or user of a key. The output shows the `count`
 * busiest partitions of a group.
 */
const partitionGroups = {
  account: { count: 1, remedy: 'more shards in the code' },
  tenant: { count: 2, remedy: 'several API keys, or none: DynamoDB splits a partition between its items' },
  document: { count: 1, remedy: 'none: DynamoDB splits a partition between its items' },
} as const;
type PartitionGroup = keyof typeof partitionGroups;

/** Every call of the mix reads the item of its organization, and DynamoDB cannot split an item. */
const organizationRemedy = 'several organizations or API keys';

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
    const { count, remedy } = partitionGroups[group];
    return members
      .toSorted((a, b) => b.use - a.use)
      .slice(0, count)
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
    `raise \`maxConcurrency\` of the queue \`${queue}\`, up to ${quotas.queueConcurrency.limit.toLocaleString('en-US')}`;
  return [
    steady(
      'runs of the worker of webhooks',
      deliverConcurrency,
      (rps) => concurrencyOf(workOf(workload, rps).deliverRuns),
      raise('deliver'),
    ),
    ofQuota('messages of webhooks in flight', quotas.messagesInFlight, (rps) =>
      concurrencyOf(workOf(workload, rps).deliveries),
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
  const secretReads = (rps: number) => (environments(rps) * SECRETS * 1000) / CURRENT_KEY_MILLISECONDS;
  const writes = shareOf(workload.calls, isWrite);
  const live = 'only with the setting `live`';
  return [
    steady('reads of Secrets Manager', quotas.secretReads.limit, secretReads, 'keep keys in memory for longer'),
    ofQuota('decryptions of KMS', quotas.keyOperations, secretReads),
    ofQuota(
      'writes of CloudWatch Logs',
      quotas.logWrites,
      (rps) => environments(rps) * assumptions.logWritesPerEnvironment,
    ),
    steady('calls of PutMetricData', quotas.metricWrites.limit, () => 0, 'none: metrics are lines of the log'),
    steady('runs of EventBridge', quotas.scheduledRuns.limit, () => 1 / 60, 'none: one run a minute'),
    ofQuota('events to AppSync', quotas.liveEvents, (rps) => rps * writes, live),
    ofQuota(
      'messages of AppSync to browsers',
      quotas.liveMessages,
      (rps) => rps * writes * assumptions.connectedUsersPerDocument,
      live,
    ),
  ];
}

function jumpComponents(workload: Workload): Component[] {
  const { calls } = workload;
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
      use: (rps) => requestConcurrency([busiest], rps, startMilliseconds(API_MEMORY_MB)),
      remedy: increase,
    },
    {
      name: 'new log streams',
      limit: quotas.logStreams.limit,
      when: 'jump',
      use: (rps) => requestConcurrency(calls, rps, startMilliseconds(API_MEMORY_MB)) / JUMP_SECONDS,
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

function ofQuota(
  name: string,
  { limit }: Quota & { readonly adjustable: true },
  use: Component['use'],
  condition?: string,
): Component {
  return steady(name, limit, use, condition === undefined ? REQUEST : `${REQUEST}; ${condition}`);
}

const MAX_REQUESTS_PER_SECOND = 1e9;
const SEARCH_STEPS = 100;

/**
 * Returns requests per second: Infinity if a billion do not fill the component, or if it has no limit. Requires that
 * `use` never falls when the load grows.
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
