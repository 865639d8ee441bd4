import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { Connections, type Reply } from '../../infra/local/table/connections.ts';

type Json = Record<string, any>;

/** A command of the document client. */
export interface Command {
  readonly constructor: { readonly name: string };
  readonly input: Json;
}

const operations: Readonly<Record<string, string>> = {
  Get: 'GetItem',
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  BatchGet: 'BatchGetItem',
  BatchWrite: 'BatchWriteItem',
  TransactWrite: 'TransactWriteItems',
};
/** Fields that hold an item or a part of one. */
const ITEMS: ReadonlySet<string> = new Set([
  'Item',
  'Key',
  'ExpressionAttributeValues',
  'ExclusiveStartKey',
  'LastEvaluatedKey',
  'Attributes',
]);
const LISTS: ReadonlySet<string> = new Set(['Items', 'Keys']);
/** Fields that hold a list of values without names. */
const VALUES: ReadonlySet<string> = new Set(['SearchVector']);

/** The engine reads the access key and checks no signature. */
const headers = () =>
  [
    'content-type: application/x-amz-json-1.0',
    'x-amz-date: 20260101T000000Z',
    `authorization: AWS4-HMAC-SHA256 Credential=${process.env.AWS_ACCESS_KEY_ID ?? 'test'}/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=none`,
    '',
  ].join('\r\n');

/**
 * A document client for the engine with only what `Table` needs: no signatures, no retries. With the SDK, tests with tens of thousands of
 * calls would spend most of their time in it.
 */
export class LeanClient {
  readonly #connections = new Connections(process.env.AWS_ENDPOINT_URL_DYNAMODB!);
  readonly #headers = headers();

  async send({ constructor: { name }, input }: Command): Promise<Json> {
    const short = name.replace(/Command$/, '');
    const { status, body } = await this.#post(operations[short] ?? short, JSON.stringify(mapped(input, toWire)));
    if (status === 200) return mapped(JSON.parse(body) as Json, fromWire);
    // The item of an error stays in the wire format, with bytes instead of base64.
    throw errorOf(status, JSON.parse(body, fromBase64) as Json);
  }

  destroy(): void {
    this.#connections.destroy();
  }

  #post(operation: string, body: string): Promise<Reply> {
    return this.#connections.post(`${this.#headers}x-amz-target: DynamoDB_20120810.${operation}\r\n`, body);
  }
}

const fromClient = DynamoDBDocumentClient.from;

/** Makes functions that open the table from now on use a lean client, for tests with much data that do not test the SDK. */
export function openTablesLean(): void {
  DynamoDBDocumentClient.from = () => asDocumentClient(new LeanClient());
}

/** Makes functions that open the table from now on use the SDK, as when deployed. */
export function openTablesWithSdk(): void {
  DynamoDBDocumentClient.from = fromClient;
}

/** Returns a client with the type that `Table` expects. */
export function asDocumentClient(client: { send(command: Command): Promise<Json> }): DynamoDBDocumentClient {
  return client as unknown as DynamoDBDocumentClient;
}

/** Maps the items in a request or an answer to another format. */
function mapped(value: any, map: (item: Json) => Json): any {
  if (Array.isArray(value)) return value.map((one: Json) => mapped(one, map));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries<any>(value).map(([name, part]) => {
      if (ITEMS.has(name) && part) return [name, map(part)];
      if (LISTS.has(name)) return [name, part.map(map)];
      if (VALUES.has(name)) return [name, part.map(toAttribute)];
      if (name === 'Responses')
        return [
          name,
          Object.fromEntries(Object.entries<Json[]>(part).map(([table, items]) => [table, items.map(map)])),
        ];
      return [name, mapped(part, map)];
    }),
  );
}

function errorOf(status: number, { __type = '', message, Message, ...more }: Json): Error {
  const name = String(__type).split('#').at(-1)!;
  const $metadata = { httpStatusCode: status, attempts: 1 };
  const what = message ?? Message ?? name;
  if (name === 'ConditionalCheckFailedException')
    return new ConditionalCheckFailedException({ message: what, $metadata, ...(more.Item && { Item: more.Item }) });
  return Object.assign(new Error(what), { ...more, name, $metadata });
}

function toWire(fields: Json): Json {
  // The SDK assigns this name like any other: the attribute is lost or appears in other items.
  if (Object.hasOwn(fields, '__proto__')) throw new Error('No attribute can be named __proto__');
  const wire: Json = {};
  for (const name of Object.keys(fields)) if (fields[name] !== undefined) wire[name] = toAttribute(fields[name]);
  return wire;
}

/** Throws for values that the SDK refuses to write. */
function toAttribute(value: unknown): Json {
  if (value === null) return { NULL: true };
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'boolean') return { BOOL: value };
  if (typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER) return { N: String(value) };
  if (Array.isArray(value))
    return { L: value.filter((one) => one !== undefined && typeof one !== 'function').map(toAttribute) };
  if (value instanceof Uint8Array) return { B: Buffer.from(value).toString('base64') };
  if (typeof value === 'object') {
    const { constructor } = value as { constructor?: { name?: string } };
    if (!constructor || constructor.name === 'Object') return { M: toWire(value) };
  }
  throw new Error(`The lean client cannot write a value of type ${typeof value}`);
}

function fromWire(wire: Json): Json {
  const fields: Json = {};
  for (const name of Object.keys(wire)) fields[name] = fromAttribute(wire[name]);
  return fields;
}

function fromAttribute(attribute: Json): unknown {
  for (const type in attribute) {
    const value = attribute[type];
    switch (type) {
      case 'S':
      case 'BOOL':
        return value;
      case 'N':
        return Number(value);
      case 'M':
        return fromWire(value);
      case 'L':
        return value.map(fromAttribute);
      case 'B':
        return new Uint8Array(Buffer.from(value, 'base64'));
      case 'NULL':
        return null;
    }
  }
  throw new Error(`The lean client cannot read ${Object.keys(attribute).join()}`);
}

function fromBase64(name: string, value: unknown): unknown {
  return name === 'B' && typeof value === 'string' ? new Uint8Array(Buffer.from(value, 'base64')) : value;
}
