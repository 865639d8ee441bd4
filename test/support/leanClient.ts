import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';

type Json = Record<string, any>;

/** A command of the document client, for whoever passes it on. */
export interface Command {
  readonly constructor: { readonly name: string };
  readonly input: Json;
}

const operations: Readonly<Record<string, string>> = { Get: 'GetItem', Put: 'PutItem', Update: 'UpdateItem', Delete: 'DeleteItem', BatchGet: 'BatchGetItem', TransactWrite: 'TransactWriteItems' };
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
    const { status, body } = await this.#post(operations[short] ?? short, JSON.stringify(mapped(input, (item) => marshall(item, { removeUndefinedValues: true })), base64));
    const answer = JSON.parse(body, fromBase64) as Json;
    if (status === 200) return mapped(answer, (item) => unmarshall(item));
    throw errorOf(status, answer);
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
        text(response).then((answer) => resolve({ status: response.statusCode ?? 0, body: answer }), reject);
      }).on('error', reject).end(body);
    });
  }
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

function base64(_name: string, value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
}

function fromBase64(name: string, value: unknown): unknown {
  return name === 'B' && typeof value === 'string' ? new Uint8Array(Buffer.from(value, 'base64')) : value;
}
