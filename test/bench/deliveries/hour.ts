/**
 * Simulates an hour with 10,000 events per second. Tenants have shares by a Zipf distribution. Prints which component
 * reaches its limit first. A table in memory measures what one event consumes. Takes about 8 s.
 */
import { POSTING_MILLISECONDS } from '../../../infra/commands/cost/deliveries.ts';
import type { Footprint, Scope } from '../../../infra/commands/simulate/footprints.ts';
import { quotas } from '../../../infra/commands/simulate/quotas.ts';
import { zipfShares } from '../../../infra/commands/simulate/rules.ts';
import { queues } from '../../../lib/workers/queues.ts';
import { times } from '../../support/times.ts';
import { printTable, type Row } from '../report.ts';
import { measureFootprint } from './footprint.ts';

const EVENTS_PER_SECOND = 10_000;
const SECONDS = 3_600;
const TENANTS = 1_000;
/**
 * The limits of one partition in units per second. DynamoDB can split a partition, and can lend it the unused capacity
 * of other partitions. The model assumes that it does neither.
 */
const LIMIT = { read: quotas.partitionRead.limit, written: quotas.partitionWritten.limit };
/**
 * The limits of a table, and of each of its indexes, in units per second. They are the default quotas of an account.
 * AWS raises them on request.
 */
const TABLE_LIMIT = { read: quotas.tableRead.limit, written: quotas.tableWritten.limit };
/** The assumed duration of a batch of first attempts, in seconds. */
const BATCH_SECONDS = POSTING_MILLISECONDS / 1000;

/**
 * What an event consumed in the first data model. It had 16 shards, and listed the deliveries of an endpoint in one
 * partition.
 */
const before: readonly Footprint[] = [
  { partitions: 'table T#<tenant>#EVENT#<event>', scope: 'item', shards: 1, read: 5, written: 13 },
  { partitions: 'gsi3 T#PENDING#<n>', scope: 'account', shards: 16, read: 0, written: 2 },
  { partitions: 'gsi4 T#<tenant>#EVENTS#<n>', scope: 'tenant', shards: 16, read: 0, written: 1 },
  { partitions: 'table T#<tenant>', scope: 'tenant', shards: 1, read: 0.1, written: 0 },
  { partitions: 'table T#<tenant>#CONFIG', scope: 'tenant', shards: 1, read: 1.4, written: 0 },
  { partitions: 'table T#<tenant>#WEBHOOK_ENDPOINTS', scope: 'tenant', shards: 1, read: 2.1, written: 0 },
  { partitions: 'gsi3 T#DUE#<n>', scope: 'account', shards: 16, read: 0, written: 2 },
  { partitions: 'gsi4 T#<tenant>#ENDPOINT#<endpoint>', scope: 'endpoint', shards: 1, read: 0, written: 1 },
  { partitions: 'table T#<tenant>#ENDPOINT_RUNTIME#<endpoint>', scope: 'endpoint', shards: 1, read: 1, written: 0 },
];

type Unit = keyof typeof LIMIT;

/** The load of one kind of component. A load of 1 means that the component is at its limit. */
interface Load {
  readonly component: string;
  readonly scope: Scope;
  readonly unit: string;
  /** The number of events per second at which a component of this kind reaches its limit. */
  readonly ceiling: number;
  /** The load of the busiest component, on average (`mean`) and in its worst second. */
  readonly mean: number;
  readonly worst: number;
  /** The share of the hour in which the busiest component exceeds its limit. */
  readonly over: number;
}

const after = await measureFootprint();
const hottest = EVENTS_PER_SECOND * zipfShares(TENANTS)[0]!;
const loads = { before: loadsOf(before), after: loadsOf(after) };

for (const [when, all] of Object.entries(loads)) {
  printTable(
    `${when}: an hour of ${EVENTS_PER_SECOND} events a second of ${TENANTS} tenants with one endpoint each, Zipf: the hottest has ${Math.round(hottest)} a second. The busiest partition of each kind,
in % of ${LIMIT.written} units written or ${LIMIT.read} read, without adaptive capacity; tables and queues with the default quotas`,
    ['component', 'shared by', 'unit', 'mean %', 'worst second %', 'over the limit, % of the hour', 'full at events/s'],
    all.map(({ component, scope, unit, mean, worst, over, ceiling }) => [
      component,
      scope,
      unit,
      percent(mean),
      percent(worst),
      percent(over),
      Math.round(ceiling),
    ]),
  );
}
printTable(
  'The ceiling in events a second with one delivery each, and the component that is full first',
  ['of', 'before', 'reason', 'after', 'reason'],
  (['endpoint', 'tenant', 'account'] as const).map((scope): Row => {
    const [was, is] = [lowest(loads.before, scope), lowest(loads.after, scope)];
    return [scope, Math.round(was.ceiling), reason(was), Math.round(is.ceiling), reason(is)];
  }),
);
process.exit();

function loadsOf(footprints: readonly Footprint[]): Load[] {
  const partitions = footprints
    .filter(({ scope }) => scope !== 'item')
    .flatMap((footprint) =>
      (['written', 'read'] as const).flatMap((unit) => (footprint[unit] > 0 ? [partitionLoad(footprint, unit)] : [])),
    );
  const indexes = Map.groupBy(footprints, ({ partitions: name }) => name.split(' ')[0]!);
  const tables = [...indexes].flatMap(([index, members]) =>
    (['written', 'read'] as const).flatMap((unit): Load[] => {
      const units = members.reduce((sum, member) => sum + member[unit], 0);
      if (units === 0) return [];
      return [accountLoad(`${index}, quota`, unit, TABLE_LIMIT[unit] / units)];
    }),
  );
  const { batchSize, maxConcurrency } = queues.deliver;
  const workers = accountLoad('worker of deliver', 'attempts', (batchSize * maxConcurrency) / BATCH_SECONDS);
  return [...partitions, ...tables, workers].sort((a, b) => b.mean - a.mean);
}

/**
 * Returns the load of the busiest partition of a kind. If its scope is `account`, all events share the partitions.
 * Otherwise only the events of the tenant with the most events count.
 */
function partitionLoad({ partitions, scope, shards, ...units }: Footprint, unit: Unit): Load {
  const rate = (scope === 'account' ? EVENTS_PER_SECOND : hottest) / shards;
  const used = (events: number) => (events * units[unit]) / LIMIT[unit];
  const seconds = times(SECONDS, () => {
    let busiest = 0;
    for (let shard = 0; shard < shards; shard++) busiest = Math.max(busiest, poisson(rate));
    return used(busiest);
  });
  return {
    component: partitions,
    scope,
    unit,
    ceiling: (LIMIT[unit] * shards) / units[unit],
    mean: used(rate),
    worst: Math.max(...seconds),
    over: seconds.filter((part) => part > 1).length / SECONDS,
  };
}

/**
 * Returns the load of a component that all events share. Its load hardly varies, so the worst second equals the mean.
 */
function accountLoad(component: string, unit: string, ceiling: number): Load {
  const mean = EVENTS_PER_SECOND / ceiling;
  return { component, scope: 'account', unit, ceiling, mean, worst: mean, over: mean > 1 ? 1 : 0 };
}

/**
 * Returns a random number of a Poisson distribution. Approximates it by a normal distribution, which is accurate
 * enough for means above ten.
 */
function poisson(mean: number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
  return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal));
}

/** Returns the load of the component with the lowest ceiling in a scope. */
function lowest(all: readonly Load[], scope: 'endpoint' | 'tenant' | 'account'): Load {
  return all
    .filter((load) => load.scope === scope)
    .reduce((least, load) => (load.ceiling < least.ceiling ? load : least));
}

function reason({ component, unit }: Load): string {
  return `${component}, ${unit}`;
}

function percent(part: number): string {
  return (part * 100).toFixed(1);
}
