/** The cost of a million calls. The table calls and capacity units are values that tests assert. */
import type { Endpoint } from '../../lib/app/endpoint.ts';
import { jsonBytes } from '../../lib/shared/bytes.ts';
import { API_MEMORY_MB } from '../constructs/memory.ts';
import { byteDollars, lambdaDollars, MILLION, prices, startDollars, tableDollars } from './prices.ts';
import { requestCosts } from './requests.ts';
import { vectorConsumption, vectorDollars } from './vectors.ts';

/** What one request uses: table calls that wait for each other (`roundTrips`), and capacity units. */
export interface RequestConsumption {
  readonly roundTrips: number;
  readonly read: number;
  readonly written: number;
}

/** The assumed duration of one call to DynamoDB in the same region. AWS promises single-digit milliseconds. */
const ROUND_TRIP_MILLISECONDS = 5;
/** The CPU time of the function's code per call on a whole core, as `npm run bench http` measures it. */
const OWN_CPU_MILLISECONDS = 1.5;
/** The memory at which Lambda gives a function a whole core. Functions with less memory get an equal part of it. */
const CORE_MEGABYTES = 1_769;
/**
 * The read units for the credentials of a call. Functions cache credentials for ten seconds. The cost assumes no cache.
 */
export const CREDENTIALS_UNITS_READ = 0.5;
/** The bytes of log per call: one line of the function and one line of the gateway. */
const LOG_BYTES = 900;
/** The bytes of the three lines that Lambda itself logs about each run: START, END and REPORT. */
export const LAMBDA_LOG_BYTES = 300;
/** The assumed bytes of an answer's headers. */
const HEADER_BYTES = 600;
/** The CPU time of loading Node and the code on a whole core (`npm run bench bundles`), and the assumed time for the rest of a start. */
const LOAD_CPU_MILLISECONDS = 72;
const START_MILLISECONDS = 80;
/** The assumed share of calls that start an instance. AWS reports less than 1 % for production workloads. */
const START_SHARE = 0.01;

export interface CallCost extends RequestConsumption {
  /** The path of the endpoint and the name of the request, such as `/v2/organizations/get by id`. */
  readonly name: string;
  readonly milliseconds: number;
  readonly gateway: number;
  /** The cost of the function's runs, without starts of instances, in dollars per million calls. */
  readonly lambda: number;
  /** The cost of starting instances, if one call in a hundred starts an instance. */
  readonly starts: number;
  readonly table: number;
  readonly vectors: number;
  readonly queue: number;
  readonly logs: number;
  /** The cost of sending the answers to the internet. */
  readonly dataOut: number;
  /** The sum of all parts in dollars per million calls. */
  readonly total: number;
}

/**
 * Returns the consumption of each request by name, from the list of requests and from the declarations of newer endpoints. A
 * twin has no row: it costs what its endpoint costs.
 */
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
 * Returns the cost of a million calls in dollars. The traffic of vector indexes is found by `name`. `memoryMb` is the memory of the function. `sends` is true if the
 * function sends a queue message. `answerBytes` is the size of an answer's body.
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

/**
 * The consumption that an `Idempotency-Key` adds to a write: it claims the key before the call, and stores the answer.
 */
export const idempotencyConsumption = { roundTrips: 2, read: 0, written: 2 } as const satisfies RequestConsumption;

/** Returns the consumption of a request that also has an `Idempotency-Key`. */
export function withIdempotencyKey({ roundTrips, read, written }: RequestConsumption): RequestConsumption {
  return {
    roundTrips: roundTrips + idempotencyConsumption.roundTrips,
    read: read + idempotencyConsumption.read,
    written: written + idempotencyConsumption.written,
  };
}

/**
 * Returns the cost of starting instances for a million calls in dollars. `share` is the share of calls that start an
 * instance. The share is 1 if an endpoint gets one call in ten minutes or fewer.
 */
export function startCost(share: number, memoryMb = API_MEMORY_MB): number {
  return startDollars(MILLION * share, startMilliseconds(memoryMb), memoryMb);
}

/** Returns the assumed duration of starting an instance in ms. */
export function startMilliseconds(memoryMb: number): number {
  return START_MILLISECONDS + onShare(LOAD_CPU_MILLISECONDS, memoryMb);
}

/** Returns how many ms a function takes for CPU time that it needs on a whole core. */
function onShare(cpuMilliseconds: number, memoryMb: number): number {
  return cpuMilliseconds * Math.max(1, CORE_MEGABYTES / memoryMb);
}

/**
 * Returns the cost of each request with a known consumption. Assumes that answers have the size of the documented
 * examples.
 */
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
 * The dearest refused call without valid credentials: an unknown API key of the right form, which a process reads eventually and
 * then consistently. A malformed key costs no read.
 */
export const refusedCall = costOfCall(
  'a call with an unknown API key',
  { roundTrips: 2, read: 1, written: 0 },
  { answerBytes: ERROR_BYTES },
);
