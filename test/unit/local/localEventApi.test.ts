import { once } from 'node:events';
import { connect as connectTo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { FunctionModel } from '../../../infra/local/assembly/functionModel.ts';
import { Principals } from '../../../infra/local/iam/principals.ts';
import { EventApi } from '../../../infra/local/live/eventApi.ts';

type Message = Record<string, unknown>;

const allowed = JSON.stringify({ isAuthorized: true });
/** Returns the answer of the authorizer. */
let authorize: () => Promise<string>;
let api: EventApi;
beforeEach(async () => {
  authorize = () => Promise.resolve(allowed);
  api = await EventApi.listen();
  const live = { name: 'live', publish: ['AWS_LAMBDA'], subscribe: ['AWS_LAMBDA'] } as const;
  api.open({
    model: { arn: 'arn:api', authorizer: {} as FunctionModel, namespaces: new Map([['live', live]]) },
    principals: new Principals(),
    invoke: () => authorize(),
  });
});
afterEach(() => api.end());

const authorization = { Authorization: 'token' };

function connect(token = 'token'): WebSocket {
  const header = Buffer.from(JSON.stringify({ Authorization: token })).toString('base64url');
  return new WebSocket(`${api.url.replace('http', 'ws')}/event/realtime`, ['aws-appsync-event-ws', `header-${header}`]);
}

/** Returns `open` or `error`. */
function outcomeOf(socket: WebSocket): Promise<string> {
  return Promise.race(['open', 'error'].map((name) => once(socket, name).then(() => name)));
}

async function connected(): Promise<WebSocket> {
  const socket = connect();
  await once(socket, 'open');
  return socket;
}

/** Sends a text, or a message with the authorization. Returns the next message from the service. */
async function answerTo(socket: WebSocket, message: Message | string): Promise<Message> {
  const answer = once(socket, 'message') as Promise<[MessageEvent]>;
  socket.send(typeof message === 'string' ? message : JSON.stringify({ authorization, ...message }));
  const [{ data }] = await answer;
  return JSON.parse(String(data)) as Message;
}

describe('the local Event API', () => {
  test('sends each event of a publish as one JSON text in a message of its own', async () => {
    const socket = await connected();
    await answerTo(socket, { type: 'subscribe', id: 's', channel: '/live/a' });
    const messages: Message[] = [];
    socket.addEventListener('message', ({ data }) => messages.push(JSON.parse(String(data)) as Message));
    const events = ['{"n":1}', '{"n":2}'];
    socket.send(JSON.stringify({ type: 'publish', id: 'p', channel: '/live/a', events, authorization }));
    while (messages.length < 3) await once(socket, 'message');
    expect(messages).toEqual([
      ...events.map((event) => ({ type: 'data', id: 's', event })),
      expect.objectContaining({ type: 'publish_success', id: 'p' }),
    ]);
  });

  test.each(['', 'a b', 'a/b', 'a'.repeat(129), 'é', 1, null])('refuses the id %j like AppSync', async (id) => {
    const socket = await connected();
    expect(await answerTo(socket, { type: 'subscribe', id, channel: '/live/a' })).toMatchObject({
      type: 'subscribe_error',
      errors: [{ errorType: 'BadRequestException' }],
    });
  });

  test('answers a malformed message with a protocol error, and keeps the connection', async () => {
    const socket = await connected();
    const subscription = { type: 'subscribe', id: 'used', channel: '/live/a' };
    await answerTo(socket, subscription);
    const large = JSON.stringify({ type: 'unsubscribe', id: 'used', padding: 'x'.repeat(1_400_000) });
    for (const text of ['no JSON', '[]', '"text"', 'null', '{}', '{"type":"unknown"}', large])
      expect(await answerTo(socket, text)).toMatchObject({
        type: expect.stringMatching(/error$/),
        errors: [expect.anything()],
      });
    const published = { type: 'publish', id: 'p', channel: '/live/a' };
    for (const message of [
      { ...subscription, id: undefined },
      subscription,
      { ...subscription, id: 'a', channel: '/live/a/b/c/d/e' },
      { ...subscription, id: 'a', channel: '/other/a' },
      { ...subscription, id: 'a', authorization: {} },
      { type: 'unsubscribe', id: 'unknown' },
      { ...published, events: [] },
      { ...published, events: Array(6).fill('1') },
      { ...published, events: ['no JSON'] },
      { ...published, events: [JSON.stringify('x'.repeat(240 * 1024))] },
    ])
      expect([message, await answerTo(socket, message)]).toMatchObject([message, { type: `${message.type}_error` }]);
    expect(await answerTo(socket, { type: 'connection_init' })).toEqual({
      type: 'connection_ack',
      connectionTimeoutMs: 300_000,
    });
  });

  test('refuses what the authorizer does not allow, and connections with a token that is too long', async () => {
    const socket = await connected();
    authorize = () => Promise.resolve(JSON.stringify({ isAuthorized: false }));
    for (const message of [{ type: 'subscribe' }, { type: 'publish', events: ['1'] }])
      expect(await answerTo(socket, { ...message, id: 'a', channel: '/live/a' })).toMatchObject({
        type: `${message.type}_error`,
        errors: [{ errorType: 'UnauthorizedException' }],
      });
    expect(await outcomeOf(connect())).toBe('error');
    authorize = () => Promise.resolve(allowed);
    expect(await outcomeOf(connect('y'.repeat(3_000)))).toBe('error');
  });

  test('stays healthy after malformed connections', async () => {
    const socket = await connected();
    const { hostname, port, host } = new URL(api.url);
    const garbage = [
      'GET /event/realtime HTTP/1.1\r\n\r\n',
      `GET /event/realtime HTTP/1.1\r\nhost: ${host}\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-key: x\r\nsec-websocket-version: 13\r\nsec-websocket-protocol: header-AAAA, aws-appsync-event-ws\r\n\r\n`,
      '\x00\xff\x16\x03\x01garbage',
      `POST /event HTTP/1.1\r\nhost: ${host}\r\ncontent-length: 9\r\n\r\nnot JSON!`,
    ];
    for (let sent = 0; sent < 100; sent++) {
      const garbler = connectTo(Number(port), hostname).on('error', () => undefined);
      const closed = once(garbler, 'close');
      garbler.end(garbage[sent % garbage.length]!).resume();
      await closed;
    }
    expect(await answerTo(socket, { type: 'subscribe', id: 's', channel: '/live/a' })).toMatchObject({ id: 's' });
    expect(api.connectionCount).toBe(1);
  });

  test('ends all connections when it stops, and accepts connections at the same address after its start', async () => {
    const [socket, { url }] = [await connected(), api];
    const closed = once(socket, 'close');
    await api.close();
    await closed;
    await once(connect(), 'error');
    await api.reopen();
    expect(api.url).toBe(url);
    expect(await answerTo(await connected(), { type: 'connection_init' })).toMatchObject({ type: 'connection_ack' });
  });

  test.each([
    ['a message', 'POST /event'],
    ['a connection', 'GET /event/realtime'],
    ['a path that does not exist', 'GET /nothing'],
  ])('refuses %s with a foreign Host header or several', async (_what, request) => {
    const { host, port } = new URL(api.url);
    for (const hosts of [['evil.example'], [`evil.example:${port}`], [host, 'evil.example'], [host, host]])
      for (const upgrade of ['', 'Connection: Upgrade\r\nUpgrade: websocket\r\n']) {
        const socket = connectTo(Number(port), '127.0.0.1');
        socket.end(`${request} HTTP/1.1\r\n${hosts.map((name) => `Host: ${name}\r\n`).join('')}${upgrade}\r\n`);
        expect(await text(socket)).toMatch(/^HTTP\/1\.1 403 [^]*ForbiddenException/);
      }
  });

  test('stops while the authorizer decides about a connection', async () => {
    const [authorizing, decision] = [Promise.withResolvers<undefined>(), Promise.withResolvers<string>()];
    authorize = () => {
      authorizing.resolve(undefined);
      return decision.promise;
    };
    const failed = once(connect(), 'error');
    await authorizing.promise;
    const stopped = api.close();
    decision.resolve(allowed);
    await Promise.all([stopped, failed]);
    expect(api.connectionCount).toBe(0);
  });
});
