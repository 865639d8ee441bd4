import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import {
  createClient,
  type Methods,
  pages,
  readWebhook,
  ServiceError,
  WebhookNotGenuine,
} from '../../../lib/client/index.ts';
import { errorCatalogue, type ErrorStatus } from '../../../lib/shared/errors.ts';
import { testProperty } from '../../support/testProperty.ts';

interface Received {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: any;
}
type Answer = (response: ServerResponse, request: Received) => void;

let server: Server | undefined;
beforeEach(() => {
  // The pauses before retries are random. The shortest pause is 0.
  jest.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
  jest.restoreAllMocks();
  server?.close();
  server?.closeAllConnections();
  server = undefined;
});

const success =
  (result: object): Answer =>
  (response) =>
    response.end(JSON.stringify({ result: { status: 'success', message: 'Done.', ...result } }));
const failure =
  (status: ErrorStatus, details?: object): Answer =>
  (response) => {
    response
      .writeHead(errorCatalogue[status].http, { 'x-request-id': 'request-1' })
      .end(JSON.stringify({ error: { status, message: 'why', details } }));
  };
const cutOff: Answer = (response) => response.socket?.destroy();
const raw =
  (http: number, body?: string): Answer =>
  (response) =>
    response.writeHead(http, { 'apigw-requestid': 'request-2' }).end(body);
const gateway = (http: number, message: string) => raw(http, JSON.stringify({ message }));

/**
 * Starts a service that gives these answers in order. After them, it repeats the last one. It records what it
 * receives.
 */
async function serviceOf(
  ...answers: readonly Answer[]
): Promise<{ baseUrl: string; received: Received[]; client: Methods }> {
  const received: Received[] = [];
  server = createServer((request, response) => {
    let text = '';
    request
      .on('data', (chunk) => (text += String(chunk)))
      .on('end', () => {
        const call = { path: request.url as string, headers: request.headers, body: JSON.parse(text) };
        received.push(call);
        (answers[received.length - 1] ?? answers.at(-1))!(response, call);
      });
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { baseUrl, received, client: createClient({ baseUrl, apiKey: 'key', authToken: 'token' }) };
}

const organizations = { organizations: [{ organizationId: 'acme' }] };

describe('createClient: methods', () => {
  test('send data in an envelope with the credentials of the client, and return the result', async () => {
    const { client, received } = await serviceOf(
      success({ data: { acme: { success: true, id: 'org_1', message: 'Added' } } }),
    );
    const { data } = await client.v2.organizations.add(organizations);
    expect(data.acme).toEqual({ success: true, id: 'org_1', message: 'Added' });
    expect(received).toMatchObject([
      {
        path: '/v2/organizations/add',
        headers: { 'x-svc-api-key': 'key', 'x-svc-auth-token': 'token', 'content-type': 'application/json' },
        body: { data: organizations },
      },
    ]);
  });

  test('have the types that the endpoint declares', () => {
    const typed = (client: Methods) => [
      // @ts-expect-error an id is text
      () => client.v2.organizations.add({ organizations: [{ organizationId: 1 }] }),
      // @ts-expect-error the organizations are missing
      () => client.v2.organizations.add({}),
      // @ts-expect-error there is no such field
      async () => (await client.v2.organizations.add(organizations)).data.acme?.succes,
    ];
    expect(typed).toBeDefined();
  });

  test('have types of a single agent that depend on managedBy', () => {
    const typed = async (client: Methods): Promise<string | object | undefined> => {
      const { data } = await client.v2.agents.get({ agentId: 'spell-check' });
      if (!('agent' in data)) return undefined;
      return data.agent.managedBy === 'customer' ? data.agent.instructions : data.agent.inputRequirements;
    };
    expect(typed).toBeDefined();
  });

  test('send headers with another service name and the credentials of a workspace', async () => {
    const { baseUrl, received } = await serviceOf(success({ data: {} }));
    await createClient({
      baseUrl,
      serviceName: 'acme',
      workspaceId: 'wsp',
      workspaceAuthToken: 'secret',
    }).v2.workspace.get();
    expect(received[0]).toMatchObject({
      headers: { 'x-acme-workspace-id': 'wsp', 'x-acme-workspace-auth-token': 'secret' },
      body: { data: {} },
    });
    expect(received[0]?.headers).not.toHaveProperty('x-acme-api-key');
  });
});

describe('createClient: retries', () => {
  const retryable = (Object.keys(errorCatalogue) as ErrorStatus[]).filter((status) => errorCatalogue[status].retryable);

  test.each([
    ...retryable.map((status) => [status, failure(status)] as const),
    ['a lost connection', cutOff],
    ['an answer of a proxy', raw(502, '<html>Bad gateway</html>')],
    ['a 429 of the gateway', gateway(429, 'Too Many Requests')],
    ['a 503 of the gateway', gateway(503, 'Service Unavailable')],
    ['a 408', gateway(408, 'Request Timeout')],
    ['a 500 with an unknown status', raw(500, '{"error":{"status":"DATA_LOSS","message":"why"}}')],
  ] as const)('repeat a write under the same idempotency key after %s', async (_what, answer) => {
    const { client, received } = await serviceOf(answer, answer, success({ data: {} }));
    await client.v2.organizations.add(organizations);
    expect(received).toHaveLength(3);
    const keys = new Set(received.map(({ headers }) => headers['idempotency-key']));
    expect([...keys]).toEqual([expect.stringMatching(/^[\x21-\x7e]{1,255}$/)]);
  });

  /** Checks the error of a call that gets this answer, and that the call is not repeated. */
  async function expectFailure(answer: Answer, error: object): Promise<void> {
    const { client, received } = await serviceOf(answer);
    const thrown: unknown = await client.v2.organizations.add(organizations).catch((reason: unknown) => reason);
    expect(thrown).toBeInstanceOf(ServiceError);
    expect(thrown).toMatchObject(error);
    expect(received).toHaveLength(1);
  }

  const limited =
    (seconds: string): Answer =>
    (response) => {
      response
        .writeHead(429, { 'retry-after': seconds })
        .end(JSON.stringify({ error: { status: 'RESOURCE_EXHAUSTED', message: 'too many' } }));
    };

  test('wait for the time of a retry-after header', async () => {
    const { client, received } = await serviceOf(limited('1'), success({ data: {} }));
    const pauses: unknown[] = [];
    const timer = jest.spyOn(globalThis, 'setTimeout').mockImplementation(((
      resolve: () => void,
      milliseconds: number,
    ) => {
      pauses.push(milliseconds);
      setImmediate(resolve);
    }) as typeof setTimeout);
    await client.v2.organizations.get({}).finally(() => timer.mockRestore());
    expect(pauses).toEqual([expect.any(Number)]);
    expect(pauses[0]).toBeGreaterThanOrEqual(1_000);
    expect(pauses[0]).toBeLessThan(2_000);
    expect(received).toHaveLength(2);
  });

  test('do not follow a retry-after above 30 s', async () => {
    await expectFailure(limited('31'), { status: 'RESOURCE_EXHAUSTED', retryAfterSeconds: 31 });
  });

  test.each((Object.keys(errorCatalogue) as ErrorStatus[]).filter((status) => !retryable.includes(status)))(
    'do not follow the status %s',
    async (status) => {
      await expectFailure(failure(status, { issues: [] }), {
        status,
        httpStatus: errorCatalogue[status].http,
        requestId: 'request-1',
        details: { issues: [] },
        message: `/v2/organizations/add: ${status}: why`,
      });
    },
  );

  test.each([
    [
      'a request that is too large',
      gateway(413, 'Request Entity Too Large'),
      413,
      'INVALID_ARGUMENT: Request Entity Too Large',
    ],
    ['an unknown path of the gateway', gateway(404, 'Not Found'), 404, 'NOT_FOUND: Not Found'],
    ['a request that a firewall rejects', gateway(403, 'Forbidden'), 403, 'PERMISSION_DENIED: Forbidden'],
    ['a request without credentials for a proxy', gateway(401, 'Unauthorized'), 401, 'PERMISSION_DENIED: Unauthorized'],
    ['headers that are too large', raw(431), 431, 'INVALID_ARGUMENT: HTTP 431'],
    [
      'a 400 with an unknown status',
      raw(400, '{"error":{"status":"OUT_OF_RANGE","message":"why"}}'),
      400,
      'INVALID_ARGUMENT: why',
    ],
    ['an answer that is not an object', raw(400, 'null'), 400, 'INVALID_ARGUMENT: HTTP 400'],
  ])('do not follow %s', async (_what, answer, httpStatus, message) => {
    await expectFailure(answer, { httpStatus, requestId: 'request-2', message: `/v2/organizations/add: ${message}` });
  });

  test('do not repeat a keepalive call', async () => {
    const { client, received } = await serviceOf(failure('UNAVAILABLE'));
    const call = client.v2.organizations.add(organizations, { keepalive: true });
    await expect(call).rejects.toMatchObject({ status: 'UNAVAILABLE' });
    expect(received).toHaveLength(1);
  });

  test('use a given idempotency key, and none for reads', async () => {
    const { client, received } = await serviceOf(success({ data: [] }));
    await client.v2.organizations.add(organizations, { idempotencyKey: 'mine' });
    await client.v2.organizations.get({});
    expect(received.map(({ headers }) => headers['idempotency-key'])).toEqual(['mine', undefined]);
  });

  test('end with UNAVAILABLE and the cause when the service cannot be reached', async () => {
    const { baseUrl, received } = await serviceOf(cutOff);
    const broken = await createClient({ baseUrl, attempts: 2 })
      .v2.organizations.add(organizations)
      .catch((thrown: unknown) => thrown);
    expect(broken).toBeInstanceOf(ServiceError);
    const { status, httpStatus, requestId, message, cause } = broken as ServiceError & { cause: Error };
    expect([status, httpStatus, requestId, message, cause.name]).toEqual([
      'UNAVAILABLE',
      0,
      undefined,
      `/v2/organizations/add: UNAVAILABLE: ${cause.message}`,
      'TypeError',
    ]);
    expect(received).toHaveLength(2);
    server?.close();
    server?.closeAllConnections();
    await expect(createClient({ baseUrl, attempts: 1 }).v2.organizations.get({})).rejects.toMatchObject({
      status: 'UNAVAILABLE',
      cause: { cause: { code: 'ECONNREFUSED' } },
    });
  });

  test('stop after the time-out of each attempt, or when the signal of the call aborts', async () => {
    const { baseUrl } = await serviceOf(() => undefined);
    // On a busy machine, an attempt can end before the service receives it. The attempts are therefore counted here.
    const send = jest.fn(fetch);
    const client = createClient({ baseUrl, timeoutMilliseconds: 30, attempts: 2, fetch: send });
    await expect(client.v2.organizations.get({})).rejects.toMatchObject({
      name: 'ServiceError',
      status: 'UNAVAILABLE',
      cause: { name: 'TimeoutError' },
    });
    expect(send).toHaveBeenCalledTimes(2);
    const controller = new AbortController();
    const call = createClient({ baseUrl }).v2.organizations.get({}, { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
  });
});

test.each([
  ['beside its data', (values: unknown[], nextPageToken: unknown) => ({ data: values, nextPageToken })],
  ['in its data', (values: unknown[], nextPageToken: unknown) => ({ data: { values, nextPageToken } })],
])(
  'pages() yields every page of a listing with the token %s in order, with one request per page',
  async (_where, answer) => {
    const all: Answer = (response, { body: { data } }) =>
      success(
        answer(
          [{ page: data.pageToken ?? 'first' }],
          data.pageToken === 'c' ? null : { undefined: 'b', b: 'c' }[String(data.pageToken)],
        ),
      )(response, undefined as never);
    const { client, received } = await serviceOf(all);
    const seen: unknown[] = [];
    for await (const { data } of pages(client.v2.users.get, { organizationId: 'acme', pageSize: 2 }))
      seen.push(...[data, (data as any).values].find(Array.isArray)!);
    expect(seen).toEqual([{ page: 'first' }, { page: 'b' }, { page: 'c' }]);
    expect(received.map(({ body }) => body.data)).toEqual([
      { organizationId: 'acme', pageSize: 2 },
      { organizationId: 'acme', pageSize: 2, pageToken: 'b' },
      { organizationId: 'acme', pageSize: 2, pageToken: 'c' },
    ]);
  },
);

test('pages() follows the iterator of listings that have one', async () => {
  const { client, received } = await serviceOf((response, { body }) => {
    const { iterator } = body.data;
    const data = { messages: [], iterator: iterator ? null : 'b', done: Boolean(iterator) };
    success({ data })(response, undefined as never);
  });
  const seen: boolean[] = [];
  for await (const { data } of pages(client.v2.workspace.advancedwebhook.messages.get, { limit: 2 }))
    seen.push(data.done);
  expect(seen).toEqual([false, true]);
  expect(received.map(({ body }) => body.data)).toEqual([{ limit: 2 }, { limit: 2, iterator: 'b' }]);
});

describe('readWebhook', () => {
  const secrets = ['first', 'second'].map((name) => `whsec_${Buffer.from(name.repeat(5)).toString('base64')}`) as [
    string,
    string,
  ];
  const sign = (secret: string, body: string) => {
    const at = new Date();
    return {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign('msg_1', at, body),
    };
  };

  testProperty(
    'returns payloads that the Standard Webhooks library signed, as text or bytes, with any kind of headers',
    [fc.jsonValue()],
    (value) => {
      const body = JSON.stringify(value);
      const headers = sign(secrets[0], body);
      const expected = JSON.parse(body);
      expect(readWebhook(headers, body, secrets[0])).toEqual(expected);
      expect(readWebhook(new Headers(headers), Buffer.from(body), [secrets[1], secrets[0]])).toEqual(expected);
    },
  );

  test('accepts one valid signature of several, as during a rotation', () => {
    const [old, fresh] = secrets.map((secret) => sign(secret, '{}'));
    expect(
      readWebhook(
        { ...old, 'webhook-signature': `${fresh!['webhook-signature']} ${old!['webhook-signature']} v2,x` },
        '{}',
        secrets[0],
      ),
    ).toEqual({});
  });

  test.each([
    ['another body', (headers: any) => readWebhook(headers, '{"a":2}', secrets[0])],
    ['another secret', (headers: any) => readWebhook(headers, '{"a":1}', secrets[1])],
    ['no secret', (headers: any) => readWebhook(headers, '{"a":1}', [])],
    ['another id', (headers: any) => readWebhook({ ...headers, 'webhook-id': 'msg_2' }, '{"a":1}', secrets[0])],
    [
      'a signature of another version',
      (headers: any) =>
        readWebhook(
          { ...headers, 'webhook-signature': headers['webhook-signature'].replace('v1,', 'v1a,') },
          '{"a":1}',
          secrets[0],
        ),
    ],
    ['no headers', () => readWebhook({}, '{"a":1}', secrets[0])],
    [
      'a time that is not a number',
      (headers: any) => readWebhook({ ...headers, 'webhook-timestamp': 'now' }, '{"a":1}', secrets[0]),
    ],
    [
      'a time more than 5 minutes ago',
      (headers: any) => readWebhook(headers, '{"a":1}', secrets[0], 1_000 * headers['webhook-timestamp'] + 301_000),
    ],
    [
      'a time more than 5 minutes ahead',
      (headers: any) => readWebhook(headers, '{"a":1}', secrets[0], 1_000 * headers['webhook-timestamp'] - 301_000),
    ],
  ])('rejects %s', (_what, read) => {
    const headers = sign(secrets[0], '{"a":1}');
    expect(readWebhook(headers, '{"a":1}', secrets[0])).toEqual({ a: 1 });
    expect(() => read(headers)).toThrow(WebhookNotGenuine);
  });
});
