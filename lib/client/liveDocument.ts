import type { LiveStateMessage, LiveStateResponse } from '../liveState/rules.ts';
import type { PresenceMessage, PresenceResponse } from '../presence/rules.ts';
import { ServiceError } from './calls.ts';
import { Emitter } from './emitter.ts';
import { EventSocket, type SocketConstructor } from './eventSocket.ts';
import { LiveStateView, PresenceView, VersionOrder } from './liveView.ts';
import { OwnPresence, type OwnPresenceFields } from './ownPresence.ts';
import type { CallOptions } from './types.ts';

/** The ids of a document and its organization, which your application chose. */
export interface DocumentName {
  readonly organizationId: string;
  readonly documentId: string;
}

/** A message that content has changed. It does not contain the content, so read the content with the methods of the client. */
export interface LiveHint {
  readonly type: string;
  /** The time of the change, epoch milliseconds. */
  readonly at: number;
  readonly ids?: Readonly<Record<string, string | number>>;
}

/** A change of a collaborative editor. It has no `update` if the update is large or was missed. */
export interface EditorMessage {
  readonly type: 'crdt.update';
  readonly at: number;
  readonly editorId: string;
  /** An update of Yjs in base64. */
  readonly update?: string;
  readonly by?: string;
}

/** The status of a live document. `denied` means that the user may not open the document; the connection has ended. */
export type LiveStatus = 'connecting' | 'live' | 'offline' | 'denied' | 'closed';

export interface LiveEvents {
  readonly status: LiveStatus;
  /** Your application must read the content of the document. Sent at the start, and after missed changes that cannot be read. */
  readonly reload: undefined;
  /** All users who are present. */
  readonly presence: readonly PresenceResponse[];
  readonly livestate: LiveStateResponse;
  readonly crdt: EditorMessage;
  /** An event that another client published, such as a cursor. */
  readonly awareness: object;
  /** A thread or comment changed. With the type `comment_annotation.hide`, the user can no longer see the thread. */
  readonly comment: LiveHint;
  readonly reaction: LiveHint;
  readonly recording: LiveHint;
  readonly activity: LiveHint;
  readonly notification: LiveHint;
  readonly editor: LiveHint;
  /** Any hint. It is sent in addition to the event of its kind. */
  readonly hint: LiveHint;
}

type Versioned = LiveHint & { readonly version: number };
type DocumentMessage = Versioned | PresenceMessage | LiveStateMessage | { readonly type: 'system.revoked' };

interface Connection {
  readonly url: string;
  readonly host: string;
  readonly token: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
  readonly channels: { readonly document: string; readonly awareness: string; readonly user: string };
}

interface Changes {
  readonly hints: readonly object[];
  readonly userHints: readonly object[];
  readonly version: number;
  readonly complete: boolean;
  readonly hasMore: boolean;
}

type Call<D, R> = (data: D, options?: CallOptions) => Promise<{ readonly data: R }>;

/** The methods of a user's client that a live document uses. */
export interface LiveMethods {
  readonly v2: {
    readonly live: {
      readonly connect: Call<DocumentName, Connection>;
      readonly changes: Call<DocumentName & { after: number }, Changes>;
    };
    readonly presence: {
      readonly add: Call<
        DocumentName & { users: ({ userId: string } & OwnPresenceFields & { leaseSeconds: number })[] },
        unknown
      >;
      readonly delete: Call<DocumentName & { userIds: string[] }, unknown>;
      readonly get: Call<DocumentName, { readonly users: readonly PresenceResponse[] }>;
    };
    readonly livestate: {
      readonly broadcast: Call<
        DocumentName & { liveStateDataId: string; data: Record<string, unknown>; merge?: boolean },
        unknown
      >;
      readonly get: Call<DocumentName, { readonly states: readonly LiveStateResponse[] }>;
    };
  };
}

export interface LivePorts {
  readonly methods: LiveMethods;
  readonly document: DocumentName;
  readonly WebSocket: SocketConstructor;
  /** Returns the user id in the token, or undefined before the first token. */
  readonly userId: () => string | undefined;
  /** Ends one use of the shared connection. Returns whether it was the last one. */
  readonly release: () => boolean;
}

const FIRST_PAUSE = 500;
const MAX_PAUSE_MILLISECONDS = 30_000;
/** How long a connection must last before the next pause is short again, in milliseconds. */
const STABLE_MILLISECONDS = 30_000;
/** How long before its expiry the token of the connection is renewed, in milliseconds. */
const RENEW_MILLISECONDS = 60_000;
/**
 * About how often the client reads missed changes and states, in milliseconds. The client notices a lost message after this time
 * at the latest.
 */
const CHECK_MILLISECONDS = 120_000;
/** The number of hints of the user's own channel that the client keeps, so that it reports each hint only once. */
const MAX_REMEMBERED_HINTS = 1_000;
/** The largest number of reads of one catch-up. Each read returns up to 500 changes. */
const MAX_READS = 100;
/** The events of hints whose family has another name than the event. */
const eventOfFamily: Readonly<Record<string, keyof LiveEvents>> = { comment_annotation: 'comment' };

/**
 * The live connection of a document. It reconnects by itself, with growing random pauses, and then reads missed changes. No
 * change is missed or shown twice, and an older state never replaces a newer state.
 */
export class LiveDocument {
  /** The presence of the own user, and the users who are present. */
  readonly presence: {
    readonly set: (fields?: OwnPresenceFields) => void;
    readonly leave: () => Promise<void>;
    readonly users: () => readonly PresenceResponse[];
  };
  readonly #ports: LivePorts;
  readonly #events = new Emitter<LiveEvents>();
  readonly #users = new PresenceView();
  readonly #states = new LiveStateView();
  readonly #order = new VersionOrder<Versioned>();
  readonly #reportedHints = new Set<string>();
  readonly #own: OwnPresence;
  #status: LiveStatus = 'connecting';
  #socket: EventSocket | undefined;
  #connection: Connection | undefined;
  /** Ends the wait for the end of the connection. */
  #end: (() => void) | undefined;
  #catchUp: Promise<void> | undefined;
  #renewal: ReturnType<typeof setTimeout> | undefined;
  #check: ReturnType<typeof setTimeout> | undefined;
  #pause: { readonly timer: ReturnType<typeof setTimeout>; readonly end: () => void } | undefined;
  readonly #onOnline = () => this.#pause?.end();
  /** A browser that goes offline does not end its WebSockets, so the client ends its own. */
  readonly #onOffline = () => this.#disconnect();

  constructor(ports: LivePorts) {
    this.#ports = ports;
    const { methods, document } = ports;
    // The service fills in the user of the token.
    const self = () => ({ userId: ports.userId() as string });
    this.#own = new OwnPresence({
      send: (fields) => methods.v2.presence.add({ ...document, users: [{ ...self(), ...fields }] }),
      leave: (options) => methods.v2.presence.delete({ ...document, userIds: [self().userId] }, options),
    });
    this.presence = {
      set: (fields = {}) => this.#own.set(fields),
      leave: () => this.#own.leave(),
      users: () => this.#users.users,
    };
    (globalThis as Partial<EventTarget>).addEventListener?.('online', this.#onOnline);
    (globalThis as Partial<EventTarget>).addEventListener?.('offline', this.#onOffline);
    void this.#run();
  }

  get status(): LiveStatus {
    return this.#status;
  }

  /** Adds a listener. Returns the function that removes it. */
  on<N extends keyof LiveEvents>(name: N, listener: (value: LiveEvents[N]) => void): () => void {
    return this.#events.on(name, listener);
  }

  /** Returns the last live state of an id. */
  state(liveStateDataId: string): LiveStateResponse | undefined {
    return this.#states.get(liveStateDataId);
  }

  /** Sends data to all users in the document, and stores it under an id. */
  async broadcast(
    liveStateDataId: string,
    data: Record<string, unknown>,
    options: { merge?: boolean } = {},
  ): Promise<void> {
    await this.#ports.methods.v2.livestate.broadcast({ ...this.#ports.document, liveStateDataId, data, ...options });
  }

  /** Publishes an event to the other clients, such as a cursor. It is lost if the connection is down. */
  async publish(event: object): Promise<void> {
    if (this.#status !== 'live' || !this.#connection) return;
    await this.#socket?.publish(this.#connection.channels.awareness, [event]).catch(() => undefined);
  }

  /** Ends this use of the connection. The last use also ends the connection. */
  async close(): Promise<void> {
    if (this.#status === 'closed' || !this.#ports.release()) return;
    await this.#own.leave();
    this.#stop('closed');
    this.#events.clear();
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (!this.#hasStopped()) {
      this.#setStatus('connecting');
      let liveSince = Infinity;
      try {
        const { ended } = await this.#connect();
        liveSince = Date.now();
        this.#setStatus('live');
        this.#own.setConnected(true);
        await ended;
      } catch (error) {
        if (isFinal(error)) this.#stop('denied');
      }
      this.#disconnect();
      if (this.#hasStopped()) return;
      this.#setStatus('offline');
      failures = Date.now() - liveSince > STABLE_MILLISECONDS ? 0 : failures + 1;
      await this.#wait(Math.random() * Math.min(FIRST_PAUSE * 2 ** failures, MAX_PAUSE_MILLISECONDS));
    }
  }

  #hasStopped(): boolean {
    return this.#status === 'closed' || this.#status === 'denied';
  }

  /** Opens a connection and reads missed changes. Returns a promise that resolves when the connection ends. */
  async #connect(): Promise<{ readonly ended: Promise<void> }> {
    const { methods, document, WebSocket } = this.#ports;
    const { data: connection } = await methods.v2.live.connect(document);
    if (this.#hasStopped()) throw new Error('The document was closed');
    const { promise: ended, resolve: end } = Promise.withResolvers<undefined>();
    const { url, host, token, channels } = connection;
    const socket = new EventSocket({
      url,
      host,
      token,
      WebSocket,
      onEvent: (channel, event) => this.#receive(socket, channel, event),
      onEnd: () => end(undefined),
    });
    this.#socket = socket;
    this.#connection = connection;
    this.#end = () => end(undefined);
    await socket.open();
    await Promise.all(
      [channels.document, channels.awareness, channels.user].map((channel) => socket.subscribe(channel)),
    );
    await this.#synchronise();
    this.#scheduleRenewal(connection, socket);
    this.#scheduleCheck(socket);
    return { ended };
  }

  #disconnect(): void {
    clearTimeout(this.#renewal);
    clearTimeout(this.#check);
    this.#own.setConnected(false);
    this.#socket?.close();
    this.#socket = undefined;
    this.#end?.();
  }

  #scheduleRenewal({ expiresAt, channels }: Connection, socket: EventSocket): void {
    const renew = async () => {
      try {
        const { data } = await this.#ports.methods.v2.live.connect(this.#ports.document);
        if (socket !== this.#socket) return;
        // The channels of a document change when a user loses access.
        if (JSON.stringify(data.channels) !== JSON.stringify(channels)) this.#reconnect();
        else {
          socket.renewToken(data.token);
          this.#scheduleRenewal(data, socket);
        }
      } catch (error) {
        if (socket !== this.#socket) return;
        if (isFinal(error)) this.#stop('denied');
        else this.#reconnect();
      }
    };
    this.#renewal = setTimeout(() => void renew(), Math.max(expiresAt - Date.now() - RENEW_MILLISECONDS, 1_000));
  }

  /** Reads what was missed from time to time. Without this read, the loss of a last hint, or of a state, would stay unnoticed. */
  #scheduleCheck(socket: EventSocket): void {
    const check = async () => {
      try {
        await this.#synchronise();
        if (socket === this.#socket) this.#scheduleCheck(socket);
      } catch {
        if (socket === this.#socket) this.#reconnect();
      }
    };
    this.#check = setTimeout(() => void check(), CHECK_MILLISECONDS * (0.75 + Math.random() / 2));
  }

  #receive(socket: EventSocket, channel: string, event: unknown): void {
    if (socket !== this.#socket || typeof event !== 'object' || event === null) return;
    const { channels } = this.#connection as Connection;
    if (channel === channels.awareness) {
      if ((event as DocumentMessage).type === 'system.revoked') this.#reconnect();
      else this.#events.emit('awareness', event);
    } else if (channel === channels.user) this.#showUserHint(event as LiveHint);
    else this.#receiveOfDocument(event as DocumentMessage);
  }

  #receiveOfDocument(message: DocumentMessage): void {
    if (message.type === 'system.revoked') this.#reconnect();
    else if (isPresence(message)) {
      if (this.#users.apply(message)) this.#showPresence();
    } else if (isLiveState(message)) this.#showState(message);
    else if (typeof (message as Partial<Versioned>).version === 'number') {
      const { messages: messages, hasGap } = this.#order.take(message as Versioned);
      for (const hint of messages) this.#show(hint);
      if (hasGap && !this.#catchUp) this.#fillGap();
    }
  }

  #reconnect(): void {
    // `#run` waits for the end of the connection and then connects again.
    this.#disconnect();
  }

  #fillGap(): void {
    this.#synchronise().catch(() => this.#reconnect());
  }

  /** Reads missed changes, the users who are present, and the live states. */
  async #synchronise(): Promise<void> {
    this.#catchUp ??= this.#readMissed().finally(() => (this.#catchUp = undefined));
    await this.#catchUp;
  }

  async #readMissed(): Promise<void> {
    const { methods, document } = this.#ports;
    this.#users.beginRead();
    const [present, states] = await Promise.all([
      methods.v2.presence.get(document),
      methods.v2.livestate.get(document).catch((error: unknown) => {
        // All states together are too large for one answer. The application must then read states by id.
        if (error instanceof ServiceError && error.status === 'INVALID_ARGUMENT') return { data: { states: [] } };
        throw error;
      }),
      this.#readChanges(),
    ]);
    this.#users.applyRead(present.data.users);
    this.#showPresence();
    for (const state of states.data.states) this.#showState(state);
  }

  async #readChanges(): Promise<void> {
    const { methods, document } = this.#ports;
    let needsReload = this.#order.version === undefined;
    for (let reads = 1; ; reads++) {
      const { data } = await methods.v2.live.changes({ ...document, after: this.#order.version ?? 0 });
      for (const hint of data.userHints) this.#showUserHint(hint as LiveHint);
      needsReload ||= !data.complete;
      const released = needsReload
        ? this.#order.restart(data.version)
        : this.#order.catchUp(data.hints as Versioned[], data.version);
      for (const hint of released) this.#show(hint);
      if (!data.hasMore && !this.#order.isWaiting) break;
      if (reads === MAX_READS) throw new Error('The log does not contain all missed changes of the document');
    }
    if (needsReload) this.#events.emit('reload', undefined);
  }

  /** Shows a hint of the user's own channel. The channel also has hints about threads in other documents. */
  #showUserHint(hint: LiveHint): void {
    const documentId = hint.ids?.documentId ?? this.#ports.document.documentId;
    if (documentId !== this.#ports.document.documentId && !hint.type.startsWith('notification.')) return;
    const text = JSON.stringify(hint);
    if (this.#reportedHints.has(text)) return;
    this.#reportedHints.add(text);
    const [oldest] = this.#reportedHints;
    if (this.#reportedHints.size > MAX_REMEMBERED_HINTS && oldest !== undefined) this.#reportedHints.delete(oldest);
    this.#show(hint);
  }

  #show(hint: LiveHint): void {
    const family = hint.type.slice(0, hint.type.indexOf('.'));
    this.#events.emit('hint', hint);
    this.#events.emit(eventOfFamily[family] ?? (family as 'comment'), hint);
  }

  #showPresence(): void {
    const { users } = this.#users;
    this.#events.emit('presence', users);
    const userId = this.#ports.userId();
    this.#own.correct(users.find((user) => user.userId === userId));
  }

  #showState(state: LiveStateMessage | LiveStateResponse): void {
    const applied = this.#states.apply(state);
    if (applied) this.#events.emit('livestate', applied);
  }

  #setStatus(status: LiveStatus): void {
    if (this.#status === status) return;
    this.#status = status;
    this.#events.emit('status', status);
  }

  #stop(status: 'denied' | 'closed'): void {
    this.#setStatus(status);
    this.#disconnect();
    this.#own.close();
    (globalThis as Partial<EventTarget>).removeEventListener?.('online', this.#onOnline);
    (globalThis as Partial<EventTarget>).removeEventListener?.('offline', this.#onOffline);
    this.#pause?.end();
  }

  async #wait(milliseconds: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.#pause = undefined;
        resolve();
      };
      const timer = setTimeout(end, milliseconds);
      this.#pause = { timer, end };
    });
  }
}

function isPresence(message: DocumentMessage): message is PresenceMessage {
  return message.type.startsWith('presence.');
}

function isLiveState(message: DocumentMessage): message is LiveStateMessage {
  return message.type === 'livestate.update';
}

/** Returns whether an error means that the user may not open the document. */
function isFinal(error: unknown): boolean {
  return error instanceof ServiceError && ['PERMISSION_DENIED', 'NOT_FOUND', 'INVALID_ARGUMENT'].includes(error.status);
}
