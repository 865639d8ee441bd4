import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Reply } from '../../infra/local/table/connections.ts';
import { EngineForwarder } from './engineForwarder.ts';
import { openTablesWithSdk } from './leanClient.ts';
import { startHttp } from './receivers.ts';

/** The capacity that DynamoDB calls consumed, and the least that their items can cost. */
interface Consumption {
  readonly readUnits: number;
  /** All write units, including those for index entries and transactions. */
  readonly writeUnits: number;
  /**
   * The part of `writeUnits` that the same writes would not cost without a transaction: half of the units in the
   * table.
   */
  readonly transactionUnits: number;
  /** The read units if each item were read alone, with a consistent read. */
  readonly readFloor: number;
  /** The write units if each item were written alone. */
  readonly writeFloor: number;
  /** The sizes of the items. Deleted and updated items count as 0, because requests do not contain them. */
  readonly readBytes: number;
  readonly writtenBytes: number;
  /**
   * Bytes that DynamoDB counts for writes to vector indexes (`vectorBytesWritten`) and for searches in them. They are
   * billed in addition to units.
   */
  readonly vectorBytesWritten: number;
  readonly vectorBytesSearched: number;
}

export interface AwsCall extends Consumption {
  readonly operation: string;
  /**
   * The number of the wave to which the call belongs. All calls of a wave ran at the same time, after the answers to
   * the previous wave.
   */
  readonly wave: number;
}

/** The cost of a warm request. Reads of the credentials do not count. */
export interface Cost extends Consumption {
  readonly calls: number;
  /** The number of round trips that cannot run in parallel. */
  readonly roundTrips: number;
}

export interface Recorder {
  /** Runs `work` and returns its result and its calls. Only one `work` may run at a time. */
  record<T>(work: () => Promise<T>): Promise<{ result: T; calls: AwsCall[] }>;
  stop(): Promise<void>;
}

type Item = Record<string, AttributeValue>;
type Json = Record<string, any>;

const READ_UNIT_BYTES = 4_096;
const WRITE_UNIT_BYTES = 1_024;
/** A wave is complete after this time without a new call. Calls of one wave come much faster. */
const QUIET_MILLISECONDS = 10;
/**
 * A wave also needs this many turns of the event loop without a new call, because the time alone can be too short on a
 * slow machine.
 */
const QUIET_TURNS = 20;

/**
 * Starts a proxy between the SDK of this process and the table and secrets of `startEngine`. Call it before the first
 * request. The proxy records all calls and asks for the consumed capacity of table calls. It does not record mails.
 * It forwards calls in waves, so the recorded order of calls does not depend on timing.
 */
export async function startRecorder(): Promise<Recorder> {
  openTablesWithSdk();
  const { AWS_ENDPOINT_URL_DYNAMODB: dynamoDb = '', AWS_ENDPOINT_URL_SECRETS_MANAGER: secretsManager = '' } =
    process.env;
  const engine = new EngineForwarder(dynamoDb);
  const waves = new Waves();
  let calls: AwsCall[] = [];
  let isRecording = false;

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = String(request.headers['x-amz-target']);
    const operation = target.split('.').at(-1) ?? '';
    const toTable = target.startsWith('DynamoDB');
    const body = JSON.parse(await text(request)) as Json;
    const wave = isRecording ? await waves.next() : 0;
    const answer = toTable
      ? await engine.forward(request.headers, JSON.stringify({ ...body, ReturnConsumedCapacity: 'INDEXES' }))
      : await readSecret(target, body);
    calls.push({
      operation,
      wave,
      ...(toTable ? consumption(operation, body, JSON.parse(answer.body) as Json) : nothing),
    });
    response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' }).end(answer.body);
  }

  async function readSecret(target: string, body: Json): Promise<Reply> {
    const headers = { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': target };
    const answer = await fetch(secretsManager, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: answer.status, body: await answer.text() };
  }

  const proxy = await startHttp((request, response) => {
    forward(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  const { url } = proxy;
  Object.assign(process.env, { AWS_ENDPOINT_URL_DYNAMODB: url, AWS_ENDPOINT_URL_SECRETS_MANAGER: url });
  return {
    async record(work) {
      calls = [];
      isRecording = true;
      try {
        const result = await work();
        return { result, calls: inOrder(calls) };
      } finally {
        isRecording = false;
      }
    },
    async stop() {
      engine.stop();
      await proxy.stop();
    },
  };
}

/** Sorts calls by wave. In a wave their order is random, so sorts them by operation and units there. */
function inOrder(calls: readonly AwsCall[]): AwsCall[] {
  return calls.toSorted(
    (a, b) =>
      a.wave - b.wave ||
      a.operation.localeCompare(b.operation) ||
      a.readUnits - b.readUnits ||
      a.writeUnits - b.writeUnits,
  );
}

/** Collects the calls that arrive into a wave. When no more arrive, lets all calls of the wave go on. */
class Waves {
  #number = 0;
  #waiting: ((wave: number) => void)[] = [];
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;

  next(): Promise<number> {
    clearTimeout(this.#timer);
    clearImmediate(this.#immediate);
    this.#timer = setTimeout(() => this.#waitForQuiet(QUIET_TURNS), QUIET_MILLISECONDS);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #waitForQuiet(turns: number): void {
    this.#immediate = setImmediate(() => (turns > 1 ? this.#waitForQuiet(turns - 1) : this.#releaseWave()));
  }

  #releaseWave(): void {
    this.#number += 1;
    for (const release of this.#waiting.splice(0)) release(this.#number);
  }
}

const nothing: Consumption = {
  readUnits: 0,
  writeUnits: 0,
  transactionUnits: 0,
  readFloor: 0,
  writeFloor: 0,
  readBytes: 0,
  writtenBytes: 0,
  vectorBytesWritten: 0,
  vectorBytesSearched: 0,
};

/** Returns the sum of the consumption of calls. */
function total(calls: readonly Consumption[]): Consumption {
  const names = Object.keys(nothing) as (keyof Consumption)[];
  return Object.fromEntries(
    names.map((name) => [name, calls.reduce((sum, call) => sum + call[name], 0)]),
  ) as unknown as Consumption;
}

export function costOfCalls(calls: readonly AwsCall[]): Cost {
  return { calls: calls.length, roundTrips: new Set(calls.map(({ wave }) => wave)).size, ...total(calls) };
}

function consumption(operation: string, request: Json, answer: Json): Consumption {
  const reported = [answer.ConsumedCapacity ?? []].flat() as {
    CapacityUnits: number;
    Table: { CapacityUnits: number };
  }[];
  const units = reported.reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0);
  switch (operation) {
    case 'GetItem':
      return { ...read([answer.Item]), readUnits: units };
    case 'BatchGetItem': {
      // A key without an item also costs a unit.
      const [table = ''] = Object.keys(request.RequestItems);
      const items: Item[] = answer.Responses?.[table] ?? [];
      return {
        ...read(request.RequestItems[table].Keys.map((_key: Item, index: number) => items[index])),
        readUnits: units,
      };
    }
    case 'Query': {
      const bytes = bytesOf(answer.Items ?? []);
      return { ...nothing, readUnits: units, readBytes: bytes, readFloor: unitsOf(bytes, READ_UNIT_BYTES) };
    }
    case 'SearchVectors':
      // DynamoDB bills this operation by bytes, not by units.
      return { ...nothing, vectorBytesSearched: answer.ConsumedCapacity.VectorSearchRequestBytes };
    case 'PutItem':
      return {
        ...written([request.Item]),
        writeUnits: units,
        vectorBytesWritten: vectorBytesOf(answer.ConsumedCapacity ?? {}),
      };
    case 'UpdateItem':
    case 'DeleteItem':
      return { ...written([undefined]), writeUnits: units };
    case 'BatchWriteItem': {
      const [table = ''] = Object.keys(request.RequestItems);
      return {
        ...written(request.RequestItems[table].map(({ PutRequest }: Json) => PutRequest?.Item)),
        writeUnits: units,
      };
    }
    case 'TransactWriteItems': {
      const inTable = reported.reduce((sum, { Table }) => sum + Table.CapacityUnits, 0);
      return {
        ...written(request.TransactItems.map(({ Put }: Json) => Put?.Item)),
        writeUnits: units,
        transactionUnits: inTable / 2,
      };
    }
    default:
      throw new Error(`The recorder does not support ${operation}`);
  }
}

/** Returns the bytes that a write added to all vector indexes. A refused write adds none. */
function vectorBytesOf({
  VectorIndexes = {},
}: {
  VectorIndexes?: Record<string, { VectorWriteRequestBytes: number }>;
}) {
  return Object.values(VectorIndexes).reduce((sum, { VectorWriteRequestBytes }) => sum + VectorWriteRequestBytes, 0);
}

function read(items: readonly (Item | undefined)[]): Consumption {
  return { ...nothing, readBytes: bytesOf(items), readFloor: floorOf(items, READ_UNIT_BYTES) };
}

function written(items: readonly (Item | undefined)[]): Consumption {
  return { ...nothing, writtenBytes: bytesOf(items), writeFloor: floorOf(items, WRITE_UNIT_BYTES) };
}

/** Returns the units of items that are read or written alone. */
function floorOf(items: readonly (Item | undefined)[], unitBytes: number): number {
  return items.reduce((sum, item) => sum + unitsOf(bytesOf([item]), unitBytes), 0);
}

function unitsOf(bytes: number, unitBytes: number): number {
  return Math.max(1, Math.ceil(bytes / unitBytes));
}

/**
 * Returns the size of items in bytes as DynamoDB counts it: names and texts in UTF-8, two digits of a number per byte,
 * and some bytes for each map and list.
 */
export function bytesOf(items: readonly (Item | undefined)[]): number {
  return items.reduce((sum, item) => sum + fieldBytes(item ?? {}), 0);
}

function fieldBytes(fields: Item): number {
  return Object.entries(fields).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + valueBytes(value), 0);
}

/** Returns the size of a value in DynamoDB's JSON format, in which bytes are base64. */
function valueBytes({ S, N, B, L, M }: AttributeValue): number {
  if (S !== undefined) return Buffer.byteLength(S);
  if (N !== undefined) return Math.ceil(N.replace(/^-?0*\.?0*|[.]|0+$/g, '').length / 2) + (N.startsWith('-') ? 2 : 1);
  if (B !== undefined) return Buffer.from(B as unknown as string, 'base64').length;
  if (L) return 3 + L.reduce((sum, value) => sum + 1 + valueBytes(value), 0);
  if (M) return 3 + Object.keys(M).length + fieldBytes(M);
  return 1;
}
