import { fromBase64, toBase64 } from 'lib0/buffer';
import { createDecoder, readVarString, readVarUint } from 'lib0/decoding';
import { createEncoder, toUint8Array, writeVarString, writeVarUint } from 'lib0/encoding';
import { applyAwarenessUpdate, Awareness, encodeAwarenessUpdate, removeAwarenessStates } from 'y-protocols/awareness';
import * as Y from 'yjs';
import { isFinal, pauseBeforeRetry, type ServiceError } from './calls.ts';
import { Emitter } from './emitter.ts';
import type { DocumentName, EditorMessage, LiveDocument, LiveStatus } from './liveDocument.ts';
import type { CallOptions } from './types.ts';

type Call<D, R> = (data: D, options?: CallOptions) => Promise<{ readonly data: R }>;
type EditorName = DocumentName & { editorId: string; editorKey?: string | undefined };

/** The methods of a user client that an editor provider uses. */
export interface EditorClient {
  readonly v2: {
    readonly crdt: {
      readonly updates: {
        readonly get: Call<
          EditorName & { stateVector?: string; version?: number },
          {
            readonly editorKey: string;
            readonly update: string;
            readonly stateVector?: string | undefined;
            readonly version: number;
          }
        >;
        readonly push: Call<EditorName & { update: string; sessionId?: string }, unknown>;
      };
    };
  };
  live(document: DocumentName): EditorConnection;
}

type EditorConnection = Pick<LiveDocument, 'on' | 'publish' | 'close' | 'status' | 'denial'>;

export interface EditorProviderOptions {
  readonly client: EditorClient;
  readonly organizationId: string;
  readonly documentId: string;
  readonly editorId: string;
  /**
   * The `editorKey` of the provider from which the Yjs document has its content, if the application stored both. If that
   * editor was deleted, the provider then rejects the document instead of mixing it with a new editor.
   */
  readonly editorKey?: string | undefined;
  /** The awareness object (cursors of users) that the application already has, if any. */
  readonly awareness?: Awareness;
}

export interface EditorProviderEvents {
  /** True after the Yjs document has got everything that the service had at the last read. False while the connection is down. */
  readonly synced: boolean;
  readonly status: LiveStatus;
  /** True if the service has stored every local edit. */
  readonly saved: boolean;
  /**
   * Sent if the service rejects an edit or a read, and would reject a retry too. For example, the user may only view
   * the document. The provider then stops and hides the cursors, and later edits are not saved. The status NOT_FOUND
   * means that the editor was deleted, also if another editor was added under the same id. That editor needs a new
   * provider with a new Yjs document.
   */
  readonly rejected: ServiceError;
}

/** How long local edits are collected before they are sent as one update, in milliseconds. */
const COLLECT_MILLISECONDS = 100;
/** Above this number, unsent edits are merged into one. The time of a merge grows with the square of the number. */
const MAX_UNMERGED = 256;
/** How long cursor changes are collected before they are published together, in milliseconds. */
const AWARENESS_MILLISECONDS = 50;
const QUERY_MILLISECONDS = 1_000;
/** The length in bytes of a Yjs update that changes nothing. */
const EMPTY_UPDATE_BYTES = 2;

const TWO_COPIES =
  'The document is not a Y.Doc of the yjs that the client imports. The application has two copies of yjs, which would destroy ' +
  "stored text. Install the packed client (the .tgz file that `npm run client` writes), not a link to its folder, and set resolve.dedupe: ['yjs'] in the bundler.";

interface AwarenessMessage {
  readonly type: 'awareness.update' | 'awareness.query';
  readonly editorId: string;
  readonly update?: string;
}

/**
 * Keeps a Yjs document in sync with an editor of the service, for use with editor bindings of Yjs. Edits made without a
 * connection are sent after the client has reconnected. The editor must already exist (`/v2/crdt/add`).
 *
 * Before its first read, the provider sends nothing. Give the document to a binding after `whenSynced`.
 */
export class EditorProvider {
  readonly doc: Y.Doc;
  /**
   * Resolves after the first read. Rejects with a ServiceError if the service denies access or the editor does not exist, and
   * with an AbortError if the provider is destroyed before the first read.
   */
  readonly whenSynced: Promise<void>;
  readonly awareness: Awareness;
  readonly #ownsAwareness: boolean;
  readonly #client: EditorClient;
  /** The ids of the editor. Its key is known after the first read. From then on, calls for another editor with the same id fail. */
  #name: EditorName;
  readonly #live: EditorConnection;
  readonly #events = new Emitter<EditorProviderEvents>();
  readonly #endings: (() => void)[] = [];
  readonly #sessionId = crypto.randomUUID();
  /** Local edits that the service has not stored yet. Before the first read, it may have stored some. */
  #unsent: Uint8Array[] = [];
  /**
   * Deletions that Yjs and bindings of editors made when the provider applied an update, for example to remove
   * formatting without effect. They are sent with the first local edit, because the service rejects all changes of
   * viewers. Undefined after the first local edit.
   */
  #corrections: Uint8Array[] | undefined = [];
  /** Whether the provider is applying an update of the service. */
  #isApplying = false;
  #sending: Promise<void> | undefined;
  #sendTimer: ReturnType<typeof setTimeout> | undefined;
  #readTimer: ReturnType<typeof setTimeout> | undefined;
  #reading: Promise<void> | undefined;
  #mustReadAgain = false;
  /** The editor's version at the last read. The next read returns only later updates. */
  #version: number | undefined;
  #failures = 0;
  #isSynced = false;
  #hasStopped = false;
  readonly #firstRead = Promise.withResolvers<undefined>();
  readonly #changedClients = new Set<number>();
  #awarenessTimer: ReturnType<typeof setTimeout> | undefined;
  #queryTimer: ReturnType<typeof setTimeout> | undefined;
  #hasWaitingQuery = false;

  /** Throws a TypeError if the document is of another copy of yjs, because bindings delete content of another copy. */
  constructor(doc: Y.Doc, { client, awareness, ...name }: EditorProviderOptions) {
    if (!(doc instanceof Y.Doc)) throw new TypeError(TWO_COPIES);
    this.doc = doc;
    this.whenSynced = this.#firstRead.promise;
    // An application that does not use the promise gets the event `rejected`, and no unhandled rejection.
    this.whenSynced.catch(() => undefined);
    this.awareness = awareness ?? new Awareness(doc);
    this.#ownsAwareness = awareness === undefined;
    this.#client = client;
    this.#name = name;
    this.#live = client.live({ organizationId: name.organizationId, documentId: name.documentId });
    // The Yjs document can contain edits that the service does not have, for example edits that the browser stored.
    const content = Y.encodeStateAsUpdate(doc);
    if (content.length > EMPTY_UPDATE_BYTES) this.#unsent.push(content);
    const onEdit = (update: Uint8Array, origin: unknown) => {
      if (origin !== this) this.#collect(update);
    };
    const onAwareness = ({ added, updated, removed }: Record<string, number[]>, origin: unknown) => {
      if (origin !== this) this.#publishClients([...(added ?? []), ...(updated ?? []), ...(removed ?? [])]);
    };
    let stateOfLeftPage: Record<string, unknown> | null = null;
    const onPageHide = () => {
      stateOfLeftPage = this.awareness.getLocalState();
      void this.#removeOwnState();
      this.#sendLast();
    };
    // The browser can show the page again, for example after a step back in its history. The local cursor is then shown
    // again too.
    const onPageShow = () => {
      if (stateOfLeftPage) this.awareness.setLocalState(stateOfLeftPage);
      stateOfLeftPage = null;
    };
    const window = globalThis as Partial<EventTarget>;
    doc.on('update', onEdit);
    this.awareness.on('update', onAwareness);
    window.addEventListener?.('pagehide', onPageHide);
    window.addEventListener?.('pageshow', onPageShow);
    this.#endings.push(
      () => doc.off('update', onEdit),
      () => this.awareness.off('update', onAwareness),
      () => window.removeEventListener?.('pagehide', onPageHide),
      () => window.removeEventListener?.('pageshow', onPageShow),
      this.#live.on('crdt', (message) => this.#receive(message)),
      this.#live.on('awareness', (event) => this.#receiveAwareness(event as AwarenessMessage)),
      this.#live.on('editor', ({ ids }) => {
        // The editor was added or deleted. The read fails if it was deleted.
        if (ids?.editorId === this.#name.editorId) this.#read();
      }),
      this.#live.on('reload', () => this.#read()),
      this.#live.on('status', (status) => this.#followStatus(status)),
    );
    if (this.#live.status === 'live') this.#followStatus('live');
  }

  get synced(): boolean {
    return this.#isSynced;
  }

  /**
   * The key of the editor. An editor that is deleted and added again under the same id has another key. Before the first
   * read, this is the option `editorKey`.
   */
  get editorKey(): string | undefined {
    return this.#name.editorKey;
  }

  /** Whether the service has stored every local edit. False before the first read of a Yjs document with content. */
  get saved(): boolean {
    return this.#unsent.length === 0;
  }

  /** Adds a listener. Returns the function that removes it. */
  on<N extends keyof EditorProviderEvents>(name: N, listener: (value: EditorProviderEvents[N]) => void): () => void {
    return this.#events.on(name, listener);
  }

  /**
   * Sends the unsent edits, removes all listeners, and closes this use of the live connection. Before the first read, sends
   * nothing: `saved` is then false if there are edits.
   */
  async destroy(): Promise<void> {
    if (this.#endings.length === 0) return;
    for (const end of this.#endings.splice(0)) end();
    const hidden = this.#removeOwnState();
    clearTimeout(this.#sendTimer);
    // A first read that ends later must not change the document.
    if (this.#version === undefined) this.#stop(destroyedEarly());
    else if (!this.#hasStopped) await this.#send().catch(() => undefined);
    await hidden;
    this.#stop(destroyedEarly());
    if (this.#ownsAwareness) this.awareness.destroy();
    await this.#live.close();
    this.#events.clear();
  }

  #followStatus(status: LiveStatus): void {
    this.#events.emit('status', status);
    if (this.#hasStopped) return;
    if (status === 'live') {
      // At the start, the event `reload` has already started a read.
      if (!this.#reading) this.#readNow();
      this.#scheduleSend(0);
      // Publish the local cursor, and ask the other clients to publish theirs.
      this.#announce();
      void this.#live.publish({ type: 'awareness.query', editorId: this.#name.editorId } satisfies AwarenessMessage);
    } else {
      this.#setSynced(false);
      this.#removeOtherStates();
      if (status === 'denied') this.#firstRead.reject(this.#live.denial);
    }
  }

  #receive({ editorId, editorKey, update }: EditorMessage): void {
    if (editorId !== this.#name.editorId || this.#hasStopped) return;
    // The key differs if the editor was deleted and added again. The read finds out which of the two this client has.
    // Updates can arrive in any order. Yjs keeps an update until all updates before it are applied.
    if (update === undefined || editorKey !== this.#name.editorKey) this.#read();
    else this.#apply(fromBase64(update));
  }

  #apply(update: Uint8Array): void {
    this.#isApplying = true;
    try {
      Y.applyUpdate(this.doc, update, this);
    } finally {
      this.#isApplying = false;
    }
  }

  /** Reads without the pause after a failed read. */
  #readNow(): void {
    clearTimeout(this.#readTimer);
    this.#readTimer = undefined;
    this.#read();
  }

  /**
   * Reads the updates that the local Yjs document lacks. If a read is already running, reads again after it. After a
   * failed read, waits for its retry.
   */
  #read(): void {
    if (this.#hasStopped || this.#readTimer !== undefined) return;
    if (this.#reading) {
      this.#mustReadAgain = true;
      return;
    }
    this.#reading = this.#readOnce()
      .then(() => (this.#failures = 0))
      .catch((error: unknown) =>
        this.#retryLater(error, (pause) => (this.#readTimer = setTimeout(() => this.#readNow(), pause))),
      )
      .then(() => {
        this.#reading = undefined;
        if (!this.#mustReadAgain) return;
        this.#mustReadAgain = false;
        this.#read();
      });
  }

  async #readOnce(): Promise<void> {
    const isFirst = this.#version === undefined;
    const { data } = await this.#client.v2.crdt.updates.get({
      ...this.#name,
      stateVector: toBase64(Y.encodeStateVector(this.doc)),
      ...(this.#version !== undefined && { version: this.#version }),
    });
    if (this.#hasStopped) return;
    this.#apply(fromBase64(data.update));
    this.#version = data.version;
    this.#name = { ...this.#name, editorKey: data.editorKey };
    if (isFirst) this.#firstRead.resolve(undefined);
    if (isFirst && data.stateVector !== undefined) {
      this.#dropStored(fromBase64(data.update), fromBase64(data.stateVector));
      this.#scheduleSend(0);
    }
    this.#setSynced(this.#live.status === 'live');
  }

  /**
   * Removes from the unsent edits those that the service has. `update` contains all deletions that the service has, but
   * only the content that the Yjs document lacked.
   */
  #dropStored(update: Uint8Array, stateVector: Uint8Array): void {
    if (this.#unsent.length === 0) return;
    const unsent = Y.mergeUpdates(this.#unsent);
    const { ds } = Y.decodeUpdate(update);
    const stored = Y.createSnapshot(Y.mergeDeleteSets([ds]), Y.decodeStateVector(stateVector));
    this.#unsent = Y.snapshotContainsUpdate(stored, unsent) ? [] : [Y.diffUpdate(unsent, stateVector)];
    if (this.saved) this.#events.emit('saved', true);
  }

  #collect(update: Uint8Array): void {
    if (this.#isApplying && this.#corrections && hasOnlyDeletions(update)) {
      this.#corrections.push(update);
      return;
    }
    const wasSaved = this.saved;
    this.#unsent.push(...(this.#corrections ?? []), update);
    this.#corrections = undefined;
    // The first one can be on its way. It is removed after the answer.
    if (this.#unsent.length > MAX_UNMERGED) this.#unsent.push(Y.mergeUpdates(this.#unsent.splice(1)));
    if (wasSaved) this.#events.emit('saved', false);
    this.#sendTimer ??= setTimeout(() => this.#scheduleSend(0), COLLECT_MILLISECONDS);
  }

  #scheduleSend(milliseconds: number): void {
    clearTimeout(this.#sendTimer);
    if (this.#hasStopped) return;
    this.#sendTimer = setTimeout(() => {
      this.#sendTimer = undefined;
      if (this.#live.status !== 'live') return;
      this.#send().catch((error: unknown) => {
        if (!this.#canFollow(error)) this.#retryLater(error, (pause) => this.#scheduleSend(pause));
      });
    }, milliseconds);
  }

  /**
   * Before the first read, the provider does not know the key of the editor, nor which edits the service lacks. A binding may have
   * got an empty document.
   */
  get #hasEditsToSend(): boolean {
    return this.#version !== undefined && !this.saved;
  }

  /** Sends all unsent edits as one update. Only one such call runs at a time. */
  async #send(): Promise<void> {
    if (this.#sending) await this.#sending.catch(() => undefined);
    if (this.#sending || !this.#hasEditsToSend) return;
    const update = Y.mergeUpdates(this.#unsent);
    this.#unsent = [update];
    this.#sending = this.#client.v2.crdt.updates
      .push({ ...this.#name, update: toBase64(update), sessionId: this.#sessionId })
      .then(() => {
        this.#unsent = this.#unsent.slice(1);
        this.#failures = 0;
        if (this.saved) this.#events.emit('saved', true);
        else this.#scheduleSend(COLLECT_MILLISECONDS);
      })
      .finally(() => (this.#sending = undefined));
    await this.#sending;
  }

  /**
   * Sends the unsent edits when the user leaves the page. The browser finishes this call, and ends all others. The edits stay unsent,
   * because the browser can show the page again. Browsers refuse such a call above 64 KB, so more than about 45 KB of edits are not
   * sent.
   */
  #sendLast(): void {
    if (this.#hasStopped || !this.#hasEditsToSend) return;
    const update = toBase64(Y.mergeUpdates(this.#unsent));
    void this.#client.v2.crdt.updates
      .push({ ...this.#name, update, sessionId: this.#sessionId }, { keepalive: true })
      .catch(() => undefined);
  }

  /**
   * Returns whether the provider can go on after the service refused its unsent edits. The Yjs document of a viewer can
   * have deletions from before the first read that Yjs made itself. They wait for the first local edit, like the later ones.
   */
  #canFollow(error: unknown): boolean {
    return (
      isFinal(error) &&
      error.status === 'PERMISSION_DENIED' &&
      this.#corrections !== undefined &&
      hasOnlyDeletions(Y.mergeUpdates(this.#unsent))
    );
  }

  /** Calls `retry` with the pause before the next attempt, in milliseconds. Stops if an attempt would be rejected too. */
  #retryLater(error: unknown, retry: (pause: number) => void): void {
    if (this.#hasStopped) return;
    if (isFinal(error)) {
      this.#removeOtherStates();
      void this.#removeOwnState();
      this.#stop(error);
      this.#events.emit('rejected', error);
      return;
    }
    retry(pauseBeforeRetry(this.#failures));
    this.#failures += 1;
  }

  #receiveAwareness({ type, editorId, update }: AwarenessMessage): void {
    if (editorId !== this.#name.editorId || this.#hasStopped) return;
    if (type === 'awareness.query') {
      this.#answerQuery();
      return;
    }
    const bytes = readAwarenessUpdate(update, this.doc.clientID);
    if (bytes) applyAwarenessUpdate(this.awareness, bytes, this);
  }

  #answerQuery(): void {
    if (this.#queryTimer !== undefined) {
      this.#hasWaitingQuery = true;
      return;
    }
    this.#announce();
    this.#queryTimer = setTimeout(() => {
      this.#queryTimer = undefined;
      if (!this.#hasWaitingQuery || this.#hasStopped) return;
      this.#hasWaitingQuery = false;
      this.#answerQuery();
    }, QUERY_MILLISECONDS);
  }

  /**
   * Publishes the local awareness state again with a higher clock (the counter of its changes). With the same clock,
   * clients that removed the state would ignore it.
   */
  #announce(): void {
    this.awareness.setLocalState(this.awareness.getLocalState());
  }

  #publishClients(clients: readonly number[]): void {
    if (this.#hasStopped) return;
    for (const id of clients) this.#changedClients.add(id);
    this.#awarenessTimer ??= setTimeout(() => void this.#publishNow(), AWARENESS_MILLISECONDS);
  }

  /** Hides the local cursor from other clients. */
  async #removeOwnState(): Promise<void> {
    removeAwarenessStates(this.awareness, [this.doc.clientID], this);
    this.#changedClients.add(this.doc.clientID);
    await this.#publishNow();
  }

  /** Hides the cursors of other clients. */
  #removeOtherStates(): void {
    const others = [...this.awareness.getStates().keys()].filter((id) => id !== this.doc.clientID);
    removeAwarenessStates(this.awareness, others, this);
  }

  async #publishNow(): Promise<void> {
    clearTimeout(this.#awarenessTimer);
    this.#awarenessTimer = undefined;
    const clients = [...this.#changedClients].filter((id) => this.awareness.meta.has(id));
    this.#changedClients.clear();
    if (clients.length === 0 || this.#live.status !== 'live') return;
    const update = toBase64(encodeAwarenessUpdate(this.awareness, clients));
    const { editorId } = this.#name;
    await this.#live.publish({ type: 'awareness.update', editorId, update } satisfies AwarenessMessage);
  }

  #setSynced(isSynced: boolean): void {
    if (this.#isSynced === isSynced) return;
    this.#isSynced = isSynced;
    this.#events.emit('synced', isSynced);
  }

  #stop(reason: Error): void {
    this.#hasStopped = true;
    this.#firstRead.reject(reason);
    for (const timer of [this.#sendTimer, this.#readTimer, this.#awarenessTimer, this.#queryTimer]) clearTimeout(timer);
    this.#setSynced(false);
  }
}

function destroyedEarly(): DOMException {
  return new DOMException('The provider was destroyed before its first read.', 'AbortError');
}

function hasOnlyDeletions(update: Uint8Array): boolean {
  return Y.decodeUpdate(update).structs.length === 0;
}

/**
 * Drops states of `ownId`, which only this client knows. Returns undefined for anything but states: every user in the document can
 * publish to the channel.
 */
function readAwarenessUpdate(update: unknown, ownId: number): Uint8Array | undefined {
  try {
    const decoder = createDecoder(fromBase64(update as string));
    const count = readVarUint(decoder);
    const states: { id: number; clock: number; state: string }[] = [];
    for (let index = 0; index < count; index++) {
      const [id, clock, state] = [readVarUint(decoder), readVarUint(decoder), readVarString(decoder)];
      JSON.parse(state);
      if (id !== ownId) states.push({ id, clock, state });
    }
    const encoder = createEncoder();
    writeVarUint(encoder, states.length);
    for (const { id, clock, state } of states) {
      writeVarUint(encoder, id);
      writeVarUint(encoder, clock);
      writeVarString(encoder, state);
    }
    return toUint8Array(encoder);
  } catch {
    return undefined;
  }
}
