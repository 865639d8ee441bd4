import type { IncomingMessage, RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { environment } from '../../../lib/app/capability.ts';
import type { AttemptResult } from '../../../lib/webhooks/rules/outcome.ts';
import { createWebhookClient, webhookClient, type WebhookRequest } from '../../../lib/webhooks/transport/send.ts';
import { type Receiver, startHttp, startTcp } from '../../support/receivers.ts';
import { times } from '../../support/times.ts';

const KIB = 1_024;
/**
 * `SHORT` is the timeout of requests that never get a response, in milliseconds. All others have `LONG`, for slow
 * machines.
 */
const SHORT = 250;
const LONG = 120_000;

const running: Receiver[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((receiver) => receiver.stop()));
});

async function http(listener: RequestListener): Promise<Receiver> {
  const receiver = await startHttp(listener);
  running.push(receiver);
  return receiver;
}

async function tcp(talk: (socket: Socket) => void): Promise<Receiver> {
  const receiver = await startTcp(talk);
  running.push(receiver);
  return receiver;
}

const newClient = (options = {}) => createWebhookClient({ allowLoopback: true }, options);

/** Posts to a receiver, by default with a new client. */
function post(url: string, request: Partial<WebhookRequest> = {}, client = newClient()): Promise<AttemptResult> {
  return client.post({
    url,
    headers: { 'content-type': 'application/json' },
    body: '{"a":1}',
    timeoutMs: LONG,
    ...request,
  });
}

const textOf = ({ responseBody }: AttemptResult) => Buffer.from(responseBody ?? []).toString();
/** Returns a connection handler that writes a text when it receives the first data. */
const answering = (text: string) => (socket: Socket) => socket.once('data', () => socket.write(text));
const head = (...lines: string[]) => `${lines.join('\r\n')}\r\n\r\n`;
const switchingProtocols = head('HTTP/1.1 101 Switching Protocols', 'connection: upgrade', 'upgrade: websocket');

describe('a response of a receiver', () => {
  test.each([200, 201, 202, 204, 299])('is a delivery with status %i in time', async (status) => {
    const { url } = await http((_request, response) =>
      response.writeHead(status).end(status === 204 ? undefined : 'thanks'),
    );
    const sent = await post(url);
    expect(sent).toMatchObject({ outcome: 'delivered', responseStatus: status });
    expect(sent).not.toHaveProperty('error');
    expect(textOf(sent)).toBe(status === 204 ? '' : 'thanks');
    expect(sent.durationMs).toBeGreaterThan(0);
  });

  test.each([400, 401, 404, 410, 429, 500, 503, 999])('is a failure with status %i', async (status) => {
    const { url } = await tcp(answering(head(`HTTP/1.1 ${status} Whatever`, 'content-length: 4') + 'oops'));
    const sent = await post(url);
    expect(sent).toMatchObject({ outcome: 'failed', responseStatus: status, error: `status ${status}` });
    expect(textOf(sent)).toBe('oops');
  });

  test.each([300, 301, 302, 303, 304, 307, 308])(
    'is a failure with redirect status %i, and its location is ignored',
    async (status) => {
      const other = await http((_request, response) => response.end());
      const { url } = await http((_request, response) =>
        response.writeHead(status, { location: `${other.url}/` }).end(),
      );
      expect(await post(url)).toMatchObject({ outcome: 'failed', responseStatus: status, error: 'redirect' });
      expect(other.connections()).toBe(0);
    },
  );

  test.each([429, 503])('can contain a Retry-After with status %i', async (status) => {
    const { url } = await http((_request, response) => response.writeHead(status, { 'retry-after': '120' }).end());
    expect(await post(url)).toMatchObject({ outcome: 'failed', retryAfterSeconds: 120 });
  });

  test('cannot contain a Retry-After with any other status', async () => {
    const { url } = await http((_request, response) => response.writeHead(500, { 'retry-after': '120' }).end());
    expect(await post(url)).not.toHaveProperty('retryAfterSeconds');
  });
});

describe('a webhook request', () => {
  /** Posts to a receiver. Returns the request that the receiver got, and the result that the client returns. */
  async function sendAndReceive(request: Partial<WebhookRequest>, urlOf = (url: string) => url, client = newClient()) {
    let received: IncomingMessage | undefined;
    let body = '';
    const { url } = await http((incoming, response) => {
      received = incoming;
      void text(incoming).then((all) => {
        body = all;
        response.end();
      });
    });
    const sent = await post(urlOf(url), request, client);
    const { method, url: path, headers, httpVersion } = received!;
    return { method, path, headers, httpVersion, body, sent };
  }

  test('is a POST over HTTP/1.1 with the unchanged body, and accepts no compressed response', async () => {
    const body = JSON.stringify({ text: 'Grüße, 世界 👋' });
    const request = await sendAndReceive(
      { body, headers: { 'content-type': 'application/json', 'webhook-id': 'msg_1' } },
      (url) => `${url}/a%20b/c?d=e&f#fragment`,
    );
    expect(request).toMatchObject({ method: 'POST', path: '/a%20b/c?d=e&f', body, httpVersion: '1.1' });
    expect(request.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': 'msg_1',
      'content-length': String(Buffer.byteLength(body)),
      'accept-encoding': 'identity',
    });
    expect(request.headers).not.toHaveProperty('authorization');
    expect(request.headers).not.toHaveProperty('transfer-encoding');
  });

  test('contains the name of the service as its user agent', async () => {
    const client = webhookClient.open(environment({ SERVICE_NAME: 'acme', ALLOW_LOOPBACK_DELIVERY: 'true' }));
    expect((await sendAndReceive({}, undefined, client)).headers).toHaveProperty('user-agent', 'acme-webhooks/1');
    expect(webhookClient).toMatchObject({ grants: [], env: ['SERVICE_NAME'] });
  });

  test.each([
    ['user:p%40ss', 'user:p@ss'],
    ['user', 'user:'],
    [':token', ':token'],
    ['b%C3%BCcher:%E4%B8%96', 'bücher:世'],
    ['100%zz:a', '100%zz:a'],
  ])('sends the userinfo %j of its URL as a header', async (userinfo, sent) => {
    const request = await sendAndReceive({}, (url) => url.replace('//', `//${userinfo}@`));
    expect(Buffer.from(request.headers.authorization?.replace('Basic ', '') ?? '', 'base64').toString()).toBe(sent);
    expect(request.headers.host).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(JSON.stringify(request.sent)).not.toContain(userinfo);
  });

  test('has the path, the userinfo and the headers of its own delivery when a client posts to several URLs', async () => {
    const received: unknown[] = [];
    const { url } = await http((request, response) => {
      received.push([request.url, request.headers.authorization, request.headers['webhook-id']]);
      response.end();
    });
    const client = newClient();
    const withUser = url.replace('//', '//user:pass@');
    for (const id of ['1', '2'])
      for (const target of [`${url}/a`, `${url}/b?c`, withUser])
        await post(target, { headers: { 'webhook-id': id } }, client);
    await post(withUser, { headers: { 'webhook-id': '3', authorization: 'Basic own' } }, client);
    const basic = `Basic ${Buffer.from('user:pass').toString('base64')}`;
    expect(received).toEqual([
      ...['1', '2'].flatMap((id) => [
        ['/a', undefined, id],
        ['/b?c', undefined, id],
        ['/', basic, id],
      ]),
      ['/', 'Basic own', '3'],
    ]);
  });

  test.each(['a\r\nb: c', 'a\nb', 'a\0b', 'čeština', '世界'])(
    'fails without an exception when %j is in a header',
    async (value) => {
      const receiver = await http((_request, response) => response.end());
      expect(await post(receiver.url, { headers: { authorization: `Basic ${value}` } })).toMatchObject({
        outcome: 'failed',
        error: 'header not sendable',
      });
      expect(receiver.connections()).toBe(0);
    },
  );

  test('throws if our code built an invalid header name', async () => {
    const { url } = await http((_request, response) => response.end());
    await expect(post(url, { headers: { 'no header': 'x' } })).rejects.toThrow('no header');
  });
});

describe('a webhook request without a timeout setting', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  test.each([
    ['15 s for a response', 'http:', 15_000, 'no answer in time'],
    ['5 s for a connection with its TLS handshake', 'https:', 5_000, 'connection not made in time'],
  ])('allows %s', async (_what, protocol, time, error) => {
    const reached = Promise.withResolvers<undefined>();
    const { url } = await tcp((socket) => socket.once('data', () => reached.resolve(undefined)));
    // The test controls the client's timers. Timers of sockets stay real.
    jest.useFakeTimers({
      doNotFake: ['nextTick', 'setImmediate', 'setInterval', 'queueMicrotask', 'performance', 'Date'],
    });
    let ended: AttemptResult | undefined;
    const sending = newClient()
      .post({ url: url.replace('http:', protocol), headers: {}, body: '{}' })
      .then((sent) => (ended = sent));
    await reached.promise;
    jest.advanceTimersByTime(time - 1);
    await new Promise(setImmediate);
    expect(ended).toBeUndefined();
    jest.advanceTimersByTime(1);
    expect(await sending).toMatchObject({ outcome: 'timeout', error });
  });
});

describe('the outcome of a webhook request', () => {
  test('is a timeout when the receiver neither reads nor answers', async () => {
    const closed = Promise.withResolvers<undefined>();
    const { url } = await tcp((socket) => {
      socket
        .pause()
        .on('end', () => closed.resolve(undefined))
        .on('close', () => closed.resolve(undefined));
      setTimeout(() => socket.resume(), 2 * SHORT);
    });
    expect(await post(url, { body: 'x'.repeat(8 * KIB * KIB), timeoutMs: SHORT })).toMatchObject({
      outcome: 'timeout',
      error: 'no answer in time',
    });
    // Resolves when the client has closed the connection.
    await closed.promise;
  });

  test('is a timeout when the receiver sends its headers in small pieces', async () => {
    const { url } = await tcp((socket) => drip(socket, head('HTTP/1.1 200 OK', `x-slow: ${'y'.repeat(1_000)}`)));
    expect(await post(url, { timeoutMs: SHORT })).toMatchObject({ outcome: 'timeout', error: 'no answer in time' });
  });

  test('is a timeout with the received part when the receiver sends its body in small pieces', async () => {
    const { url } = await tcp((socket) => {
      socket.write(head('HTTP/1.1 200 OK', 'content-length: 1000'));
      drip(socket, 'z'.repeat(1_000));
    });
    // Posts again with a longer timeout, until a part of the body arrives in time.
    let sent: AttemptResult;
    let timeoutMs = SHORT;
    do sent = await post(url, { timeoutMs: (timeoutMs *= 2) });
    while (textOf(sent).length < 3 && sent.outcome === 'timeout');
    expect(sent).toMatchObject({ outcome: 'timeout', responseStatus: 200, error: 'answer not complete in time' });
    expect(textOf(sent)).toMatch(/^z{3,}$/);
  });

  test.each([
    [200, 'delivered'],
    [500, 'failed'],
  ])('for status %i with 512 MiB is known after 16 KiB, and the connection is closed', async (status, outcome) => {
    const size = 512 * KIB * KIB;
    const receiver = await tcp((socket) => {
      socket.write(head(`HTTP/1.1 ${status} OK`, `content-length: ${size}`));
      const piece = Buffer.alloc(64 * KIB, 'a');
      const pour = () => {
        while (!socket.destroyed && socket.bytesWritten < size && socket.write(piece));
      };
      socket.on('drain', pour).on('close', () => poured.push(socket.bytesWritten));
      pour();
    });
    const poured: number[] = [];
    const sent = await post(receiver.url);
    expect(sent).toMatchObject({ outcome, responseStatus: status });
    expect(textOf(sent)).toBe('a'.repeat(16 * KIB));
    while (poured.length === 0) await pause(5);
    // The sender could write no more than the buffers of the two sockets hold.
    expect(poured[0]).toBeLessThan(16 * KIB * KIB);
  });

  test.each([[16 * KIB - 1], [16 * KIB], [16 * KIB + 1]])(
    'contains at most 16 KiB of a response of %i bytes',
    async (size) => {
      const { url } = await http((_request, response) => response.end('b'.repeat(size)));
      const sent = await post(url);
      expect(sent.outcome).toBe('delivered');
      expect(sent.responseBody).toHaveLength(Math.min(size, 16 * KIB));
    },
  );

  test('contains at most 16 KiB of a response with endless chunks', async () => {
    const { url } = await tcp((socket) => {
      socket.write(head('HTTP/1.1 200 OK', 'transfer-encoding: chunked'));
      const pour = setInterval(() => socket.write(`400\r\n${'c'.repeat(KIB)}\r\n`), 1);
      socket.on('close', () => clearInterval(pour));
    });
    const sent = await post(url);
    expect(textOf(sent)).toBe('c'.repeat(16 * KIB));
  });

  test.each([
    ['headers', 'HTTP/1.1 200 OK\r\n', `x-header: ${'d'.repeat(KIB)}\r\n`],
    ['text in one header', 'HTTP/1.1 200 OK\r\nx-long: ', 'e'.repeat(4 * KIB)],
    [
      'trailers',
      `${head('HTTP/1.1 200 OK', 'transfer-encoding: chunked')}0\r\n`,
      `x-trailer: ${'f'.repeat(4 * KIB)}\r\n`,
    ],
  ])('is a failure when the receiver sends endless %s', async (_what, start, piece) => {
    let written = 0;
    const { url } = await tcp((socket) => {
      socket.write(start);
      const pour = setInterval(() => {
        written++;
        socket.write(piece);
      }, 1);
      socket.on('close', () => clearInterval(pour));
    });
    expect(await post(url)).toMatchObject({ outcome: 'failed', error: 'answer has too many headers' });
    expect(written).toBeLessThan(200);
  });

  test('is a timeout when the receiver sends endless informational responses', async () => {
    const { url } = await tcp((socket) => {
      const talk = setInterval(() => socket.write(head('HTTP/1.1 103 Early Hints', 'link: </>')), 5);
      socket.on('close', () => clearInterval(talk));
    });
    expect(await post(url, { timeoutMs: SHORT })).toMatchObject({ outcome: 'timeout', error: 'no answer in time' });
  });

  test('is a failure with its status when the receiver switches to another protocol', async () => {
    const closed = Promise.withResolvers<true>();
    const { url } = await tcp((socket) => {
      socket.once('end', () => closed.resolve(true));
      answering(switchingProtocols)(socket);
    });
    expect(await post(url)).toMatchObject({ outcome: 'failed', responseStatus: 101, error: 'status 101' });
    await closed.promise;
  });

  test.each([
    ['SSH-2.0-OpenSSH_9.9\r\n'],
    ['\u0000\u0001\u0002'],
    ['HTTP/1.1 20 OK\r\n\r\n'],
    [head('HTTP/1.1 200 OK', 'content-length: 1', 'content-length: 2')],
    [head('HTTP/1.1 200 OK', 'transfer-encoding: chunked') + 'zz\r\n'],
  ])('is a failure when the receiver answers %j', async (text) => {
    const { url } = await tcp(answering(text));
    expect(await post(url)).toMatchObject({ outcome: 'failed', error: 'answer is not HTTP/1.1' });
  });

  test.each([
    ['closes its side without a response', (socket: Socket) => socket.end(), undefined],
    ['resets the connection', (socket: Socket) => socket.resetAndDestroy(), undefined],
    ['closes within the headers', (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\nx-a'), undefined],
    [
      'closes half-way through the body',
      (socket: Socket) => socket.end(head('HTTP/1.1 200 OK', 'content-length: 100') + 'half'),
      'half',
    ],
    [
      'closes within a chunk',
      (socket: Socket) => socket.end(head('HTTP/1.1 200 OK', 'transfer-encoding: chunked') + '64\r\nhalf'),
      'half',
    ],
  ])('is a failure when the receiver %s, because the response is incomplete', async (_what, respond, body) => {
    const receiver = await tcp((socket) => socket.once('data', () => respond(socket)));
    const sent = await post(receiver.url);
    expect(sent).toMatchObject({ outcome: 'failed', error: 'connection closed before the answer was complete' });
    expect(body === undefined ? sent.responseStatus : textOf(sent)).toBe(body);
    expect(receiver.connections()).toBe(1);
  });

  test('contains compressed data as it was received', async () => {
    const compressed = gzipSync(Buffer.alloc(8 * KIB * KIB));
    const { url } = await http((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(compressed),
    );
    const sent = await post(url);
    expect(Buffer.compare(sent.responseBody!, compressed.subarray(0, 16 * KIB))).toBe(0);
  });

  test('is a delivery when the receiver answers before it has read the request, but the connection is not kept', async () => {
    const size = 32 * KIB * KIB;
    const opened = Promise.withResolvers<Socket>();
    const { url } = await tcp((socket) => {
      socket.pause().write(head('HTTP/1.1 200 OK', 'content-length: 2') + 'ok');
      opened.resolve(socket);
    });
    expect(await post(url, { body: 'x'.repeat(size), timeoutMs: LONG })).toMatchObject({ outcome: 'delivered' });
    const socket = await opened.promise;
    await new Promise<void>((resolve) =>
      socket
        .on('end', resolve)
        .on('close', () => resolve())
        .resume(),
    );
    expect(socket.bytesRead).toBeLessThan(size);
  });

  test('contains no more of a response than its content-length announced', async () => {
    const receiver = await tcp((socket) =>
      socket.on('data', () => socket.write(head('HTTP/1.1 200 OK', 'content-length: 2') + 'ok and HTTP/1.1 500 more')),
    );
    const client = newClient();
    for (let i = 1; i <= 2; i++) expect(textOf(await post(receiver.url, {}, client))).toBe('ok');
  });
});

describe('the connections of a webhook client', () => {
  /** Returns a client whose clock stands still. A client closes connections that were idle for some seconds. */
  const keepingClient = (options = {}) => newClient({ now: () => 1_000_000, ...options });
  /** Starts a receiver that calls `answer` for each request. */
  const listening = (answer: (socket: Socket) => void) => tcp((socket) => socket.on('data', () => answer(socket)));
  const ok = head('HTTP/1.1 200 OK', 'content-length: 0');

  test('are not kept when the receiver refuses, or after a response that was not read to its end', async () => {
    const closing = await listening((socket) =>
      socket.write(head('HTTP/1.1 200 OK', 'content-length: 0', 'connection: close')),
    );
    const long = await http((_request, response) => response.end('x'.repeat(20 * KIB)));
    const heard = await http((_request, response) => response.end('x'.repeat(16 * KIB)));
    const client = keepingClient();
    for (const { url } of [closing, closing, long, long, heard, heard]) await post(url, {}, client);
    expect([closing, long, heard].map((each) => each.connections())).toEqual([2, 2, 1]);
  });

  test('are as many as parallel requests, and only fifty of them are kept', async () => {
    const receiver = await listening((socket) => setTimeout(() => socket.write(ok), 20));
    const client = keepingClient();
    const burst = () => Promise.all(times(80, () => post(receiver.url, {}, client)));
    await burst();
    expect(receiver.connections()).toBe(80);
    await burst();
    expect(receiver.connections()).toBe(110);
  });

  test('are limited to a hundred idle connections in all', async () => {
    let open = 0;
    const receivers = await Promise.all(
      times(120, () =>
        tcp((socket) => {
          open++;
          socket
            .on('data', () => socket.write(ok))
            .on('end', () => socket.end())
            .on('close', () => open--);
        }),
      ),
    );
    const client = keepingClient();
    for (const { url } of receivers) await post(url, {}, client);
    while (open > 100) await pause(5);
    expect(open).toBe(100);
  });

  test('are not used again after a pause of the process', async () => {
    const receiver = await listening((socket) => socket.write(ok));
    let now = 1_000_000;
    const client = keepingClient({ now: () => now });
    await post(receiver.url, {}, client);
    now += 3_999;
    await post(receiver.url, {}, client);
    expect(receiver.connections()).toBe(1);
    now += 4_001;
    expect((await post(receiver.url, {}, client)).outcome).toBe('delivered');
    expect(receiver.connections()).toBe(2);
  });

  /** Starts a receiver that counts POSTs by their first lines. Returns its connections too. */
  async function counting(answer: (socket: Socket, nth: number) => void) {
    let posts = 0;
    const sockets: Socket[] = [];
    const receiver = await tcp((socket) => {
      sockets.push(socket);
      socket.on('data', (piece: Buffer) => {
        if (piece.toString('latin1').startsWith('POST ')) answer(socket, ++posts);
      });
    });
    return { receiver, sockets, posts: () => posts };
  }

  const endings: [string, (socket: Socket) => unknown][] = [
    ['ends', (socket) => socket.end()],
    ['closes', (socket) => socket.destroy()],
    ['resets', (socket) => socket.resetAndDestroy()],
  ];

  test.each<[string, (socket: Socket) => unknown]>([
    ...endings,
    [
      'answers 408 on and ends',
      (socket) => socket.end(head('HTTP/1.1 408 Request Timeout', 'content-length: 0', 'connection: close')),
    ],
    ['switches the protocol on', (socket) => socket.write(switchingProtocols)],
  ])(
    'are replaced when the receiver %s just before the next request, and the receiver gets one POST',
    async (_what, close) => {
      const { receiver, sockets, posts } = await counting((socket) => socket.write(ok));
      const client = keepingClient();
      await post(receiver.url, {}, client);
      close(sockets[0]!);
      expect(await post(receiver.url, {}, client)).toMatchObject({ outcome: 'delivered', responseStatus: 200 });
      expect([receiver.connections(), posts()]).toEqual([2, 2]);
    },
  );

  test.each<[string, (socket: Socket) => unknown]>([
    ...endings,
    ['ends within an answer on', (socket) => socket.end('HTTP/1.1 200 OK\r\nx-a')],
  ])('cause a failed attempt after one POST when the receiver %s after the first bytes', async (_what, close) => {
    const { receiver, posts } = await counting((socket, nth) => (nth === 2 ? close(socket) : socket.write(ok)));
    const client = keepingClient();
    await post(receiver.url, {}, client);
    expect(await post(receiver.url, { body: 'x'.repeat(256 * KIB) }, client)).toMatchObject({
      outcome: 'failed',
      error: 'connection closed before the answer was complete',
    });
    expect(posts()).toBe(2);
    expect((await post(receiver.url, {}, client)).outcome).toBe('delivered');
    expect([receiver.connections(), posts()]).toEqual([2, 3]);
  });

  test('are replaced by one new connection when several close at the same time', async () => {
    const { receiver, sockets, posts } = await counting((socket) => setTimeout(() => socket.write(ok), 20));
    const client = keepingClient();
    await Promise.all(times(3, () => post(receiver.url, {}, client)));
    for (const socket of sockets) socket.resetAndDestroy();
    expect((await post(receiver.url, {}, client)).outcome).toBe('delivered');
    expect([receiver.connections(), posts()]).toEqual([4, 4]);
  });

  test('give a second request only the remaining time of the attempt', async () => {
    const second = Promise.withResolvers<undefined>();
    const { receiver, sockets } = await counting((socket, nth) =>
      nth === 1 ? socket.write(ok) : second.resolve(undefined),
    );
    const client = keepingClient();
    await post(receiver.url, {}, client);
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'setInterval', 'queueMicrotask', 'Date'] });
    try {
      let ended = false;
      sockets[0]!.resetAndDestroy();
      const sending = post(receiver.url, { timeoutMs: SHORT }, client).finally(() => (ended = true));
      await second.promise;
      jest.advanceTimersByTime(SHORT - 1);
      await new Promise(setImmediate);
      expect(ended).toBe(false);
      jest.advanceTimersByTime(1);
      expect(await sending).toMatchObject({ outcome: 'timeout', error: 'no answer in time', durationMs: SHORT });
    } finally {
      jest.useRealTimers();
    }
  });
});

/** Writes the characters of a text one by one, until the client closes the connection. */
function drip(socket: Socket, text: string): void {
  let offset = 0;
  const timer = setInterval(() => socket.write(text.charAt(offset++)), 20);
  socket.on('close', () => clearInterval(timer));
}
