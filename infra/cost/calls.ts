import type { Endpoint } from '../../lib/app/endpoint.ts';
import { jsonBytes } from '../../lib/shared/bytes.ts';
import { API_MEMORY_MB } from '../constructs/memory.ts';
import { byteDollars, lambdaDollars, MILLION, prices, startDollars, tableDollars } from './prices.ts';
import { requestCosts } from './requests.ts';
import { vectorConsumption, vectorDollars } from './vectors.ts';

export interface RequestConsumption {
  readonly roundTrips: number;
  readonly read: number;
  readonly written: number;
}

/** Assumed for the same region. AWS promises single-digit milliseconds. */
const ROUND_TRIP_MILLISECONDS = 5;
/** On a whole core, as `npm run bench http` measures it. */
const OWN_CPU_MILLISECONDS = 1.5;
/** The memory at which Lambda gives a function a whole core. With less memory, a function gets a proportional part. */
const CORE_MEGABYTES = 1_769;
/** Functions cache credentials for ten seconds, but the cost assumes no cache. */
export const CREDENTIALS_UNITS_READ = 0.5;
const LOG_BYTES = 900;
/** Lambda logs the lines START, END and REPORT of each run. */
export const LAMBDA_LOG_BYTES = 300;
const HEADER_BYTES = 600;
/** Loading Node and the code, on a whole core (`npm run bench bundles`), and the assumed rest of a start. */
const LOAD_CPU_MILLISECONDS = 72;
const START_MILLISECONDS = 80;
/** Assumed. AWS reports less than 1 % for production workloads. */
const START_SHARE = 0.01;

export interface CallCost extends RequestConsumption {
  readonly name: string;
  readonly milliseconds: number;
  readonly gateway: number;
  readonly lambda: number;
  readonly starts: number;
  readonly table: number;
  readonly vectors: number;
  readonly queue: number;
  readonly logs: number;
  readonly dataOut: number;
  readonly total: number;
}

/** Returns the consumption by the name of the request. A twin has no row: it costs what its endpoint costs. */
export function consumptionOfRequests(endpoints: readonly Endpoint[]): Map<string, RequestConsumption> {
  return new Map([
    ...Object.entries(requestCosts).map(
      ([name, [, roundTrips, read, written]]) => [name, { roundTrips, read, written }] as const,
    ),
    ...endpoints.flatMap(({ path, cost, twinOf }) =>
      cost && twinOf === undefined
        ? [[`${path} one`, { roundTrips: cost.roundTrips, read: cost.readUnits, written: cost.writeUnits }] as const]
        : [],
    ),
  ]);
}

/**
 * Returns dollars for a million calls. `name` finds the traffic of vector indexes. `sends` adds one queue message to
 * each call.
 */
export function costOfCall(
  name: string,
  consumed: RequestConsumption,
  {
    memoryMb = API_MEMORY_MB,
    sends = false,
    answerBytes = 0,
  }: { memoryMb?: number | undefined; sends?: boolean; answerBytes?: number } = {},
): CallCost {
  const milliseconds = onShare(OWN_CPU_MILLISECONDS, memoryMb) + consumed.roundTrips * ROUND_TRIP_MILLISECONDS;
  const parts = {
    gateway: prices.httpRequests,
    lambda: lambdaDollars(MILLION, milliseconds, memoryMb),
    starts: startCost(START_SHARE, memoryMb),
    table: tableDollars({
      read: (consumed.read + CREDENTIALS_UNITS_READ) * MILLION,
      written: consumed.written * MILLION,
    }),
    vectors: vectorDollars(vectorConsumption[name] ?? { written: 0, searched: 0 }),
    queue: sends ? prices.queueRequests : 0,
    logs: byteDollars(MILLION * (LOG_BYTES + LAMBDA_LOG_BYTES), prices.logGigabyte),
    dataOut: byteDollars(MILLION * (HEADER_BYTES + answerBytes), prices.dataOutGigabyte),
  };
  return {
    name,
    ...consumed,
    milliseconds,
    ...parts,
    total: Object.values(parts).reduce((sum, dollars) => sum + dollars, 0),
  };
}

/** A call claims its `Idempotency-Key` before it runs, and then stores its answer. */
export const idempotencyConsumption = { roundTrips: 2, read: 0, written: 2 } as const satisfies RequestConsumption;

export function withIdempotencyKey({ roundTrips, read, written }: RequestConsumption): RequestConsumption {
  return {
    roundTrips: roundTrips + idempotencyConsumption.roundTrips,
    read: read + idempotencyConsumption.read,
    written: written + idempotencyConsumption.written,
  };
}

export function startCost(share: number, memoryMb = API_MEMORY_MB): number {
  return startDollars(MILLION * share, startMilliseconds(memoryMb), memoryMb);
}

export function startMilliseconds(memoryMb: number): number {
  return START_MILLISECONDS + onShare(LOAD_CPU_MILLISECONDS, memoryMb);
}

function onShare(cpuMilliseconds: number, memoryMb: number): number {
  return cpuMilliseconds * Math.max(1, CORE_MEGABYTES / memoryMb);
}

export function costsOfCalls(
  endpoints: readonly Endpoint[],
  consumption = consumptionOfRequests(endpoints),
): CallCost[] {
  return endpoints.flatMap((endpoint) =>
    [...consumption]
      .filter(([name]) => name.startsWith(`${endpoint.path} `))
      .map(([name, consumed]) => {
        const sends = Object.values(endpoint.uses).some(({ grants }) =>
          grants.some(({ resource }) => resource.startsWith('queue/')),
        );
        const answerBytes = jsonBytes({ result: endpoint.example.result });
        return costOfCall(name, consumed, { memoryMb: endpoint.memoryMb, sends, answerBytes });
      }),
  );
}

const ERROR_BYTES = 120;

/**
 * The dearest call that is refused for its API key: an unknown key of the right form is read twice, eventually and
 * consistently. `costOfCall` adds the eventual read.
 */
export const refusedCall = costOfCall(
  'a call with an unknown API key',
  { roundTrips: 2, read: 1, written: 0 },
  { answerBytes: ERROR_BYTES },
);
