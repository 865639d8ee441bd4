import * as Y from 'yjs';
import type { SocketLike } from '../../lib/client/eventSocket.ts';
import { createUserClient, type UserClient } from '../../lib/client/userClient.ts';
import { changesSince, MAX_CHANGES } from '../../lib/live/rules/changes.ts';
import type { VersionedHint } from '../../lib/live/rules/hints.ts';
import { INVALID_USER_TOKEN } from '../../lib/shared/accessDenied.ts';
import { errorCatalogue, type ErrorStatus } from '../../lib/shared/errors.ts';

const CONNECTING = 0;
const OPEN = 1;
const CLOSED = 3;
const KEEP_ALIVE = 60_000;
const channels = { document: '/live/t/o/d', awareness: '/live/t/o/d/awareness', user: '/user/t/u' };

type Json = Record<string, any>;

class Refusal extends Error {
  readonly status: ErrorStatus;
  readonly details: object | undefined;
  constructor(status: ErrorStatus, message = 'refused', details?: object) {
    super(message);
    this.status = status;
    this.details = details;
  }
}

interface FakeRequest {
  readonly body: string;
  readonly headers: Record<string, string>;
  readonly keepalive?: boolean;
}

/**
 * The `fetch` and the WebSocket class with which a client connects to the fake service. `cut` ends the connection for
 * good.
 */
export interface Connection {
  readonly fetch: typeof fetch;
  readonly WebSocket: new (url: string, protocols: string[]) => SocketLike;
  readonly cut: () => void;
}

/** Returns a client of a user that uses this connection. */
export function clientOf(
  { fetch, WebSocket }: Pick<Connection, 'fetch' | 'WebSocket'>,
  token = () => Promise.resolve('h.e30.s'),
): UserClient {
  return createUserClient({ baseUrl: 'https://api.test', token, fetch, WebSocket });
}

/**
 * A fake service in memory with one document. It has the endpoints and the WebSocket protocol of clients of users.
 * Answers and messages take some milliseconds of timers, so tests can interrupt them.
 */
export class FakeLive {
  editor = new Y.Doc();
  /** The key of the editor. Undefined while the editor is deleted. */
  editorKey: string | undefined = 'edt_0';
  /** All messages of the document channel that have a version, in order. */
  readonly log: Json[] = [];
  readonly users = new Map<string, Json>();
  readonly states = new Map<string, Json>();
  /** The versions of the editor, the oldest first. `doc` has the state. */
  readonly versions: { versionId: string; name?: string; doc: Y.Doc }[] = [];
  readonly sockets = new Set<FakeSocket>();
  readonly calls: { path: string; data: Json; authorization: string; keepalive: boolean }[] = [];
  /** All hints of the user's channel, in order. */
  readonly userLog: Json[] = [];
  /** Whether the service refuses calls and connections. */
  isDown = false;
  isDenied = false;
  /** The error status of the calls that fail, by path. */
  readonly refusals = new Map<string, ErrorStatus>();
  /** Whether a job gives the document another id, so that edits fail. */
  isMigrating = false;
  /** Returns whether the service refuses a user token. */
  refusesToken: (token: string) => boolean = () => false;
  /** Whether messages to the channels of the document and of the user get lost. */
  losesPushes = false;
  /** Whether a message's `event` is a list with one text, as AWS documents it. Otherwise it is that text. */
  sendsLists = false;
  /** Whether the service sends no keep-alive messages. */
  isSilent = false;
  /** The oldest version of which the log still has the change. */
  oldest = 1;
  epoch = 0;
  statesPerPage = 1_000;
  latency = () => 5;
  /** How far the clock of the service is ahead of the client's clock, in milliseconds. */
  clockLead = 0;
  /** Returns whether the answer to a call gets lost. The call itself is carried out. */
  crash: () => boolean = () => false;

  get channels() {
    const suffix = this.epoch === 0 ? '' : `-${this.epoch}`;
    return { ...channels, document: channels.document + suffix, awareness: `${channels.document}${suffix}/awareness` };
  }

  /** The `fetch` of a client that is not cut. */
  readonly fetch = (async (url: URL, { body, headers, keepalive = false }: FakeRequest) => {
    await this.#travel();
    if (this.#isUnreachable()) throw new TypeError('fetch failed');
    const path = new URL(url).pathname;
    const { data } = JSON.parse(body) as { data: Json };
    this.calls.push({ path, data, authorization: headers.authorization ?? '', keepalive });
    try {
      const result = this.#answer(path, data, headers.authorization ?? '');
      await this.#travel();
      if (this.#isUnreachable() || this.crash()) throw new TypeError('fetch failed');
      const { nextPageToken, listed, ...answer } = result;
      return new Response(
        JSON.stringify({
          result: { status: 'success', message: 'Done.', data: { ...answer, ...listed }, nextPageToken },
        }),
      );
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { status, message, details } = error;
      return new Response(JSON.stringify({ error: { status, message, details } }), {
        status: errorCatalogue[status].http,
      });
    }
  }) as unknown as typeof fetch;

  /** The WebSocket class of a client that is not cut. */
  get WebSocket(): new (url: string, protocols: string[]) => FakeSocket {
    return FakeSocket.bind(null, this, new Set());
  }

  /** Returns a new connection. After its `cut`, it never works again. */
  connection(): Connection {
    let isCut = false;
    const hasBeenCut = () => isCut;
    const sockets = new Set<FakeSocket>();
    const cutFetch: typeof fetch = async (...request) => {
      if (hasBeenCut()) throw new TypeError('fetch failed');
      const answer = await this.fetch(...request);
      if (hasBeenCut()) throw new TypeError('fetch failed');
      return answer;
    };
    return {
      fetch: cutFetch,
      WebSocket: FakeSocket.bind(null, this, sockets),
      cut: () => {
        isCut = true;
        for (const socket of sockets) socket.end();
      },
    };
  }

  /** Publishes a message of the document channel with the next version. */
  hint(message: Json): void {
    const versioned: Json = { at: Date.now(), ...message, version: this.log.length + 1 };
    this.log.push(versioned);
    this.push(this.channels.document, versioned);
  }

  /** Deletes the editor `summary`. */
  deleteEditor(): void {
    this.editorKey = undefined;
    this.hint({ type: 'editor.delete', ids: { editorId: 'summary' } });
  }

  /** Adds the editor `summary` again, with the text `text`. */
  addEditor(text: string): void {
    this.editor = new Y.Doc();
    this.editor.getText('content').insert(0, text);
    this.editorKey = `edt_${this.log.length}`;
    this.hint({ type: 'editor.add', ids: { editorId: 'summary' } });
    this.hintEditor(Y.encodeStateAsUpdate(this.editor));
  }

  /** Publishes a change of the editor `summary`. Without `update`, the message is that of a large change. */
  hintEditor(update?: Uint8Array): void {
    const content = update && { update: Buffer.from(update).toString('base64') };
    this.hint({ type: 'crdt.update', editorId: 'summary', editorKey: this.editorKey, ...content });
  }

  /** Publishes a hint to the channel of the user. */
  hintForUser(message: Json): void {
    const hint = { at: Date.now(), ...message };
    this.userLog.push(hint);
    this.push(this.channels.user, hint);
  }

  push(channel: string, event: Json): void {
    if (this.losesPushes && channel !== this.channels.awareness) return;
    for (const socket of this.sockets) socket.deliver(channel, event);
  }

  /** Ends all WebSocket connections without notice. */
  disconnect(): void {
    for (const socket of [...this.sockets]) socket.end();
  }

  /** Gives the document new channels, as the service does when a user loses access. */
  revoke(): void {
    const { document } = this.channels;
    this.epoch += 1;
    for (const socket of this.sockets) socket.deliver(document, { type: 'system.revoked' });
  }

  /** Gives the document a new id, at the end of its migration. */
  migrate(newDocumentId: string): void {
    const { document } = this.channels;
    this.isMigrating = false;
    this.epoch += 1;
    this.refusals.clear();
    for (const socket of this.sockets) socket.deliver(document, { type: 'system.migrated', newDocumentId });
  }

  /** Keeps the state of the editor as a version, and returns its id. */
  keepVersion(name?: string): string {
    const doc = new Y.Doc();
    Y.applyUpdate(doc, Y.encodeStateAsUpdate(this.editor));
    const versionId = `ver_${this.versions.length}`;
    this.versions.push({ versionId, ...(name !== undefined && { name }), doc });
    return versionId;
  }

  #version(id: string): Json {
    const version = this.versions.find(({ versionId }) => versionId === id);
    if (!version) throw new Refusal('NOT_FOUND');
    return version;
  }

  #isUnreachable(): boolean {
    return this.isDown;
  }

  #statesPage({ pageToken }: Json): Json {
    const from = Number(pageToken ?? 0);
    const states = [...this.states.values()].slice(from, from + this.statesPerPage);
    const end = from + states.length;
    return { states, nextPageToken: end < this.states.size ? String(end) : null };
  }

  #requireEditor({ editorKey }: Json): void {
    if (this.editorKey === undefined || (editorKey ?? this.editorKey) !== this.editorKey)
      throw new Refusal('NOT_FOUND');
  }

  async #travel(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, this.latency()));
  }

  #answer(path: string, data: Json, authorization: string): Json {
    if (this.refusesToken(authorization.replace('Bearer ', '')))
      throw new Refusal('PERMISSION_DENIED', INVALID_USER_TOKEN);
    const refusal = this.isDenied ? 'PERMISSION_DENIED' : this.refusals.get(path);
    if (refusal) throw new Refusal(refusal);
    switch (path) {
      case '/v2/live/connect':
        return {
          url: 'ws://live.test/event/realtime',
          host: 'live.test',
          token: `live-${authorization}`,
          expiresAt: Date.now() + this.clockLead + 15 * 60_000,
          channels: this.channels,
        };
      case '/v2/live/changes': {
        const missing = this.log.filter((hint) => hint.version > data.after && hint.version >= this.oldest);
        const kept = missing.map(({ update: _update, ...hint }) => hint) as VersionedHint[];
        return { ...changesSince(data.after, this.log.length, kept), userHints: this.userLog.slice(-MAX_CHANGES) };
      }
      case '/v2/commentannotations/views/add':
        return Object.fromEntries(data.annotationIds.map((id: string) => [id, { success: id !== 'hidden' }]));
      case '/v2/presence/get':
        return { users: [...this.users.values()] };
      case '/v2/presence/add':
        for (const { userId, status } of data.users) {
          const user = { userId, status, changedAt: Date.now(), leaseEndsAt: Date.now() + 30_000 };
          this.users.set(userId, user);
          this.push(this.channels.document, { type: 'presence.update', at: user.changedAt, user });
        }
        return { success: true };
      case '/v2/presence/delete':
        for (const userId of data.userIds) {
          this.users.delete(userId);
          this.push(this.channels.document, { type: 'presence.remove', at: Date.now(), userId });
        }
        return { success: true };
      case '/v2/livestate/get':
        return this.#statesPage(data);
      case '/v2/livestate/broadcast': {
        const state = { liveStateDataId: data.liveStateDataId, data: data.data, at: Date.now() };
        this.states.set(state.liveStateDataId, state);
        this.push(this.channels.document, { type: 'livestate.update', ...state });
        return { success: true };
      }
      case '/v2/crdt/updates/get': {
        this.#requireEditor(data);
        const vector = data.stateVector ? Buffer.from(data.stateVector, 'base64') : undefined;
        return {
          editorKey: this.editorKey,
          update: Buffer.from(Y.encodeStateAsUpdate(this.editor, vector)).toString('base64'),
          ...(data.version === undefined && {
            stateVector: Buffer.from(Y.encodeStateVector(this.editor)).toString('base64'),
          }),
          version: this.log.length,
        };
      }
      case '/v2/crdt/updates/push': {
        if (this.isMigrating) throw new Refusal('FAILED_PRECONDITION', 'migrates', { migrationId: 'mig_0' });
        this.#requireEditor(data);
        const update = Buffer.from(data.update, 'base64');
        if (!Y.snapshotContainsUpdate(Y.snapshot(this.editor), update)) {
          Y.applyUpdate(this.editor, update);
          this.hintEditor(update);
        }
        return { version: this.log.length };
      }
      case '/v2/crdt/versions/add':
        return { versionId: this.keepVersion(data.name), createdAt: '', authors: [] };
      case '/v2/crdt/versions/get': {
        if (data.versionId === undefined) {
          const from = Number(data.pageToken ?? 0);
          const versions = this.versions.toReversed().map(({ doc: _, ...version }) => version);
          const end = from + Number(data.pageSize ?? 100);
          return {
            versions: versions.slice(from, end),
            listed: { nextPageToken: end < versions.length ? String(end) : null },
          };
        }
        const { doc, ...version } = this.#version(data.versionId);
        const state = Buffer.from(Y.encodeStateAsUpdate(doc)).toString('base64');
        if (data.includeState) return { version, state };
        return { version, data: doc.getText('content').toJSON() };
      }
      case '/v2/crdt/versions/restore': {
        const { doc } = this.#version(data.versionId);
        const keptVersionId = this.keepVersion('Before restore');
        const text = this.editor.getText('content');
        const before = Y.encodeStateVector(this.editor);
        this.editor.transact(() => {
          text.delete(0, text.length);
          text.insert(0, doc.getText('content').toJSON());
        });
        this.hintEditor(Y.encodeStateAsUpdate(this.editor, before));
        this.hint({ type: 'editor.restore', ids: { editorId: data.editorId, versionId: data.versionId } });
        return { restoredVersionId: data.versionId, keptVersionId };
      }
      case '/v2/crdt/versions/update':
        this.#version(data.versionId).name = data.name;
        return { versionId: data.versionId };
      case '/v2/crdt/versions/delete':
        return Object.fromEntries(data.versionIds.map((id: string) => [id, { success: true, message: '' }]));
      case '/v2/crdt/versions/compare':
        return { operations: [{ at: 0, delete: 0, insert: `${data.from} to ${data.to ?? 'now'}` }] };
      default:
        throw new Refusal('NOT_FOUND');
    }
  }
}

/** A connection to the fake service. */
class FakeSocket implements SocketLike {
  readyState = CONNECTING;
  onopen: ((event: never) => void) | null = null;
  onmessage: ((event: { readonly data: unknown }) => void) | null = null;
  onclose: ((event: never) => void) | null = null;
  onerror: ((event: never) => void) | null = null;
  readonly protocols: readonly string[];
  readonly #service: FakeLive;
  readonly #subscriptions = new Map<string, string>();
  #keepAlive: ReturnType<typeof setInterval> | undefined;

  /** Adds the new socket to `siblings`. */
  constructor(service: FakeLive, siblings: Set<FakeSocket>, _url: string, protocols: string[]) {
    this.#service = service;
    siblings.add(this);
    this.protocols = protocols;
    setTimeout(() => {
      if (this.readyState !== CONNECTING) return;
      if (service.isDown) {
        this.end();
        return;
      }
      this.readyState = OPEN;
      service.sockets.add(this);
      this.#keepAlive = setInterval(() => {
        if (!service.isSilent) this.#reply({ type: 'ka' });
      }, KEEP_ALIVE);
      this.onopen?.({} as never);
    }, service.latency());
  }

  send(text: string): void {
    const message = JSON.parse(text) as Json;
    setTimeout(() => this.#handle(message), this.#service.latency());
  }

  close(): void {
    this.end();
  }

  end(): void {
    if (this.readyState === CLOSED) return;
    this.readyState = CLOSED;
    clearInterval(this.#keepAlive);
    this.#service.sockets.delete(this);
    setTimeout(() => this.onclose?.({} as never), 0);
  }

  deliver(channel: string, event: Json): void {
    for (const [id, subscribed] of this.#subscriptions)
      if (subscribed === channel) {
        const text = JSON.stringify(event);
        this.#reply({ type: 'data', id, event: this.#service.sendsLists ? [text] : text });
      }
  }

  #handle(message: Json): void {
    if (this.readyState !== OPEN) return;
    const { type, id, channel } = message;
    if (type === 'connection_init') this.#reply({ type: 'connection_ack', connectionTimeoutMs: 300_000 });
    else if (type === 'subscribe') {
      if (!Object.values(this.#service.channels).includes(channel)) {
        this.#reply({ type: 'subscribe_error', id, errors: [{ errorType: 'UnauthorizedException' }] });
        return;
      }
      this.#subscriptions.set(id, channel);
      this.#reply({ type: 'subscribe_success', id });
    } else if (type === 'publish') {
      for (const event of message.events) this.#service.push(channel, JSON.parse(event) as Json);
      this.#reply({ type: 'publish_success', id, successful: [], failed: [] });
    }
  }

  #reply(message: Json): void {
    if (this.readyState === OPEN) this.onmessage?.({ data: JSON.stringify(message) });
  }
}

/**
 * Runs a test in which the global object has the events of a browser's window. The test dispatches events on `window`.
 */
export async function inBrowser(run: (window: EventTarget) => Promise<void>): Promise<void> {
  const window = new EventTarget();
  Object.assign(globalThis, {
    addEventListener: window.addEventListener.bind(window),
    removeEventListener: window.removeEventListener.bind(window),
  });
  try {
    await run(window);
  } finally {
    Reflect.deleteProperty(globalThis, 'addEventListener');
    Reflect.deleteProperty(globalThis, 'removeEventListener');
  }
}
