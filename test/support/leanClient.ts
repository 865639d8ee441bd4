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
/** The fields that contain an item or a part of an item. */
const ITEMS: ReadonlySet<string> = new Set([
  'Item',
  'Key',
  'ExpressionAttributeValues',
  'ExclusiveStartKey',
  'LastEvaluatedKey',
  'Attributes',
]);
const LISTS: ReadonlySet<string> = new Set(['Items', 'Keys']);
/** The fields that contain a list of values. */
const VALUES: ReadonlySet<string> = new Set(['SearchVector']);

/** Returns the headers of a call. The engine reads the access key but does not check the signature. */
const headers = () =>
  [
    'content-type: application/x-amz-json-1.0',
    'x-amz-date: 20260101T000000Z',
    `authorization: AWS4-HMAC-SHA256 Credential=${process.env.AWS_ACCESS_KEY_ID ?? 'test'}/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=none`,
    '',
  ].join('\r\n');

/**
 * A document client for the engine with only the features that `Table` needs. It has no signatures and no retries. Tests with tens of thousands
 * of calls would spend most of their time in the SDK.
 */
export class LeanClient {
  readonly #connections = new Connections(process.env.AWS_ENDPOINT_URL_DYNAMODB!);
  readonly #headers = headers();

  async send({ constructor: { name }, input }: Command): Promise<Json> {
    const short = name.replace(/Command$/, '');
    const { status, body } = await this.#post(operations[short] ?? short, JSON.stringify(mapItems(input, toWire)));
    if (status === 200) return mapItems(JSON.parse(body) as Json, fromWire);
    // The item of an error stays in the wire format, but with bytes instead of base64.
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

/** Makes all tables that are opened from now on use a lean client. */
export function openTablesLean(): void {
  DynamoDBDocumentClient.from = () => asDocumentClient(new LeanClient());
}

/** Makes all tables that are opened from now on use the SDK, as in a deployment. */
export function openTablesWithSdk(): void {
  DynamoDBDocumentClient.from = fromClient;
}

/** Returns a client with the type that `Table` expects. */
export function asDocumentClient(client: { send(command: Command): Promise<Json> }): DynamoDBDocumentClient {
  return client as unknown as DynamoDBDocumentClient;
}

/** Returns a request or an answer in which `map` is applied to each item. */
function mapItems(value: any, map: (item: Json) => Json): any {
  if (Array.isArray(value)) return value.map((one: Json) => mapItems(one, map));
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
      return [name, mapItems(part, map)];
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
  // The SDK would assign this name like any other. The attribute would then be lost or appear in other items.
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
