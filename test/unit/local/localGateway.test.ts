import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type { FunctionModel } from '../../../infra/local/assembly/functionModel.ts';
import type { RouteModel } from '../../../infra/local/assembly/model.ts';
import { accessLine } from '../../../infra/local/gateway/accessLog.ts';
import { type AccessContext, Gateway, type LocalRequest } from '../../../infra/local/gateway/gateway.ts';

let gateway: Gateway;
let events: APIGatewayProxyEventV2[];
/** The requests for the local run's own pages. */
let locals: LocalRequest[];
let measured: [status: number, milliseconds: number][];
let logged: AccessContext[];
/** Returns what the function answers to an event. */
let answer: (event: APIGatewayProxyEventV2) => unknown;

beforeAll(async () => {
  gateway = await Gateway.listen(0, ['api.local:1', 'api.local', 'X']);
  expect((await fetch(gateway.url)).status).toBe(503);
  const named = (name: string) => ({ name }) as FunctionModel;
  const routes: RouteModel[] = [
    { key: 'POST /things/add', function: named('add'), timeoutMilliseconds: 100 },
    { key: 'GET /manual/{page}', function: named('manual'), timeoutMilliseconds: 100 },
    { key: '$default', function: named('default'), timeoutMilliseconds: 30_000 },
  ];
  gateway.open({
    routes,
    async invoke(_model, payload) {
      const event = JSON.parse(payload) as APIGatewayProxyEventV2;
      events.push(event);
      return JSON.stringify(await answer(event));
    },
    async local(request) {
      locals.push(request);
      return { status: 200, headers: { 'content-type': 'text/plain' }, body: Buffer.from('a page') };
    },
    measure: (status, milliseconds) => void measured.push([status, milliseconds]),
    logAccess: (context) => void logged.push(context),
  });
});

afterAll(() => gateway.close(0));

beforeEach(() => {
  events = [];
  locals = [];
  measured = [];
  logged = [];
  answer = () => ({ statusCode: 200 });
});

const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}, path = '/things/add') =>
  fetch(gateway.url + path, { method: 'POST', body, headers });

/** Sends raw bytes. Returns everything that the gateway answers. */
async function raw(text: string): Promise<string> {
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  socket.end(text);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

describe('the path /', () => {
  test('is the start page of the local run for a browser on this machine', async () => {
    await fetch(`${gateway.url}/?a=1`);
    expect([locals.map(({ path }) => path), events]).toEqual([['/'], []]);
  });

  test('is a path of the API for POST, and for another allowed host', async () => {
    await fetch(gateway.url, { method: 'POST' });
    await raw('GET / HTTP/1.1\r\nHost: API.local:1\r\nConnection: close\r\n\r\n');
    expect([locals, events.map(({ routeKey }) => routeKey)]).toEqual([[], ['$default', '$default']]);
  });
});

describe('a request with GET', () => {
  test.each([
    ['/manual/one?a=1', 'GET /manual/{page}', { page: 'one' }],
    ['/manual/a%20b', 'GET /manual/{page}', { page: 'a b' }],
    ['/manual/%E0%A4%A', 'GET /manual/{page}', { page: '%E0%A4%A' }],
    ['/manual/', '$default', undefined],
    ['/manual', '$default', undefined],
    ['/manual/one/two', '$default', undefined],
    ['/other/one', '$default', undefined],
    ['/things/add', '$default', undefined],
    ['/nothing', '$default', undefined],
  ])('leads %s to %s', async (path, routeKey, pathParameters) => {
    await fetch(gateway.url + path);
    expect(events[0]).toMatchObject({ routeKey });
    expect(events[0]?.pathParameters).toEqual(pathParameters);
  });
});

test('a route with a parameter matches its method only', async () => {
  await post('', {}, '/manual/one');
  expect(events).toMatchObject([{ routeKey: '$default' }]);
});

describe('the event of a request', () => {
  test('has payload format 2.0', async () => {
    await raw(
      [
        'POST /things/add?b=2&a=1&a=x%20y HTTP/1.1',
        'Host: api.local:1',
        'User-Agent: tester',
        'X-Many: 1',
        'x-many: 2',
        'Cookie: c=1; d=2',
        'Content-Type: application/json; charset=utf-8',
        'X-Forwarded-For: 203.0.113.9',
        'Content-Length: 4',
        'Connection: close',
        '',
        '{"ü',
        '',
      ].join('\r\n'),
    );
    const [event] = events;
    expect(event).toEqual({
      version: '2.0',
      routeKey: 'POST /things/add',
      rawPath: '/things/add',
      rawQueryString: 'b=2&a=1&a=x%20y',
      queryStringParameters: { b: '2', a: '1,x y' },
      cookies: ['c=1', 'd=2'],
      headers: {
        host: 'api.local:1',
        'user-agent': 'tester',
        'x-many': '1,2',
        'content-type': 'application/json; charset=utf-8',
        'x-forwarded-for': '203.0.113.9',
        'content-length': '4',
        connection: 'close',
      },
      requestContext: {
        accountId: '000000000000',
        apiId: 'local',
        domainName: 'api.local:1',
        domainPrefix: 'api',
        stage: '$default',
        routeKey: 'POST /things/add',
        requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        time: expect.stringMatching(/^\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000$/),
        timeEpoch: expect.any(Number),
        http: { method: 'POST', path: '/things/add', protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: 'tester' },
      },
      body: '{"ü',
      isBase64Encoded: false,
    });
  });

  test.each([
    ['application/json', false],
    ['text/plain', false],
    ['application/problem+json', false],
    ['application/soap+xml', false],
    ['application/xml', false],
    ['application/octet-stream', true],
    ['application/x-www-form-urlencoded', true],
    ['', true],
  ])('of content type %p has isBase64Encoded %p', async (contentType, isBase64Encoded) => {
    await post('hello', { 'content-type': contentType });
    expect(events[0]).toMatchObject({ isBase64Encoded, body: isBase64Encoded ? 'aGVsbG8=' : 'hello' });
  });

  test('has base64 for a text that is not UTF-8', async () => {
    const bytes = Uint8Array.of(0x7b, 0xff, 0x7d);
    await post(bytes, { 'content-type': 'application/json' });
    expect(events[0]).toMatchObject({ isBase64Encoded: true, body: Buffer.from(bytes).toString('base64') });
  });

  test('has the path of a request target with a whole URL', async () => {
    await raw('POST http://api.local/things/add?a=1 HTTP/1.1\r\nHost: api.local\r\nConnection: close\r\n\r\n');
    expect(events[0]).toMatchObject({ routeKey: 'POST /things/add', rawPath: '/things/add', rawQueryString: 'a=1' });
  });
});

describe('the response of a function', () => {
  const answerTo = async (value: unknown) => {
    answer = () => value;
    const response = await post('{}');
    return { status: response.status, headers: response.headers, body: await response.text() };
  };

  test('has the status, headers, cookies and body of the result', async () => {
    const { status, headers, body } = await answerTo({
      statusCode: 201,
      headers: { 'X-One': 1, 'Content-Type': 'application/json', Connection: 'close' },
      cookies: ['a=1', 'b=2'],
      body: '{"ü":1}',
    });
    expect({ status, body }).toEqual({ status: 201, body: '{"ü":1}' });
    expect([headers.get('x-one'), headers.get('content-type'), headers.getSetCookie()]).toEqual([
      '1',
      'application/json',
      ['a=1', 'b=2'],
    ]);
    expect(headers.get('apigw-requestid')).toBe(events[0]!.requestContext.requestId);
  });

  test('is decoded from base64', async () => {
    expect(await answerTo({ statusCode: 200, isBase64Encoded: true, body: 'aGVsbG8=' })).toMatchObject({
      body: 'hello',
    });
  });

  test('has the returned value as its body if the value has no status code', async () => {
    expect(await answerTo({ a: 1 })).toMatchObject({ status: 200, body: '{"a":1}' });
    expect(await answerTo('text')).toMatchObject({ status: 200, body: 'text' });
  });

  test.each([
    ['a body that is not text', { statusCode: 200, body: {} }],
    ['an impossible status', { statusCode: 42 }],
    ['a header that HTTP cannot carry', { statusCode: 200, headers: { a: 'b\nc' } }],
    ['more than 6 MB', { statusCode: 200, body: 'x'.repeat(6_300_000) }],
  ])('with %s is an internal error', async (_name, value) => {
    expect(await answerTo(value)).toMatchObject({ status: 500, body: '{"message":"Internal Server Error"}' });
  });

  test('is a timeout if it takes longer than the integration allows', async () => {
    answer = () => new Promise(() => undefined);
    const response = await post('{}');
    expect([response.status, await response.json()]).toEqual([503, { message: 'Service Unavailable' }]);
  });
});

describe('a body that is too large', () => {
  const json = { 'content-type': 'application/json' };
  const outcome = async (response: Response) => [response.status, await response.json(), events.length];
  const refused = [413, { message: 'Request Entity Too Large' }, 0];

  test('for Lambda is refused, counted as part of the event', async () => {
    expect(await outcome(await post('x'.repeat(6_300_000), json))).toEqual(refused);
    expect(await outcome(await post('"'.repeat(3_200_000), json))).toEqual(refused);
    expect(await outcome(await post(new Uint8Array(5_000_000)))).toEqual(refused);
    expect((await post('x'.repeat(6_200_000), json)).status).toBe(200);
  });

  test('is refused before it is sent, if the client asks with Expect', async () => {
    const asking = request(`${gateway.url}/things/add`, {
      method: 'POST',
      headers: { 'content-length': 50_000_000, expect: '100-continue' },
    });
    asking.on('continue', () => asking.destroy(new Error('The gateway wants the body')));
    asking.flushHeaders();
    const [response] = (await once(asking, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(413);
    asking.destroy();
  });
});

describe('the Host header of an API request', () => {
  const call = (host: string) =>
    raw(`POST /things/add HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`);

  test('with an internet name, another port or no port is refused before any function runs', async () => {
    const { port } = new URL(gateway.url);
    expect(await call(`localhost:${port}`)).toContain('HTTP/1.1 200 OK\r\n');
    events = [];
    for (const host of [
      `evil.example:${port}`,
      `localhost.evil.example:${port}`,
      '127.0.0.1:1',
      'localhost',
      `api.local:${port}`,
      `127.0.0.2:${port}`,
    ]) {
      const [head = '', body = ''] = (await call(host)).split('\r\n\r\n');
      expect(head).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
      expect(head).toMatch(/\r\nx-request-id: [0-9a-f-]{36}\r\n/);
      expect(JSON.parse(body)).toEqual({
        error: {
          status: 'PERMISSION_DENIED',
          message: `The Host header "${host}" is not allowed. Call ${gateway.url}, or name the host in ALLOWED_HOSTS.`,
        },
      });
    }
    expect(events).toEqual([]);
  });

  test.each([
    ['a second Host header', (host: string) => `POST /things/add HTTP/1.1\r\nHost: ${host}\r\nHost: evil.example`],
    ['a second Host header before it', (host: string) => `POST / HTTP/1.1\r\nHost: evil.example\r\nhost: ${host}`],
    ['the same Host header twice', (host: string) => `POST /things/add HTTP/1.1\r\nHost: ${host}\r\nHost: ${host}`],
    ['the URL of another host', (host: string) => `POST http://evil.example/things/add HTTP/1.1\r\nHost: ${host}`],
  ])('with %s is refused before any function runs', async (_what, head) => {
    for (const host of [new URL(gateway.url).host, 'api.local'])
      expect(await raw(`${head(host)}\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`)).toMatch(
        /^HTTP\/1\.1 403 Forbidden\r\n[^]*"The Host header/,
      );
    expect(events).toEqual([]);
  });
});

describe('the measurements of the gateway', () => {
  test('record status and duration of every request', async () => {
    answer = () => new Promise((resolve) => setTimeout(() => resolve({ statusCode: 409 }), 50));
    await post('{}');
    answer = () => ({ statusCode: 'x' });
    await post('{}');
    answer = () => ({ statusCode: 200 });
    await post('{}', {}, '/other');
    expect(measured).toEqual([
      [409, expect.any(Number)],
      [500, expect.any(Number)],
      [200, expect.any(Number)],
    ]);
    expect(measured[0]![1]).toBeGreaterThan(45);
    expect(measured[0]![1]).toBeLessThan(10_000);
  });
});

describe('a page of the local run', () => {
  let port: string;
  beforeAll(() => {
    ({ port } = new URL(gateway.url));
  });
  const page = (host: string, head = 'GET /_local/dashboard.json?minutes=15 HTTP/1.1', body = '') =>
    raw(
      `${head}\r\nHost: ${host}\r\nX-Many: 1\r\nx-many: 2\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    );

  test.each(['127.0.0.1', 'LOCALHOST', '[::1]'])(
    'is served at %s, without a call of a function or a measurement',
    async (name) => {
      expect(await page(`${name}:${port}`)).toMatch(/^HTTP\/1.1 200 OK\r\n[\s\S]*\r\n\r\na page$/);
      expect(locals).toEqual([
        {
          method: 'GET',
          path: '/_local/dashboard.json',
          query: new URLSearchParams({ minutes: '15' }),
          headers: expect.objectContaining({ 'x-many': '1, 2' }),
          body: Buffer.alloc(0),
        },
      ]);
      expect([events, measured]).toEqual([[], []]);
    },
  );

  test.each([
    ['the name of a web site that resolves to this machine', () => `evil.example:${port}`],
    ['another port', () => '127.0.0.1:1'],
    ['no port', () => 'localhost'],
    ['a name that is allowed for the API', () => 'api.local'],
    ['a name with the same beginning', () => `127.0.0.1.evil.example:${port}`],
  ])('is refused for %s', async (_what, host) => {
    expect(await page(host())).toContain('HTTP/1.1 403 Forbidden\r\n');
    expect(locals).toEqual([]);
  });

  test('is not served at paths that only resemble its prefix /_local/', async () => {
    for (const path of ['/_local', '/_localhost/x', '/x/_local/y']) await post('{}', {}, path);
    expect(events.map(({ rawPath }) => rawPath)).toEqual(['/_local', '/_localhost/x', '/x/_local/y']);
    expect(locals).toEqual([]);
  });
});

test.each([
  ['text that is not HTTP', 'NONSENSE\r\n\r\n', '400 Bad Request'],
  [
    'two content lengths',
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
    '400 Bad Request',
  ],
  [
    'endless headers',
    `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(11_000)}\r\n\r\n`,
    '431 Request Header Fields Too Large',
  ],
])('%s is answered and does not stop the gateway', async (_name, text, status) => {
  expect(await raw(text)).toContain(`HTTP/1.1 ${status}\r\n`);
  expect((await post('{}')).status).toBe(200);
});

test('a client that disconnects does not stop the gateway', async () => {
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.write('POST /things/add HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\npart', () =>
    socket.resetAndDestroy(),
  );
  await once(socket, 'close');
  expect((await post('{}')).status).toBe(200);
});

test('a gateway on an occupied port throws an error that names the port', async () => {
  await expect(Gateway.listen(Number(new URL(gateway.url).port))).rejects.toThrow(
    /^Port \d+ is used by another program/,
  );
});

describe('the access log', () => {
  const number = expect.stringMatching(/^\d+$/);

  test('has a line for each request to the API, with the status of Lambda if the function was called', async () => {
    answer = () => ({ statusCode: 409, body: 'no' });
    const response = await post('{}', {}, '/things/add?a=1');
    expect(logged).toEqual([
      {
        requestId: response.headers.get('apigw-requestid'),
        requestTimeEpoch: number,
        'identity.sourceIp': '127.0.0.1',
        httpMethod: 'POST',
        path: '/things/add',
        routeKey: 'POST /things/add',
        status: '409',
        responseLength: '2',
        responseLatency: number,
        integrationStatus: '200',
        integrationLatency: number,
      },
    ]);
  });

  test('names the error of a function that fails, and has no line for pages of the local run', async () => {
    answer = () => {
      throw new Error('It crashed');
    };
    await post('{}');
    await fetch(`${gateway.url}/_local/dashboard`);
    expect(logged).toEqual([expect.objectContaining({ status: '500', integrationErrorMessage: 'It crashed' })]);
  });

  test('has the fields of the template, and a dash for a value that is missing', () => {
    const format = { id: '$context.requestId', error: '$context.integrationErrorMessage' };
    expect(accessLine(format, { requestId: 'r' })).toBe('{"id":"r","error":"-"}\n');
  });
});
