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

function connect(): WebSocket {
  const header = Buffer.from(JSON.stringify(authorization)).toString('base64url');
  return new WebSocket(`${api.url.replace('http', 'ws')}/event/realtime`, ['aws-appsync-event-ws', `header-${header}`]);
}

async function connected(): Promise<WebSocket> {
  const socket = connect();
  await once(socket, 'open');
  return socket;
}

/** Sends a message. Returns the next message from the service. */
async function answerTo(socket: WebSocket, message: Message): Promise<Message> {
  const answer = once(socket, 'message') as Promise<[MessageEvent]>;
  socket.send(JSON.stringify({ authorization, ...message }));
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
