import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetCommand, PutCommand, SearchVectorsCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { readAuthorization, signatureVerifier } from '../../../infra/local/iam/signature.ts';
import { documentClients, type TableClient } from '../../../lib/table/documentClient.ts';
import { withRetryContext } from '../../../lib/table/retryOnConflict.ts';

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const TableName = 'table';
const get = new GetCommand({ TableName, Key: { PK: 'a', SK: 'b' } });
const put = new PutCommand({ TableName, Item: { PK: 'a', SK: 'b', text: 'Ünïcode' } });
const search = new SearchVectorsCommand({ TableName, IndexName: 'index', SearchVector: [1, 0], TopK: 1 });
const environment = { ...process.env };

let server: Server;
let client: TableClient;
let received: Received[];
/** What the server answers next, in order. The last entry is repeated. With `hang` the server never answers. */
let answers: (readonly [status: number, body: string] | 'hang')[];

beforeEach(async () => {
  // The pauses before retries are random. The shortest pause is 0.
  jest.spyOn(Math, 'random').mockReturnValue(0);
  received = [];
  server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    void text(request).then((body) => {
      received.push({ headers: request.headers, body });
      const answer = (answers.length > 1 ? answers.shift() : answers[0])!;
      if (answer !== 'hang') response.writeHead(answer[0]).end(answer[1]);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  Object.assign(process.env, {
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'AKID',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_SESSION_TOKEN: 'session/token+=',
    AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  });
});
afterEach(async () => {
  jest.restoreAllMocks();
  client.destroy();
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
  process.env = { ...environment };
});

const errorBody = (type: string, more: object = {}) =>
  JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: 'No', ...more });

/** Returns the error of a call and the number of its attempts. */
async function failureOf(call: Promise<unknown>) {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown as Error & { code?: string; $metadata: { attempts: number } },
  );
  return { name: error?.name, code: error?.code, attempts: error?.$metadata.attempts };
}

describe('the document client', () => {
  beforeEach(() => {
    client = documentClients.open(() => new DynamoDBClient({ maxAttempts: 3 }));
  });

  test('signs each request with the credentials of the environment', async () => {
    answers = [[200, '{}']];
    await client.send(put);
    const [{ headers, body }] = received as [Received];
    expect(headers['x-amz-security-token']).toBe('session/token+=');
    const authorization = readAuthorization(headers.authorization)!;
    expect(authorization).toMatchObject({
      accessKeyId: 'AKID',
      scope: `${String(headers['x-amz-date']).slice(0, 8)}/eu-west-1/dynamodb/aws4_request`,
      signedHeaders: ['host', 'x-amz-date', 'x-amz-security-token', 'x-amz-target'],
    });
    const bodyHash = createHash('sha256').update(body).digest('hex');
    const request = { method: 'POST', url: '/', headers, bodyHash };
    expect(signatureVerifier('secret')(authorization, request)).toBe(true);
    expect(signatureVerifier('another')(authorization, request)).toBe(false);
    const changed = { ...request, headers: { ...headers, 'x-amz-target': 'DynamoDB_20120810.DeleteItem' } };
    expect(signatureVerifier('secret')(authorization, changed)).toBe(false);
  });

  test.each([
    ['eu-west-1', 'eu-west-1.amazonaws.com'],
    ['cn-north-1', 'cn-north-1.amazonaws.com.cn'],
    ['eusc-de-east-1', 'eusc-de-east-1.amazonaws.eu'],
  ])('sends vector searches in %s to an address of their own', async (region, domain) => {
    delete process.env.AWS_ENDPOINT_URL_DYNAMODB;
    process.env.AWS_REGION = region;
    const hosts: string[] = [];
    const requestHandler = {
      handle({ protocol, hostname }: { protocol: string; hostname: string }) {
        hosts.push(`${protocol}//${hostname}`);
        return Promise.resolve({ response: { statusCode: 200, headers: {}, body: Readable.from(['{}']) } });
      },
      destroy() {},
    };
    const { config } = new DynamoDBClient({ region });
    client.destroy();
    client = documentClients.open(() => ({ config: { ...config, requestHandler } }) as unknown as DynamoDBClient);
    for (const command of [get, search, put]) await client.send(command);
    expect(hosts).toEqual([
      `https://dynamodb.${domain}`,
      `https://search-dynamodb.${domain}`,
      `https://dynamodb.${domain}`,
    ]);
  });

  test('sends vector searches to the configured endpoint', async () => {
    answers = [[200, '{}']];
    await client.send(search);
    expect(received.map(({ headers }) => headers['x-amz-target'])).toEqual(['DynamoDB_20120810.SearchVectors']);
  });

  test('uses new credentials of the environment', async () => {
    answers = [[200, '{}']];
    await client.send(get);
    client.destroy();
    client = documentClients.open(() => new DynamoDBClient({}));
    process.env.AWS_SECRET_ACCESS_KEY = 'rotated';
    await client.send(get);
    const { headers, body } = received[1]!;
    const bodyHash = createHash('sha256').update(body).digest('hex');
    const request = { method: 'POST', url: '/', headers, bodyHash };
    expect(signatureVerifier('rotated')(readAuthorization(headers.authorization)!, request)).toBe(true);
  });

  test('repeats a call after an internal error of DynamoDB, with the same token of a transaction', async () => {
    answers = [
      [500, errorBody('InternalServerError')],
      [200, '{}'],
    ];
    await client.send(new TransactWriteCommand({ TransactItems: [{ Put: put.input }] }));
    const tokens = received.map(({ body }) => (JSON.parse(body) as { ClientRequestToken: string }).ClientRequestToken);
    expect(tokens).toHaveLength(2);
    expect(tokens[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(tokens[1]).toBe(tokens[0]);
  });

  test.each([
    [
      'throttling',
      [400, errorBody('ProvisionedThroughputExceededException')],
      'ProvisionedThroughputExceededException',
    ],
    ['a server error without JSON', [503, '<html>'], 'HTTP 503'],
  ] as const)('throws the last error after three attempts: %s', async (_what, answer, name) => {
    answers = [answer];
    expect(await failureOf(client.send(get))).toMatchObject({ name, attempts: 3 });
    expect(received).toHaveLength(3);
  });

  test.each(['ConditionalCheckFailedException', 'ValidationException', 'AccessDeniedException'])(
    'makes one attempt for %s',
    async (name) => {
      answers = [[400, errorBody(name)]];
      expect(await failureOf(client.send(put))).toMatchObject({ name, attempts: 1 });
      expect(received).toHaveLength(1);
    },
  );

  test('returns how many attempts a call with a failed condition made', async () => {
    answers = [
      [500, errorBody('InternalServerError')],
      [400, errorBody('ConditionalCheckFailedException', { Item: { PK: { S: 'a' } } })],
    ];
    await expect(client.send(put)).rejects.toMatchObject({ Item: { PK: { S: 'a' } }, $metadata: { attempts: 2 } });
  });

  test('stops a call that gets no answer after three attempts', async () => {
    answers = ['hang'];
    client.destroy();
    const requestHandler = { requestTimeout: 50, throwOnRequestTimeout: true };
    client = documentClients.open(() => new DynamoDBClient({ maxAttempts: 3, requestHandler }));
    expect(await failureOf(client.send(get))).toMatchObject({ name: 'TimeoutError', attempts: 3 });
  });

  test('ends the running call at the deadline of a request, and sends no later one', async () => {
    answers = ['hang'];
    const deadline = new AbortController();
    let requests = 0;
    server.on('request', () => requests++);
    await withRetryContext({ signal: deadline.signal }, async () => {
      const running = failureOf(client.send(put));
      await once(server, 'request');
      deadline.abort();
      expect(await running).toMatchObject({ name: 'AbortError', attempts: 1 });
      expect(await failureOf(client.send(put))).toMatchObject({ name: 'AbortError', attempts: 1 });
    });
    expect(requests).toBe(1);
  });

  test('throws the code of a connection that is refused', async () => {
    server.close();
    server.closeAllConnections();
    expect(await failureOf(client.send(get))).toMatchObject({ code: 'ECONNREFUSED', attempts: 3 });
    server.listen(0);
  });
});
