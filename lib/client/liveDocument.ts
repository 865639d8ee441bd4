import { LOG_SECONDS, MAX_CHANGES } from '../live/rules/changes.ts';
import type { LiveStateMessage, LiveStateResponse } from '../liveState/rules.ts';
import type { PresenceMessage, PresenceResponse } from '../presence/rules.ts';
import { BoundedMap } from '../shared/boundedMap.ts';
import { isFinal, pauseBeforeRetry, ServiceError } from './calls.ts';
import { Emitter } from './emitter.ts';
import { EventSocket, type SocketConstructor } from './eventSocket.ts';
import { NewestValues, VersionOrder } from './liveView.ts';
import { OwnPresence, type OwnPresenceFields } from './ownPresence.ts';
import { pages } from './pages.ts';
import { type SeenThread, SeenThreads } from './seenThreads.ts';
import type { CallOptions } from './types.ts';

export interface DocumentName {
  readonly organizationId: string;
  readonly documentId: string;
}

/** A change without its content. Read the content with the client's methods. */
export interface LiveHint {
  readonly type: string;
  readonly at: number;
  readonly ids?: Readonly<Record<string, string | number>>;
}

/**
 * A change of an editor. `update` is a Yjs update in base64. It is absent for example if it is large or was missed:
 * read the editor with `/v2/crdt/updates/get`.
 */
export interface EditorMessage {
  readonly type: 'crdt.update';
  readonly at: number;
  readonly editorId: string;
  readonly editorKey: string;
  readonly update?: string;
  readonly by?: string;
}

/**
 * The connection has ended for good if the service refused it (`denied`), the document has another id (`migrated`), or
 * the page has closed it (`closed`).
 */
export type LiveStatus = 'connecting' | 'live' | 'offline' | 'denied' | 'migrated' | 'closed';

export interface LiveEvents {
  readonly status: LiveStatus;
  /**
   * Read the content now, for example at the start of the connection, or because the client missed changes that it can
   * no longer read.
   */
  readonly reload: undefined;
  /** The document has another id, and the connection has ended. Open the document under the new id. */
  readonly migrated: { readonly newDocumentId: string };
  readonly presence: readonly PresenceResponse[];
  /** A listener that is added later first gets the last state of each id. */
  readonly livestate: LiveStateResponse;
  readonly crdt: EditorMessage;
  readonly awareness: object;
  /** The type `comment_annotation.hide` means that the user can no longer see the thread. */
  readonly comment: LiveHint;
  readonly reaction: LiveHint;
  readonly recording: LiveHint;
  readonly activity: LiveHint;
  readonly notification: LiveHint;
  readonly editor: LiveHint;
  /** Every hint, also those that have an event of their own. */
  readonly hint: LiveHint;
}

type Versioned = LiveHint & { readonly version: number };
type DocumentMessage = Versioned | PresenceMessage | LiveStateMessage | { readonly type: 'system.revoked' } | Migrated;

interface Migrated {
  readonly type: 'system.migrated';
  readonly newDocumentId: string;
}

interface LiveConnection {
  readonly url: string;
  readonly host: string;
  readonly token: string;
  readonly expiresAt: number;
  readonly channels: { readonly document: string; readonly awareness: string; readonly user: string };
}

interface MissedChanges {
  readonly hints: readonly object[];
  readonly userHints: readonly object[];
  readonly version: number;
  readonly complete: boolean;
  readonly hasMore: boolean;
}

type Call<D, R> = (data: D, options?: CallOptions) => Promise<{ readonly data: R }>;

export interface LiveMethods {
  readonly v2: {
    readonly commentannotations: {
      readonly views: {
        readonly add: Call<
          DocumentName & { annotationIds: string[]; userId: string },
          Readonly<Record<string, SeenThread>>
        >;
      };
    };
    readonly live: {
      readonly connect: Call<DocumentName, LiveConnection>;
      readonly changes: Call<DocumentName & { after: number }, MissedChanges>;
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
      readonly get: (
        data: DocumentName & { pageToken?: string | undefined },
        options?: CallOptions,
      ) => Promise<{
        readonly data: { readonly states: readonly LiveStateResponse[] };
        readonly nextPageToken: string | null;
      }>;
    };
  };
}

export interface LiveDocumentPorts {
  readonly methods: LiveMethods;
  readonly document: DocumentName;
  readonly WebSocket: SocketConstructor;
  readonly userId: () => string | undefined;
  readonly release: () => boolean;
}

const STABLE_MILLISECONDS = 30_000;
/** The token of the connection is renewed this long before it expires. */
const RENEW_MILLISECONDS = 60_000;
/** The clock of the client may be wrong, so the time until a token is renewed has limits. */
const [MIN_RENEWAL, MAX_RENEWAL] = [60_000, 14 * 60_000];
const CHECK_MILLISECONDS = 120_000;
/** Hints of the user's own channel have no version, so the client compares their texts to report each once. */
const MAX_REMEMBERED_HINTS = 1_000;
/** The service may use the former access for up to 10 s, so listeners get `reload` after that time. */
const ACCESS_MILLISECONDS = 11_000;
/** With this value as `after`, `live/changes` answers with the newest version and no hints of the document channel. */
const NEWEST = Number.MAX_SAFE_INTEGER;
const MAX_READS = 100;
const eventOfFamily: Readonly<Record<string, keyof LiveEvents>> = { comment_annotation: 'comment' };

/**
 * Reconnects after a loss of connection, with growing random pauses, and reads the changes that it missed. Never
 * replaces a state by an older one.
 */
export class LiveDocument {
  readonly presence: {
    readonly set: (fields?: OwnPresenceFields) => void;
    readonly leave: () => Promise<void>;
    readonly users: () => readonly PresenceResponse[];
  };
  readonly #ports: LiveDocumentPorts;
  readonly #events = new Emitter<LiveEvents>();
  readonly #users = new NewestValues<PresenceResponse>(
    ({ userId }) => userId,
    ({ changedAt }) => changedAt,
  );
  readonly #states = new NewestValues<LiveStateResponse>(
    ({ liveStateDataId }) => liveStateDataId,
    ({ at }) => at,
  );
  readonly #order = new VersionOrder<Versioned>();
  readonly #reportedHints = new BoundedMap<string, true>(MAX_REMEMBERED_HINTS);
  #readAt = 0;
  #needsReload = false;
  readonly #own: OwnPresence;
  readonly #seen: SeenThreads;
  #status: LiveStatus = 'connecting';
  #denial: ServiceError | undefined;
  #socket: EventSocket | undefined;
  #connection: LiveConnection | undefined;
  #catchUp: Promise<void> | undefined;
  #renewal: ReturnType<typeof setTimeout> | undefined;
  #check: ReturnType<typeof setTimeout> | undefined;
  #reload: ReturnType<typeof setTimeout> | undefined;
  #endPause: (() => void) | undefined;
  readonly #onOnline = () => this.#endPause?.();
  /** Browsers keep WebSockets open when they go offline, so the client closes its own. */
  readonly #onOffline = () => this.#disconnect();

  constructor(ports: LiveDocumentPorts) {
    this.#ports = ports;
    const { methods, document } = ports;
    // Before the first token, the id is undefined. The service then fills in the user of the token.
    const self = () => ({ userId: ports.userId() as string });
    this.#own = new OwnPresence({
      send: (fields) => methods.v2.presence.add({ ...document, users: [{ ...self(), ...fields }] }),
      leave: (options) => methods.v2.presence.delete({ ...document, userIds: [self().userId] }, options),
    });
    this.#seen = new SeenThreads(async (annotationIds) => {
      const { data } = await methods.v2.commentannotations.views.add({ ...document, annotationIds, ...self() });
      return data;
    });
    this.presence = {
      set: (fields = {}) => this.#own.set(fields),
      leave: () => this.#own.leave(),
      users: () => this.#presentUsers,
    };
    (globalThis as Partial<EventTarget>).addEventListener?.('online', this.#onOnline);
    (globalThis as Partial<EventTarget>).addEventListener?.('offline', this.#onOffline);
    void this.#run();
  }

  get status(): LiveStatus {
    return this.#status;
  }

  get denial(): ServiceError | undefined {
    return this.#denial;
  }

  /**
   * Uses of a document share its connection, so a later listener first gets `reload`, `presence` and `livestate` as
   * they are now. Returns the function that removes the listener.
   */
  on<N extends keyof LiveEvents>(name: N, listener: (value: LiveEvents[N]) => void): () => void {
    const remove = this.#events.on(name, listener);
    let isRemoved = false;
    if (this.#readAt > 0) {
      queueMicrotask(() => {
        if (!isRemoved && !this.#hasStopped()) for (const value of this.#currentValues(name)) listener(value);
      });
    }
    return () => {
      isRemoved = true;
      remove();
    };
  }

  #currentValues<N extends keyof LiveEvents>(name: N): readonly LiveEvents[N][] {
    const values: { readonly [E in keyof LiveEvents]?: readonly LiveEvents[E][] } = {
      reload: [undefined],
      presence: [this.#presentUsers],
      livestate: this.#states.all,
    };
    return values[name] ?? [];
  }

  get #presentUsers(): PresenceResponse[] {
    return this.#users.all.sort((a, b) => (a.userId < b.userId ? -1 : 1));
  }

  state(liveStateDataId: string): LiveStateResponse | undefined {
    return this.#states.get(liveStateDataId);
  }

  /**
   * `seen` reports that the thread is shown to the user now, so that it is read. Calls within 0.1 s are one request.
   * `success` is false for a thread that the user may not see.
   */
  thread(annotationId: string): { readonly seen: () => Promise<SeenThread> } {
    return { seen: () => this.#seen.add(annotationId) };
  }

  /** Stores data under an id, and sends it to all users in the document. */
  async broadcast(
    liveStateDataId: string,
    data: Record<string, unknown>,
    options: { merge?: boolean } = {},
  ): Promise<void> {
    await this.#ports.methods.v2.livestate.broadcast({ ...this.#ports.document, liveStateDataId, data, ...options });
  }

  /** Sends an event, such as a cursor position, to the other clients. Does nothing without a connection. */
  async publish(event: object): Promise<void> {
    if (this.#status !== 'live' || !this.#connection) return;
    await this.#socket?.publish(this.#connection.channels.awareness, [event]).catch(() => undefined);
  }

  /** The connection ends with the last use of the document. */
  async close(): Promise<void> {
    if (this.#status === 'closed' || !this.#ports.release()) return;
    const left = this.#own.leave();
    this.#seen.flush();
    this.#stop('closed');
    this.#events.clear();
    await left;
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
        if (isFinal(error)) this.#deny(error);
      }
      this.#disconnect();
      if (this.#hasStopped()) return;
      this.#setStatus('offline');
      failures = Date.now() - liveSince > STABLE_MILLISECONDS ? 0 : failures + 1;
      await this.#wait(pauseBeforeRetry(failures));
    }
  }

  #hasStopped(): boolean {
    return ['closed', 'denied', 'migrated'].includes(this.#status);
  }

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
    await socket.open();
    await Promise.all(
      [channels.document, channels.awareness, channels.user].map((channel) => socket.subscribe(channel)),
    );
    await this.#catchUp?.catch(() => undefined);
    await this.#synchronise();
    if (socket !== this.#socket) throw new Error('The connection was ended');
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
  }

  #scheduleRenewal({ expiresAt, channels }: LiveConnection, socket: EventSocket): void {
    const renew = async () => {
      try {
        const { data } = await this.#ports.methods.v2.live.connect(this.#ports.document);
        if (socket !== this.#socket) return;
        // The document has new channels after a user lost access. A new connection subscribes to them.
        if (JSON.stringify(data.channels) !== JSON.stringify(channels)) this.#disconnect();
        else {
          socket.renewToken(data.token);
          this.#scheduleRenewal(data, socket);
        }
      } catch (error) {
        if (socket !== this.#socket) return;
        if (isFinal(error)) this.#deny(error);
        else this.#disconnect();
      }
    };
    const pause = expiresAt - Date.now() - RENEW_MILLISECONDS;
    this.#renewal = setTimeout(() => void renew(), Math.min(Math.max(pause, MIN_RENEWAL), MAX_RENEWAL));
  }

  /** If the last message of a channel was lost, only this read finds the change. */
  #scheduleCheck(socket: EventSocket): void {
    const check = async () => {
      try {
        await this.#synchronise();
        if (socket === this.#socket) this.#scheduleCheck(socket);
      } catch {
        if (socket === this.#socket) this.#disconnect();
      }
    };
    this.#check = setTimeout(() => void check(), CHECK_MILLISECONDS * (0.75 + Math.random() / 2));
  }

  #receive(socket: EventSocket, channel: string, event: unknown): void {
    if (socket !== this.#socket || typeof event !== 'object' || event === null) return;
    const { channels } = this.#connection as LiveConnection;
    if (channel === channels.awareness) {
      // Every user in the document can publish here, so an event whose type begins with `system.` is not from the
      // service.
      if (!isSystemMessage(event)) this.#events.emit('awareness', event);
    } else if (channel === channels.user) this.#showUserHint(event as LiveHint);
    else this.#receiveOfDocument(event as DocumentMessage);
  }

  #receiveOfDocument(message: DocumentMessage): void {
    if (message.type === 'system.revoked') this.#disconnect();
    else if (message.type === 'system.migrated') this.#leave(message as Migrated);
    else if (isPresence(message)) {
      const isNewer =
        message.type === 'presence.update'
          ? this.#users.set(message.user)
          : this.#users.remove(message.userId, message.at);
      if (isNewer) this.#showPresence();
    } else if (isLiveState(message)) this.#showState(message);
    else if (typeof (message as Partial<Versioned>).version === 'number') {
      const { messages, hasGap } = this.#order.take(message as Versioned);
      for (const hint of messages) this.#show(hint);
      if (hasGap && !this.#catchUp) this.#fillGap();
    }
  }

  #fillGap(): void {
    const socket = this.#socket;
    this.#synchronise().catch(() => {
      if (socket === this.#socket) this.#disconnect();
    });
  }

  async #synchronise(): Promise<void> {
    this.#catchUp ??= this.#readMissed().finally(() => (this.#catchUp = undefined));
    await this.#catchUp;
  }

  async #readMissed(): Promise<void> {
    const { methods, document } = this.#ports;
    const now = Date.now();
    // Hints of the user's own channel have no versions, so the time since the last read decides too.
    this.#needsReload ||= this.#order.version === undefined || now - this.#readAt > LOG_SECONDS * 1000;
    this.#users.beginRead();
    this.#states.beginRead();
    const [present, states] = await Promise.all([
      methods.v2.presence.get(document),
      this.#readStates().catch((error: unknown) => {
        if (!(error instanceof ServiceError) || error.status !== 'INVALID_ARGUMENT') throw error;
        return undefined;
      }),
      this.#readChanges(),
    ]);
    this.#users.applyRead(present.data.users);
    this.#showPresence();
    const stored = states ?? (this.#needsReload ? [] : this.#states.all);
    for (const state of this.#states.applyRead(stored)) this.#events.emit('livestate', state);
    this.#readAt = now;
    if (!this.#needsReload) return;
    this.#needsReload = false;
    this.#events.emit('reload', undefined);
  }

  async #readStates(): Promise<LiveStateResponse[]> {
    const { methods, document } = this.#ports;
    const states: LiveStateResponse[] = [];
    for await (const { data } of pages(methods.v2.livestate.get, document)) states.push(...data.states);
    return states;
  }

  async #readChanges(): Promise<void> {
    const { methods, document } = this.#ports;
    for (let reads = 1; ; reads++) {
      const after = this.#needsReload ? NEWEST : (this.#order.version as number);
      const { data } = await methods.v2.live.changes({ ...document, after });
      const hasUserGap =
        data.userHints.length >= MAX_CHANGES &&
        !data.userHints.some((hint) => this.#reportedHints.has(JSON.stringify(hint)));
      for (const hint of data.userHints) this.#showUserHint(hint as LiveHint);
      this.#needsReload ||= !data.complete || hasUserGap;
      const released = this.#needsReload
        ? this.#order.restart(data.version)
        : this.#order.catchUp(data.hints as Versioned[], data.version);
      for (const hint of released) this.#show(hint);
      if (!data.hasMore && !this.#order.isWaiting) break;
      if (reads === MAX_READS) throw new Error('The log does not contain all missed changes of the document');
    }
  }

  #showUserHint(hint: LiveHint): void {
    const text = JSON.stringify(hint);
    if (this.#reportedHints.has(text)) return;
    this.#reportedHints.set(text, true);
    const documentId = hint.ids?.documentId ?? this.#ports.document.documentId;
    if (documentId !== this.#ports.document.documentId && !hint.type.startsWith('notification.')) return;
    this.#show(hint);
    if (hint.type === 'access.update') this.#scheduleReload();
  }

  #scheduleReload(): void {
    clearTimeout(this.#reload);
    this.#reload = setTimeout(() => this.#events.emit('reload', undefined), ACCESS_MILLISECONDS);
  }

  #show(hint: LiveHint): void {
    // `live/changes` replaces a hint that the user may not read by one of this type.
    if (hint.type === 'hidden') return;
    const family = hint.type.slice(0, hint.type.indexOf('.'));
    this.#events.emit('hint', hint);
    this.#events.emit(eventOfFamily[family] ?? (family as 'comment'), hint);
  }

  #showPresence(): void {
    const users = this.#presentUsers;
    this.#events.emit('presence', users);
    const userId = this.#ports.userId();
    this.#own.correct(users.find((user) => user.userId === userId));
  }

  #showState({ liveStateDataId, data, at }: LiveStateMessage): void {
    const state = { liveStateDataId, data, at };
    if (this.#states.set(state)) this.#events.emit('livestate', state);
  }

  #setStatus(status: LiveStatus): void {
    if (this.#status === status) return;
    this.#status = status;
    this.#events.emit('status', status);
  }

  #deny(error: ServiceError): void {
    this.#denial = error;
    this.#stop('denied');
  }

  /** A page that already opened the new id only needs the new channels. */
  #leave({ newDocumentId }: Migrated): void {
    if (newDocumentId === this.#ports.document.documentId) return void this.#disconnect();
    this.#stop('migrated');
    this.#events.emit('migrated', { newDocumentId });
  }

  #stop(status: 'denied' | 'migrated' | 'closed'): void {
    this.#setStatus(status);
    clearTimeout(this.#reload);
    this.#disconnect();
    this.#own.close();
    (globalThis as Partial<EventTarget>).removeEventListener?.('online', this.#onOnline);
    (globalThis as Partial<EventTarget>).removeEventListener?.('offline', this.#onOffline);
    this.#endPause?.();
  }

  async #wait(milliseconds: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.#endPause = undefined;
        resolve();
      };
      const timer = setTimeout(end, milliseconds);
      this.#endPause = end;
    });
  }
}

function isSystemMessage(event: object): boolean {
  return 'type' in event && typeof event.type === 'string' && event.type.startsWith('system.');
}

function isPresence(message: DocumentMessage): message is PresenceMessage {
  return message.type.startsWith('presence.');
}

function isLiveState(message: DocumentMessage): message is LiveStateMessage {
  return message.type === 'livestate.update';
}
