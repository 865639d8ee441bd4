import { readFile } from 'node:fs/promises';
import { connect as connectTcp } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as Y from 'yjs';
import { times } from '../support/times.ts';
import { startSystem, type System } from './system.ts';

const organizationId = 'live';
const MALFORMED_CONNECTIONS = 1_000;
const CONNECTIONS_AT_A_TIME = 50;

let system: System;
let documents = 0;
/** The headers of the API key after its auth token was replaced. */
let keyHeaders: Record<string, string> | undefined;
beforeAll(async () => {
  system = await startSystem();
  await ok('/v2/organizations/add', { organizations: [{ organizationId }] });
});
afterAll(() => system.stop());

async function ok(path: string, data: object, headers = keyHeaders): Promise<any> {
  return system.ok(path, data, headers);
}

/** Creates a document that the organization's members may open, and makes the user a member. */
async function newDocument(userId: string): Promise<{ organizationId: string; documentId: string }> {
  const ids = { organizationId, documentId: `doc-${++documents}` };
  await ok('/v2/organizations/documents/add', { organizationId, documents: [{ documentId: ids.documentId }] });
  await ok('/v2/organizations/documents/access/update', {
    organizationId,
    documentIds: [ids.documentId],
    accessType: 'organizationPrivate',
  });
  await ok('/v2/users/add', { organizationId, users: [{ userId, name: userId, email: `${userId}@example.com` }] });
  return ids;
}

async function userHeaders(userId: string, resources: object[] = []): Promise<Record<string, string>> {
  const { token } = await ok('/v2/auth/generate_token', {
    userId,
    userProperties: { name: userId, email: `${userId}@example.com` },
    permissions: { resources },
  });
  return { authorization: `Bearer ${token}` };
}

/** Revokes all user tokens. Later calls have the new auth token of the API key. */
async function revokeUserTokens(): Promise<void> {
  const { apiKey, workspaceId, workspaceAuthToken } = system.credentials;
  const workspace = { 'x-svc-workspace-id': workspaceId, 'x-svc-workspace-auth-token': workspaceAuthToken };
  const { newAuthToken } = await ok('/v2/workspace/authtoken/reset', { apiKey, revokeUserTokens: true }, workspace);
  keyHeaders = { 'x-svc-api-key': apiKey, 'x-svc-auth-token': newAuthToken.token };
}

interface Connection {
  readonly url: string;
  readonly host: string;
  readonly token: string;
  readonly channels: Record<'document' | 'awareness' | 'user', string>;
}

type Received = Record<string, any>;

/** A client of the push protocol without the client library. */
class Client {
  readonly #socket: WebSocket;
  readonly #authorization: object;
  readonly #received: Received[] = [];
  #arrived: PromiseWithResolvers<void> = Promise.withResolvers();
  isClosed = false;

  private constructor(socket: WebSocket, authorization: object) {
    this.#socket = socket;
    this.#authorization = authorization;
    socket.onmessage = ({ data }) => {
      this.#received.push(JSON.parse(String(data)) as Received);
      this.#arrived.resolve();
    };
    socket.onclose = () => {
      this.isClosed = true;
      this.#arrived.resolve();
    };
  }

  static async open({ url, host, token }: Pick<Connection, 'url' | 'host' | 'token'>): Promise<Client> {
    const authorization = { host, Authorization: token };
    const header = Buffer.from(JSON.stringify(authorization)).toString('base64url');
    const socket = new WebSocket(url, ['aws-appsync-event-ws', `header-${header}`]);
    await new Promise<void>((resolve, reject) => {
      socket.onopen = () => resolve();
      socket.onerror = () => reject(new Error('The connection was refused'));
    });
    return new Client(socket, authorization);
  }

  send(message: object): void {
    this.#socket.send(JSON.stringify({ authorization: this.#authorization, ...message }));
  }

  sendText(text: string): void {
    this.#socket.send(text);
  }

  /** Returns the next message for which `matches` returns true. Earlier messages are dropped. */
  async next(matches: (message: Received) => boolean = () => true): Promise<Received> {
    for (;;) {
      const index = this.#received.findIndex(matches);
      const message = this.#received[index];
      if (message) {
        this.#received.splice(0, index + 1);
        return message;
      }
      if (this.isClosed) throw new Error('The connection was closed');
      this.#arrived = Promise.withResolvers();
      await this.#arrived.promise;
    }
  }

  async subscribe(id: string, channel: string): Promise<string> {
    this.send({ type: 'subscribe', id, channel });
    return (await this.next((message) => message.id === id && String(message.type).startsWith('subscribe_'))).type;
  }

  /** Returns the next event of a subscription for which `matches` returns true. */
  async event(id: string, matches: (event: Received) => boolean = () => true): Promise<Received> {
    const isMatch = (message: Received) =>
      message.type === 'data' && message.id === id && matches(JSON.parse(message.event as string) as Received);
    return JSON.parse((await this.next(isMatch)).event as string) as Received;
  }

  close(): void {
    this.#socket.close();
  }
}

async function connectAs(headers: Record<string, string>, ids: object): Promise<Connection> {
  return ok('/v2/live/connect', ids, headers);
}

async function openDocument(userId: string) {
  const ids = await newDocument(userId);
  const headers = await userHeaders(userId);
  const connection = await connectAs(headers, ids);
  const client = await Client.open(connection);
  for (const [id, channel] of Object.entries(connection.channels))
    expect(await client.subscribe(id, channel)).toBe('subscribe_success');
  return { ids, headers, connection, client };
}

describe('a connected user', () => {
  test('gets the edits, comments, presence and live state of other users, and reads missed changes by version', async () => {
    const { ids, headers, client } = await openDocument('ada');
    await ok('/v2/crdt/add', { ...ids, editorId: 'body', type: 'text', data: 'hello' });
    const pushed = await client.event('document', ({ type }) => type === 'crdt.update');
    const doc = new Y.Doc();
    Y.applyUpdate(doc, Buffer.from(pushed.update as string, 'base64'));
    expect(doc.getText('content').toJSON()).toBe('hello');

    await ok('/v2/commentannotations/add', {
      ...ids,
      commentAnnotations: [{ annotationId: 'a', commentData: [{ commentText: 'secret', from: { userId: 'ada' } }] }],
    });
    const hint = await client.event('document', ({ type }) => type === 'comment.add');
    expect(hint).toMatchObject({ ids: { annotationId: 'a' }, version: expect.any(Number) });
    expect(JSON.stringify(hint)).not.toContain('secret');

    await ok('/v2/presence/add', { ...ids, users: [{ userId: 'bob', name: 'Bob' }] });
    expect(await client.event('document', ({ type }) => type === 'presence.update')).toMatchObject({
      user: { userId: 'bob' },
    });
    await ok('/v2/livestate/broadcast', { ...ids, liveStateDataId: 'page', data: { page: 3 } });
    expect(await client.event('document', ({ type }) => type === 'livestate.update')).toMatchObject({
      data: { page: 3 },
    });

    const after = Number(pushed.version);
    const changes = await ok('/v2/live/changes', { ...ids, after }, headers);
    expect(changes).toMatchObject({ complete: true, hasMore: false, version: after + Number(changes.hints.length) });
    expect(changes.hints.map(({ version }: Received) => version)).toEqual(
      times(changes.hints.length, (index) => after + index + 1),
    );
    client.close();
  });

  test('may publish to the awareness channel only, and not subscribe to the channel of another document or user', async () => {
    const { client, connection } = await openDocument('ada');
    const events = [JSON.stringify({ cursor: 1 })];
    client.send({ type: 'publish', id: 'p1', channel: connection.channels.awareness, events });
    expect(await client.event('awareness')).toEqual({ cursor: 1 });
    for (const channel of [connection.channels.document, connection.channels.user, '/live/other/other/other']) {
      client.send({ type: 'publish', id: 'p2', channel, events });
      const answer = await client.next(({ id }) => id === 'p2');
      expect([answer.type, answer.errors[0].errorType]).toEqual(['publish_error', 'UnauthorizedException']);
    }
    const other = await connectAs(
      await userHeaders('bob', [{ type: 'organization', id: organizationId }]),
      await newDocument('bob'),
    );
    const { document } = connection.channels;
    const pattern = `${document.slice(0, document.lastIndexOf('/'))}/*`;
    for (const channel of [other.channels.document, other.channels.user, pattern, '/live/*'])
      expect([channel, await client.subscribe('foreign', channel)]).toEqual([channel, 'subscribe_error']);
    client.close();
  });

  test('gets system.revoked and no later event when access ends, and cannot connect again', async () => {
    const { ids, headers, client, connection } = await openDocument('carol');
    const other = await userHeaders('bob', [{ type: 'organization', id: organizationId }]);
    const removedAt = performance.now();
    await ok('/v2/users/delete', { organizationId, userIds: ['carol'] });
    expect(await client.event('document', ({ type }) => type === 'system.revoked')).toEqual({ type: 'system.revoked' });
    expect(performance.now() - removedAt).toBeLessThan(60_000);

    const renewed = await connectAs(other, ids);
    expect(renewed.channels.document).not.toBe(connection.channels.document);
    const bob = await Client.open(renewed);
    await bob.subscribe('document', renewed.channels.document);
    await ok('/v2/crdt/add', { ...ids, editorId: 'later', type: 'text', data: 'x' });
    await bob.event('document', ({ type }) => type === 'crdt.update');
    // All earlier events arrive before this answer. After it, the test can check that none followed.
    client.send({ type: 'unsubscribe', id: 'document' });
    const answer = await client.next(({ id }) => id === 'document');
    expect(answer.type).toBe('unsubscribe_success');
    expect((await system.post('/v2/live/connect', ids, headers)).status).toBe(403);
    expect(await client.subscribe('renewed', renewed.channels.document)).toBe('subscribe_error');
    for (const each of [client, bob]) each.close();
  });
});

test('revoked user tokens end the connections of all users within a minute', async () => {
  const { ids, headers, client } = await openDocument('dora');
  const stored = await openDocument('emil');
  const revokedAt = performance.now();
  await revokeUserTokens();
  for (const each of [client, stored.client])
    expect(await each.event('document', ({ type }) => type === 'system.revoked')).toEqual({ type: 'system.revoked' });
  expect(performance.now() - revokedAt).toBeLessThan(60_000);

  expect((await system.post('/v2/live/connect', ids, headers)).status).toBe(403);
  expect(await connectAs(await userHeaders('dora'), ids)).toMatchObject({ token: expect.any(String) });
  for (const each of [client, stored.client]) each.close();
});

describe('the WebSocket gateway', () => {
  test('answers a malformed message with a protocol error, and keeps the connection', async () => {
    const { client, connection } = await openDocument('ada');
    const large = JSON.stringify({ type: 'publish', id: 'large', events: ['x'.repeat(1_400_000)] });
    for (const text of ['no JSON', '[]', '"text"', 'null', '{}', '{"type":"unknown"}', large]) {
      client.sendText(text);
      expect((await client.next(({ type }) => String(type).endsWith('error'))).errors).toHaveLength(1);
    }
    const { awareness, document } = connection.channels;
    const event = JSON.stringify('x'.repeat(240 * 1024));
    for (const [message, type] of [
      [{ type: 'subscribe', channel: document }, 'subscribe_error'],
      [{ type: 'subscribe', id: 'document', channel: document }, 'subscribe_error'],
      [{ type: 'subscribe', id: 'a', channel: '/live/a/b/c/d/e' }, 'subscribe_error'],
      [{ type: 'subscribe', id: 'a', channel: document, authorization: {} }, 'subscribe_error'],
      [{ type: 'unsubscribe', id: 'unknown' }, 'unsubscribe_error'],
      [{ type: 'publish', id: 'p', channel: awareness, events: [] }, 'publish_error'],
      [{ type: 'publish', id: 'p', channel: awareness, events: Array(6).fill('1') }, 'publish_error'],
      [{ type: 'publish', id: 'p', channel: awareness, events: ['no JSON'] }, 'publish_error'],
      [{ type: 'publish', id: 'p', channel: awareness, events: [event] }, 'publish_error'],
    ] as const) {
      client.send(message);
      expect((await client.next()).type).toBe(type);
    }
    client.send({ type: 'connection_init' });
    expect(await client.next()).toEqual({ type: 'connection_ack', connectionTimeoutMs: 300_000 });
    client.close();
  });

  test('refuses connections without a valid token', async () => {
    const { connection, client } = await openDocument('ada');
    for (const token of ['', 'x', '1.AAAA', `${connection.token}x`, 'y'.repeat(3_000)])
      await expect(Client.open({ ...connection, token })).rejects.toThrow('refused');
    client.close();
  });

  test('stays healthy after a thousand malformed connections', async () => {
    const { ids, client, connection } = await openDocument('ada');
    const { hostname, port } = new URL(connection.url);
    const garbage = [
      'GET /event/realtime HTTP/1.1\r\n\r\n',
      `GET /event/realtime HTTP/1.1\r\nhost: ${hostname}:${port}\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-key: x\r\nsec-websocket-version: 13\r\nsec-websocket-protocol: header-AAAA, aws-appsync-event-ws\r\n\r\n`,
      `GET /event/realtime HTTP/1.1\r\nhost: evil.example\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n`,
      '\x00\xff\x16\x03\x01garbage',
      `POST /event HTTP/1.1\r\nhost: ${hostname}:${port}\r\ncontent-length: 9\r\n\r\nnot JSON!`,
    ];
    const sendGarbage = (text: string) =>
      new Promise<void>((resolve) => {
        const socket = connectTcp(Number(port), hostname, () => socket.end(text));
        socket.on('error', () => resolve());
        socket.on('close', () => resolve());
        socket.resume();
      });
    for (let sent = 0; sent < MALFORMED_CONNECTIONS; sent += CONNECTIONS_AT_A_TIME)
      await Promise.all(
        times(CONNECTIONS_AT_A_TIME, (index) => sendGarbage(garbage[(sent + index) % garbage.length]!)),
      );
    await ok('/v2/crdt/add', { ...ids, editorId: 'body', type: 'text', data: 'still here' });
    expect(await client.event('document', ({ type }) => type === 'crdt.update')).toMatchObject({ editorId: 'body' });
    client.close();
  });

  test('logs no token', async () => {
    const { connection, client, headers } = await openDocument('ada');
    client.close();
    const logs = system.logs() + (await readFile(join(system.dataDir, 'functions.log'), 'utf8'));
    expect(logs).not.toContain(connection.token);
    expect(logs).not.toContain(headers.authorization!.slice('Bearer '.length));
  });
});
