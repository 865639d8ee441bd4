import { Agent, request } from 'node:http';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

type Json = Record<string, any>;

/** A command of the document client, for whoever passes it on. */
export interface Command {
  readonly constructor: { readonly name: string };
  readonly input: Json;
}

const operations: Readonly<Record<string, string>> = { Get: 'GetItem', Put: 'PutItem', Update: 'UpdateItem', Delete: 'DeleteItem', BatchGet: 'BatchGetItem', BatchWrite: 'BatchWriteItem', TransactWrite: 'TransactWriteItems' };
/** What holds an item, or a part of one. */
const ITEMS: ReadonlySet<string> = new Set(['Item', 'Key', 'ExpressionAttributeValues', 'ExclusiveStartKey', 'LastEvaluatedKey', 'Attributes']);
const LISTS: ReadonlySet<string> = new Set(['Items', 'Keys']);

/**
 * A document client for the engine that does what `Table` needs and no more: no signatures, no repetitions. Tests that make tens of
 * thousands of calls spend most of their time in the SDK otherwise.
 */
export class LeanClient {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 32 });
  readonly #url = process.env.AWS_ENDPOINT_URL_DYNAMODB!;

  async send({ constructor: { name }, input }: Command): Promise<Json> {
    const short = name.replace(/Command$/, '');
    const { status, body } = await this.#post(operations[short] ?? short, JSON.stringify(mapped(input, toWire)));
    if (status === 200) return mapped(JSON.parse(body) as Json, fromWire);
    // The item of an error is left as the wire has it, with bytes in the place of base64.
    throw errorOf(status, JSON.parse(body, fromBase64) as Json);
  }

  destroy(): void {
    this.#agent.destroy();
  }

  #post(operation: string, body: string): Promise<{ status: number; body: string }> {
    const headers = {
      'content-type': 'application/x-amz-json-1.0',
      'content-length': Buffer.byteLength(body),
      'x-amz-target': `DynamoDB_20120810.${operation}`,
      'x-amz-date': '20260101T000000Z',
      authorization: 'AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=none',
    };
    return new Promise((resolve, reject) => {
      request(this.#url, { method: 'POST', agent: this.#agent, headers }, (response) => {
        let answer = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk)).on('error', reject);
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: answer }));
      }).on('error', reject).end(body);
    });
  }
}

/** Gives a lean client to every function that opens the table from now on: for files whose data are many and whose subject is not the SDK. */
export function openTablesLean(): void {
  DynamoDBDocumentClient.from = () => asDocumentClient(new LeanClient());
}

/** The same as the client that `Table` takes. */
export function asDocumentClient(client: { send(command: Command): Promise<Json> }): DynamoDBDocumentClient {
  return client as unknown as DynamoDBDocumentClient;
}

/** A request or an answer with another form of the items in it. */
function mapped(value: Json, map: (item: Json) => Json): Json {
  if (Array.isArray(value)) return value.map((one: Json) => mapped(one, map));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => {
    if (ITEMS.has(name) && part) return [name, map(part)];
    if (LISTS.has(name)) return [name, part.map(map)];
    if (name === 'Responses') return [name, Object.fromEntries(Object.entries<Json[]>(part).map(([table, items]) => [table, items.map(map)]))];
    return [name, mapped(part, map)];
  }));
}

function errorOf(status: number, { __type = '', message, Message, ...more }: Json): Error {
  const name = String(__type).split('#').at(-1)!;
  const $metadata = { httpStatusCode: status, attempts: 1 };
  const what = message ?? Message ?? name;
  if (name === 'ConditionalCheckFailedException') return new ConditionalCheckFailedException({ message: what, $metadata, ...(more.Item && { Item: more.Item }) });
  return Object.assign(new Error(what), { ...more, name, $metadata });
}

function toWire(fields: Json): Json {
  const wire: [string, Json][] = [];
  for (const name of Object.keys(fields)) if (fields[name] !== undefined) wire.push([name, toAttribute(fields[name])]);
  return Object.fromEntries(wire);
}

function toAttribute(value: unknown): Json {
  switch (typeof value) {
    case 'string':
      return { S: value };
    case 'number':
      return { N: String(value) };
    case 'boolean':
      return { BOOL: value };
    case 'object':
      if (value === null) return { NULL: true };
      if (Array.isArray(value)) return { L: value.filter((one) => one !== undefined).map(toAttribute) };
      if (value instanceof Uint8Array) return { B: Buffer.from(value).toString('base64') };
      if (!(value instanceof Set)) return { M: toWire(value) };
  }
  throw new Error(`The lean client does not know how to write ${String(value)}`);
}

function fromWire(wire: Json): Json {
  const fields: [string, unknown][] = [];
  for (const name of Object.keys(wire)) fields.push([name, fromAttribute(wire[name])]);
  return Object.fromEntries(fields);
}

function fromAttribute(attribute: Json): unknown {
  const { S, N, BOOL, NULL, B, L, M } = attribute;
  if (S !== undefined) return S;
  if (N !== undefined) return Number(N);
  if (M !== undefined) return fromWire(M);
  if (L !== undefined) return L.map(fromAttribute);
  if (B !== undefined) return new Uint8Array(Buffer.from(B, 'base64'));
  if (BOOL !== undefined) return BOOL;
  if (NULL) return null;
  throw new Error(`The lean client does not know how to read ${Object.keys(attribute).join()}`);
}

function fromBase64(name: string, value: unknown): unknown {
  return name === 'B' && typeof value === 'string' ? new Uint8Array(Buffer.from(value, 'base64')) : value;
}
