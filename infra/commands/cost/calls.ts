/** What a million calls and a million deliveries cost, from the numbers that the tests pin: there is no second list of them. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Endpoint } from '../../../lib/app/endpoint.ts';
import { projectDir } from '../../build/build.ts';
import { lambdaDollars, MILLION, prices, tableDollars } from './prices.ts';

/** What a request asks of AWS. */
export interface Consumed {
  readonly roundTrips: number;
  readonly read: number;
  readonly written: number;
}

/** A warm request waits so long for one round trip to DynamoDB inside a region (assumed, AWS speaks of single-digit milliseconds). */
const ROUND_TRIP_MILLISECONDS = 5;
/** What the function itself takes beside: `npm run bench http` measures 1.5 ms on one machine; a function of 512 MB has a third of a core. */
const OWN_MILLISECONDS = 5;
/** Reading the credentials, which a process remembers for ten seconds: counted as if it never did. */
const CREDENTIALS_UNITS_READ = 0.5;
/** The line about a request in the function's log, and the gateway's. */
const LOG_BYTES = 900;

export interface CallCost extends Consumed {
  /** `/v2/organizations/get by id` */
  readonly name: string;
  readonly milliseconds: number;
  readonly gateway: number;
  readonly lambda: number;
  readonly table: number;
  readonly queue: number;
  readonly logs: number;
  /** All of it, dollars per million calls. */
  readonly total: number;
}

/** What each request consumes, by its name, as test/integration/table/capacity.test.ts pins it. */
export function pinnedCapacity(
  source = readFileSync(join(projectDir, 'test/integration/table/capacity.test.ts'), 'utf8'),
  ownTests: readonly string[] = testsOfEndpoints(),
): Map<string, Consumed> {
  const pinned = [...source.matchAll(/^ {2}'(\/v[^']+)': \[(\d+), (\d+), ([\d.]+), ([\d.]+)\],$/gm)].map(
    ([, name = '', , roundTrips, read, written]) =>
      [name, { roundTrips: Number(roundTrips), read: Number(read), written: Number(written) }] as const,
  );
  const lines = source.match(/^ {2}'\/v.*: \[/gm)?.length ?? 0;
  if (pinned.length !== lines || lines === 0)
    throw new Error(
      `test/integration/table/capacity.test.ts pins ${lines} requests, of which ${pinned.length} can be read.`,
    );
  return new Map([...pinned, ...ownTests.map(capacityOfTests)]);
}

/** The tests of the endpoints that have a file of their own; `npm run new:endpoint` writes it. */
function testsOfEndpoints(): string[] {
  return globSync('test/endpoints/**/*.test.ts', { cwd: projectDir }).map((file) =>
    readFileSync(join(projectDir, file), 'utf8'),
  );
}

function capacityOfTests(source: string): [name: string, consumed: Consumed] {
  const [, path] = /describeEndpoint\('([^']+)'/.exec(source) ?? [];
  const [, roundTrips, read, written] =
    /roundTrips: (\d+), readUnits: ([\d.]+), writeUnits: ([\d.]+) \}/.exec(source) ?? [];
  if (!path || !written) throw new Error('The tests of an endpoint have no path or no cost.');
  return [`${path} one`, { roundTrips: Number(roundTrips), read: Number(read), written: Number(written) }];
}

/** What a million calls cost. `memoryMb` is that of the endpoint's function, `sends` whether it sends a message. */
export function costOfCall(
  name: string,
  consumed: Consumed,
  { memoryMb = 512, sends = false }: { memoryMb?: number | undefined; sends?: boolean } = {},
): CallCost {
  const milliseconds = OWN_MILLISECONDS + consumed.roundTrips * ROUND_TRIP_MILLISECONDS;
  const parts = {
    gateway: prices.httpRequests,
    lambda: lambdaDollars(MILLION, milliseconds, memoryMb),
    table: tableDollars({
      read: (consumed.read + CREDENTIALS_UNITS_READ) * MILLION,
      written: consumed.written * MILLION,
    }),
    queue: sends ? prices.queueRequests : 0,
    logs: ((MILLION * LOG_BYTES) / 2 ** 30) * prices.logGigabyte,
  };
  return {
    name,
    ...consumed,
    milliseconds,
    ...parts,
    total: Object.values(parts).reduce((sum, dollars) => sum + dollars, 0),
  };
}

/** The cost of each request that is pinned, endpoint by endpoint. */
export function costsOfCalls(endpoints: readonly Endpoint[], pinned = pinnedCapacity()): CallCost[] {
  return endpoints.flatMap((endpoint) =>
    [...pinned]
      .filter(([name]) => name.startsWith(`${endpoint.path} `))
      .map(([name, consumed]) => {
        const sends = Object.values(endpoint.uses).some(({ grants }) =>
          grants.some(({ resource }) => resource.startsWith('queue/')),
        );
        return costOfCall(name, consumed, { memoryMb: endpoint.memoryMb, sends });
      }),
  );
}

/** What `npm run bench deliveries` measures for an event of two kilobytes and for one delivery of it; the units written by a small one are pinned by test/integration/webhooks/deliveryCost.test.ts. */
const EVENT_UNITS_READ = 7;
const DELIVERY_UNITS_READ = 7;
const DELIVERY_MILLISECONDS = 300;
/** Messages in one run of a worker, and in one request of SQS. */
const BATCH = 10;
/** A message is sent, received and deleted. */
const REQUESTS_PER_MESSAGE = 3;

/** The units that an event and each delivery of it write, as test/integration/webhooks/deliveryCost.test.ts pins them. */
export function pinnedDelivery(
  source = readFileSync(join(projectDir, 'test/integration/webhooks/deliveryCost.test.ts'), 'utf8'),
): { event: number; delivery: number } {
  const [, event, delivery] =
    /toBe\((\d+) \+ (\d+)\);/.exec(source.slice(source.indexOf('written(emitted.calls) + '))) ?? [];
  if (event === undefined || delivery === undefined)
    throw new Error('test/integration/webhooks/deliveryCost.test.ts does not pin what an event and a delivery write.');
  return { event: Number(event), delivery: Number(delivery) };
}

/** Dollars per million events, and per million deliveries that succeed at once, ten at a time. */
export function costsOfDeliveries({ event, delivery } = pinnedDelivery()): { event: number; delivery: number } {
  const queue = (REQUESTS_PER_MESSAGE / BATCH) * prices.queueRequests;
  return {
    event: tableDollars({ read: EVENT_UNITS_READ * MILLION, written: event * MILLION }),
    delivery:
      tableDollars({ read: DELIVERY_UNITS_READ * MILLION, written: delivery * MILLION }) +
      queue +
      lambdaDollars(MILLION / BATCH, DELIVERY_MILLISECONDS),
  };
}
