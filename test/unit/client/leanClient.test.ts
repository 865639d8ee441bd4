import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { documentClients, type TableClient } from '../../../lib/table/documentClient.ts';
import { type Command, LeanClient } from '../../support/leanClient.ts';
import { times } from '../../support/times.ts';

type Json = Record<string, any>;

const TableName = 'table';
const Key = { PK: 'T#key#ORG#acme', SK: 'DOC#~1' };

let server: Server;
let lean: LeanClient;
let deployed: TableClient;
/** The client whose requests and results must equal those of the SDK. */
let compared: LeanClient | TableClient;
let sdk: DynamoDBDocumentClient;
/** `request` is the last request that the server received. `answer` is what the server answers next. */
let request: { target: unknown; body: Json };
let answer: { status: number; body: string };

beforeAll(async () => {
  const respond = async (incoming: IncomingMessage, response: ServerResponse) => {
    request = { target: incoming.headers['x-amz-target'], body: JSON.parse(await text(incoming)) };
    const bytes = Buffer.from(answer.body);
    response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0', 'content-length': bytes.length });
    response.end(bytes);
  };
  // Idle connections stay open. Otherwise the server could close a connection that a client is about to use.
  server = createServer({ keepAliveTimeout: 0 }, (incoming, response) => void respond(incoming, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  process.env.AWS_ENDPOINT_URL_DYNAMODB = endpoint;
  lean = new LeanClient();
  const client = new DynamoDBClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
    maxAttempts: 1,
  });
  deployed = documentClients.open(() => client);
  sdk = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
});
afterAll(() => {
  sdk.destroy();
  lean.destroy();
  server.close();
  server.closeAllConnections();
});

/** Sends a command with both clients. Returns each client's request, and its result for the answer. */
async function both(command: object, status: number, body: object) {
  answer = { status, body: JSON.stringify(body) };
  const outcomes = [];
  for (const client of [sdk, compared] as { send(command: unknown): Promise<Json> }[]) {
    const outcome = await client.send(command as Command).then(
      ({ $metadata: _, ...output }) => ({ output }),
      (error: unknown) => ({ error: error as Json }),
    );
    outcomes.push({ request, outcome });
  }
  return outcomes as [(typeof outcomes)[number], (typeof outcomes)[number]];
}

const name = fc.oneof(
  fc.string({ unit: 'grapheme' }).filter((name) => name !== '__proto__' && name !== 'constructor'),
  fc.constantFrom('toString', 'N', 'Item', ''),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    name,
    fc.boolean(),
    fc.constant(null),
    fc.constant(undefined),
    fc.maxSafeInteger(),
    // The SDK sends numbers that DynamoDB rejects because they are too close to 0. Our client sends 0 instead.
    fc.double({ noNaN: true, min: -1e9, max: 1e9 }).map((number) => (Math.abs(number) < 1e-130 ? 0 : number)),
    fc.uint8Array({ maxLength: 20 }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(name, tie('value'), { maxKeys: 4 }),
  ),
}));
const item = fc.dictionary(name, value, { maxKeys: 5 });

/** Returns the item in a request, in the form that an answer has. */
const wireOf = (body: Json) => body.Item as Json;

describe.each(['LeanClient', 'DocumentClient'])('%s', (client) => {
  beforeAll(() => {
    compared = client === 'LeanClient' ? lean : deployed;
  });

  test('sends and reads any item like the SDK', async () => {
    await fc.assert(
      fc.asyncProperty(item, async (stored) => {
        const [bySdk, byLean] = await both(new PutCommand({ TableName, Item: { ...Key, ...stored } }), 200, {});
        expect(byLean).toEqual(bySdk);
        const wire = wireOf(bySdk.request.body);
        const [read, readLean] = await both(new QueryCommand({ TableName }), 200, {
          Items: [wire, wire],
          Count: 2,
          ScannedCount: 2,
          LastEvaluatedKey: wire,
        });
        expect(readLean).toEqual(read);
        expect((read.outcome as Json).output.Items).toHaveLength(2);
      }),
      { numRuns: 50 },
    );
  });

  const put = {
    Put: {
      TableName,
      Item: { ...Key, a: [1, { b: undefined }] },
      ConditionExpression: '#r = :r',
      ExpressionAttributeNames: { '#r': '_r' },
      ExpressionAttributeValues: { ':r': 1 },
    },
  };
  test.each(
    (
      [
        [
          new GetCommand({ TableName, Key, ConsistentRead: true }),
          { Item: { PK: { S: 'a' }, tags: { L: [{ N: '1' }] } } },
        ],
        [new GetCommand({ TableName, Key }), {}],
        [
          new UpdateCommand({
            TableName,
            Key,
            UpdateExpression: 'ADD n :n',
            ExpressionAttributeValues: { ':n': 1 },
            ReturnValues: 'ALL_NEW',
          }),
          { Attributes: { n: { N: '7' } } },
        ],
        [
          new DeleteCommand({
            TableName,
            Key,
            ConditionExpression: '#r = :r',
            ExpressionAttributeNames: { '#r': '_r' },
            ExpressionAttributeValues: { ':r': 1 },
          }),
          {},
        ],
        [
          new QueryCommand({
            TableName,
            IndexName: 'gsi1',
            KeyConditionExpression: 'PK = :p',
            ExpressionAttributeValues: { ':p': 'x' },
            ExclusiveStartKey: Key,
            Limit: 3,
            ScanIndexForward: false,
          }),
          { Items: [], LastEvaluatedKey: { PK: { S: 'a' } } },
        ],
        [new ScanCommand({ TableName }), { Items: [{ PK: { S: 'a' }, bytes: { B: 'AQID' } }] }],
        [
          new BatchGetCommand({ RequestItems: { [TableName]: { Keys: [Key], ConsistentRead: true } } }),
          {
            Responses: { [TableName]: [{ PK: { S: 'a' } }] },
            UnprocessedKeys: { [TableName]: { Keys: [{ PK: { S: 'b' } }] } },
          },
        ],
        [
          new BatchWriteCommand({
            RequestItems: { [TableName]: [{ DeleteRequest: { Key } }, { PutRequest: { Item: { ...Key, a: 1 } } }] },
          }),
          { UnprocessedItems: { [TableName]: [{ DeleteRequest: { Key: { PK: { S: 'b' } } } }] } },
        ],
        [
          new TransactWriteCommand({
            ClientRequestToken: 'token',
            TransactItems: [put, { Delete: { TableName, Key } }],
          }),
          {},
        ],
      ] as [object, object][]
    ).map(([command, body]) => [command.constructor.name, command, body] as const),
  )('sends and reads like the SDK: %s', async (_name, command, body) => {
    const [bySdk, byLean] = await both(command, 200, body);
    expect(byLean).toEqual(bySdk);
  });

  test('throws the same errors as the SDK', async () => {
    const failed = async (command: object, type: string, more: object) => {
      const [bySdk, byLean] = (
        await both(command, 400, { __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: 'No', ...more })
      ).map(({ outcome }) => {
        const { name, message, Item, CancellationReasons, $metadata } = (outcome as { error: Json }).error;
        return { name, message, Item, CancellationReasons, status: $metadata.httpStatusCode };
      });
      expect(byLean).toEqual(bySdk);
      expect(bySdk!.name).toBe(type);
    };
    await failed(new PutCommand(put.Put), 'ConditionalCheckFailedException', { Item: { PK: { S: 'a' } } });
    await failed(new PutCommand(put.Put), 'ValidationException', {});
    await failed(
      new TransactWriteCommand({ ClientRequestToken: 'token', TransactItems: [put] }),
      'TransactionCanceledException',
      {
        CancellationReasons: [
          { Code: 'ConditionalCheckFailed', Item: { PK: { S: 'a' }, at: { B: 'AQID' } } },
          { Code: 'None' },
        ],
      },
    );
  });

  test.each([
    ['NaN', NaN],
    ['Infinity', Infinity],
    ['an inexact integer', 2 ** 53],
    ['a date', new Date(0)],
    [
      'an instance of a class',
      new (class Money {
        readonly amount = 1;
      })(),
    ],
    ['an object that looks like an instance', { constructor: {} }],
  ])('refuses to write %s, like the SDK', async (_what, refused) => {
    const [bySdk, byLean] = await both(new PutCommand({ TableName, Item: { ...Key, refused } }), 200, {});
    expect([bySdk, byLean].map(({ outcome }) => (outcome as Json).error)).toEqual([
      expect.any(Error),
      expect.any(Error),
    ]);
  });

  test.each([
    ['of an item', JSON.parse('{"__proto__":{"a":1}}')],
    ['within an item', { a: JSON.parse('{"__proto__":[]}') }],
  ])('refuses an attribute __proto__ %s, which the SDK corrupts', async (_where, stored) => {
    const [bySdk, byLean] = await both(
      new PutCommand({ TableName, Item: Object.assign(Object.create(null), Key, { stored }) }),
      200,
      {},
    );
    expect(JSON.stringify(bySdk.request.body)).not.toContain('__proto__');
    expect(byLean.outcome).toEqual({ error: new Error('No attribute can be named __proto__') });
  });
});

describe('LeanClient', () => {
  test('returns to each of many concurrent calls its own answer', async () => {
    // Answers of this length arrive in several chunks.
    const respond = async (request: IncomingMessage, response: ServerResponse) => {
      const {
        Key: { PK },
      } = JSON.parse(await text(request));
      const body = JSON.stringify({ Item: { PK, long: { S: `${PK.S}-`.repeat(60_000) } } });
      setTimeout(
        () => response.writeHead(200, { 'content-length': Buffer.byteLength(body) }).end(body),
        Number(PK.S) % 7,
      );
    };
    const echo = createServer({ keepAliveTimeout: 0 }, (request, response) => void respond(request, response));
    echo.listen(0, '127.0.0.1');
    await once(echo, 'listening');
    process.env.AWS_ENDPOINT_URL_DYNAMODB = `http://127.0.0.1:${(echo.address() as AddressInfo).port}`;
    const client = new LeanClient();
    const ids = times(100, (index) => String(index));
    const items = await Promise.all(
      ids.map(async (PK) => (await client.send(new GetCommand({ TableName, Key: { PK } }) as Command)).Item),
    );
    expect(items).toEqual(ids.map((PK) => ({ PK, long: `${PK}-`.repeat(60_000) })));
    echo.close();
    echo.closeAllConnections();
    await expect(client.send(new GetCommand({ TableName, Key }) as Command)).rejects.toThrow();
  });
});
