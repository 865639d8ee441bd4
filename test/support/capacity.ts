import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** One call of AWS: what it was, and for DynamoDB what it consumed and how much it moved. */
export interface AwsCall {
  readonly operation: string;
  /** Calls of one wave were under way together; one of the next wave was made after an answer of this one. */
  readonly wave: number;
  /** Units as the engine reports them; index writes are included. */
  readonly readUnits: number;
  readonly writeUnits: number;
  /** Units that the same items would cost at least: read consistently, or written outside a transaction. */
  readonly readFloor: number;
  readonly writeFloor: number;
  /** The items' bytes, as DynamoDB counts them. What a deletion or an update touches does not show in its request, and counts as 0. */
  readonly readBytes: number;
  readonly writtenBytes: number;
}

export interface Recorder {
  /** Does the work and gives the calls that it made, in the order of their arrival. */
  record<T>(work: () => Promise<T>): Promise<{ result: T; calls: AwsCall[] }>;
  stop(): Promise<void>;
}

type Item = Record<string, AttributeValue>;
type Json = Record<string, any>;

const READ_UNIT_BYTES = 4_096;
const WRITE_UNIT_BYTES = 1_024;
/** How long no further call must arrive before those that wait are answered: far longer than a process takes to send them. */
const QUIET_MILLISECONDS = 10;

/**
 * Puts a recording proxy between the AWS SDK of this process and the engine that `startEngine` started; call it before
 * the first request. It asks DynamoDB for the capacity that each call consumes. Calls that are made together are answered
 * together, so that which of them wait for another does not depend on timing.
 */
export async function startRecorder(): Promise<Recorder> {
  const { AWS_ENDPOINT_URL_DYNAMODB: dynamoDb = '', AWS_ENDPOINT_URL_SECRETS_MANAGER: secretsManager = '' } = process.env;
  const calls: AwsCall[] = [];
  const waves = new Waves();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = String(request.headers['x-amz-target']);
    const toTable = target.startsWith('DynamoDB');
    const body = JSON.parse(await text(request)) as Json;
    const wave = await waves.next();
    const upstream = await fetch(toTable ? dynamoDb : secretsManager, {
      method: 'POST',
      headers: { 'x-amz-target': target, 'content-type': String(request.headers['content-type']), authorization: String(request.headers.authorization) },
      body: JSON.stringify(toTable ? { ...body, ReturnConsumedCapacity: 'INDEXES' } : body),
    });
    const answered = await upstream.text();
    calls.push({ operation: target.split('.').at(-1) ?? '', wave, ...(toTable ? consumed(body, JSON.parse(answered) as Json) : nothing) });
    response.writeHead(upstream.status, { 'content-type': upstream.headers.get('content-type') ?? '' }).end(answered);
  }

  const proxy = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  Object.assign(process.env, { AWS_ENDPOINT_URL_DYNAMODB: url, AWS_ENDPOINT_URL_SECRETS_MANAGER: url });
  return {
    async record(work) {
      calls.length = 0;
      const result = await work();
      return { result, calls: [...calls] };
    },
    async stop() {
      proxy.close();
      proxy.closeAllConnections();
      await once(proxy, 'close');
    },
  };
}

/** Lets calls pass in waves: those that wait pass together once no more arrive. */
class Waves {
  #number = 0;
  #waiting: ((wave: number) => void)[] = [];
  #timer: NodeJS.Timeout | undefined;

  next(): Promise<number> {
    clearTimeout(this.#timer);
    // The immediate comes after what has arrived on sockets while the process was too busy to look.
    this.#timer = setTimeout(() => setImmediate(() => this.#pass()), QUIET_MILLISECONDS);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #pass(): void {
    this.#number += 1;
    for (const pass of this.#waiting.splice(0)) pass(this.#number);
  }
}

type Consumption = Omit<AwsCall, 'operation' | 'wave'>;
const nothing: Consumption = { readUnits: 0, writeUnits: 0, readFloor: 0, writeFloor: 0, readBytes: 0, writtenBytes: 0 };

/** What a call of DynamoDB consumed, and what it would have consumed at least. */
function consumed(request: Json, answer: Json): Consumption {
  const reported = [answer.ConsumedCapacity ?? []].flat() as { CapacityUnits: number }[];
  const units = reported.reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0);
  if (request.Keys || request.KeyConditionExpression) return nothing;
  return { ...nothing, readUnits: units };
}

/** The size of an item by DynamoDB's rules: names and values in UTF-8, numbers by their digits, containers with their overhead. */
export function itemBytes(item: Item): number {
  return Object.entries(item).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + valueBytes(value), 0);
}

function valueBytes(value: AttributeValue): number {
  if (value.S !== undefined) return Buffer.byteLength(value.S);
  return 1;
}
