import { fromBase64, toBase64 } from 'lib0/buffer';
import { createDecoder, readVarString, readVarUint } from 'lib0/decoding';
import { createEncoder, toUint8Array, writeVarString, writeVarUint } from 'lib0/encoding';
import { applyAwarenessUpdate, Awareness, encodeAwarenessUpdate, removeAwarenessStates } from 'y-protocols/awareness';
import * as Y from 'yjs';
import { isFinal, pauseBeforeRetry, ServiceError } from './calls.ts';
import { type Call, type EditorVersions, editorVersions, type VersionMethods } from './editorVersions.ts';
import { Emitter } from './emitter.ts';
import type { DocumentName, EditorMessage, LiveDocument, LiveHint, LiveStatus } from './liveDocument.ts';

type EditorName = DocumentName & { editorId: string; editorKey?: string | undefined };

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
      readonly versions: VersionMethods;
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
   * If the application stored the Yjs document, the `editorKey` that it stored with it. If that editor was deleted, the
   * provider rejects the document instead of mixing it with a new editor.
   */
  readonly editorKey?: string | undefined;
  readonly awareness?: Awareness;
}

export interface EditorProviderEvents {
  /** The Yjs document has everything that the service had at the last read. False while the connection is down. */
  readonly synced: boolean;
  readonly status: LiveStatus;
  readonly saved: boolean;
  /** The document has another id, and the provider has stopped. Another provider under the new id sends unsaved edits. */
  readonly migrated: { readonly newDocumentId: string };
  /** A user or your server restored a version. The change of the document comes shortly before or after this event. */
  readonly restored: { readonly versionId: string };
  /**
   * A retry would be rejected too, so the provider stops and hides the cursors. After NOT_FOUND, an editor that was
   * deleted and added again needs a new provider with a new Yjs document.
   */
  readonly rejected: ServiceError;
}

const COLLECT_MILLISECONDS = 100;
/** More edits are merged into one. The time of a merge grows with the square of their number. */
const MAX_UNMERGED = 256;
const AWARENESS_MILLISECONDS = 50;
const QUERY_MILLISECONDS = 1_000;
/** The service usually sends `system.migrated` 4 s after the old id has ended, and at most a minute. */
const MIGRATED_MILLISECONDS = 60_000;
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
 * Keeps a Yjs document in sync with an existing editor. Before its first read, the provider sends no edits: give the
 * document to a binding after `whenSynced`.
 */
export class EditorProvider {
  readonly doc: Y.Doc;
  /**
   * Rejects with the ServiceError of the event `rejected`, with that of a denied live connection, or with an AbortError
   * if the provider is destroyed or the document gets another id before the first read.
   */
  readonly whenSynced: Promise<void>;
  readonly awareness: Awareness;
  readonly versions: EditorVersions;
  readonly #ownsAwareness: boolean;
  readonly #client: EditorClient;
  /** After the first read, calls have the key of the editor, and fail for another editor with the same id. */
  #name: EditorName;
  readonly #live: EditorConnection;
  readonly #events = new Emitter<EditorProviderEvents>();
  readonly #endings: (() => void)[] = [];
  readonly #sessionId = crypto.randomUUID();
  #unsent: Uint8Array[] = [];
  /**
   * Deletions that Yjs or a binding made when an update was applied. The service rejects all changes of viewers, so the
   * deletions wait for the first local edit. Undefined after that edit.
   */
  #corrections: Uint8Array[] | undefined = [];
  #isApplying = false;
  #sending: Promise<void> | undefined;
  #sendTimer: ReturnType<typeof setTimeout> | undefined;
  #readTimer: ReturnType<typeof setTimeout> | undefined;
  #reading: Promise<void> | undefined;
  #mustReadAgain = false;
  #version: number | undefined;
  #failures = 0;
  /** Epoch ms until which a refusal is repeated. Infinity if the document is being migrated, otherwise 0. */
  #migratedBy = 0;
  #isSynced = false;
  #hasStopped = false;
  readonly #firstRead = Promise.withResolvers<undefined>();
  readonly #changedClients = new Set<number>();
  #awarenessTimer: ReturnType<typeof setTimeout> | undefined;
  #queryTimer: ReturnType<typeof setTimeout> | undefined;
  #hasWaitingQuery = false;

  /** Refuses a document of another copy of yjs, because bindings would delete its content. */
  constructor(doc: Y.Doc, { client, awareness, ...name }: EditorProviderOptions) {
    if (!(doc instanceof Y.Doc)) throw new TypeError(TWO_COPIES);
    this.doc = doc;
    this.whenSynced = this.#firstRead.promise;
    // Without this, an application that only uses the event `rejected` would get an unhandled rejection.
    this.whenSynced.catch(() => undefined);
    this.awareness = awareness ?? new Awareness(doc);
    this.#ownsAwareness = awareness === undefined;
    this.#client = client;
    this.#name = name;
    const { organizationId, documentId, editorId } = name;
    this.versions = editorVersions({
      methods: client.v2.crdt.versions,
      editor: { organizationId, documentId, editorId },
      sessionId: this.#sessionId,
      send: () => this.#sendUnsent(),
    });
    this.#live = client.live({ organizationId, documentId });
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
    // After a step back in its history, the browser shows the page again.
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
      this.#live.on('editor', (hint) => this.#receiveHint(hint)),
      this.#live.on('reload', () => this.#read()),
      this.#live.on('status', (status) => this.#followStatus(status)),
      this.#live.on('migrated', (event) => this.#events.emit('migrated', event)),
    );
    if (this.#live.status === 'live') this.#followStatus('live');
  }

  get synced(): boolean {
    return this.#isSynced;
  }

  /** An editor that is deleted and added again under the same id has another key. */
  get editorKey(): string | undefined {
    return this.#name.editorKey;
  }

  get saved(): boolean {
    return this.#unsent.length === 0;
  }

  /** Returns the function that removes the listener. */
  on<N extends keyof EditorProviderEvents>(name: N, listener: (value: EditorProviderEvents[N]) => void): () => void {
    return this.#events.on(name, listener);
  }

  /**
   * Tries to send unsent edits, except before the first read and after `rejected`. If this fails, `saved` stays false.
   */
  async destroy(): Promise<void> {
    if (this.#endings.length === 0) return;
    for (const end of this.#endings.splice(0)) end();
    const hidden = this.#removeOwnState();
    clearTimeout(this.#sendTimer);
    if (this.#version === undefined) this.#stop(endedEarly());
    else if (!this.#hasStopped) await this.#send().catch(() => undefined);
    await hidden;
    this.#stop(endedEarly());
    if (this.#ownsAwareness) this.awareness.destroy();
    await this.#live.close();
    this.#events.clear();
  }

  #followStatus(status: LiveStatus): void {
    this.#events.emit('status', status);
    if (this.#hasStopped) return;
    if (status === 'live') {
      if (!this.#reading) this.#readNow();
      this.#scheduleSend(0);
      this.#announce();
      void this.#live.publish({ type: 'awareness.query', editorId: this.#name.editorId } satisfies AwarenessMessage);
    } else {
      this.#setSynced(false);
      this.#removeOtherStates();
      if (status === 'denied') this.#firstRead.reject(this.#live.denial);
      if (status === 'migrated') this.#stop(endedEarly());
    }
  }

  #receive({ editorId, editorKey, update }: EditorMessage): void {
    if (editorId !== this.#name.editorId || this.#hasStopped) return;
    // With another key, the editor may have been deleted and added again: the read finds out. Yjs accepts updates in
    // any order.
    if (update === undefined || editorKey !== this.#name.editorKey) this.#read();
    else this.#apply(fromBase64(update));
  }

  #receiveHint({ type, ids: { editorId, versionId } = {} }: LiveHint): void {
    if (editorId !== this.#name.editorId || this.#hasStopped) return;
    if (type !== 'editor.restore') this.#read();
    else this.#events.emit('restored', { versionId: String(versionId) });
  }

  #apply(update: Uint8Array): void {
    this.#isApplying = true;
    try {
      Y.applyUpdate(this.doc, update, this);
    } finally {
      this.#isApplying = false;
    }
  }

  #readNow(): void {
    clearTimeout(this.#readTimer);
    this.#readTimer = undefined;
    this.#read();
  }

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

  /** `update` contains all deletions that the service has, but only the content that the Yjs document lacked. */
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
    // The first edit can be on its way to the service, so it is not merged.
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

  get #hasEditsToSend(): boolean {
    return this.#version !== undefined && !this.saved;
  }

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
        this.#migratedBy = 0;
        if (this.saved) this.#events.emit('saved', true);
        else this.#scheduleSend(COLLECT_MILLISECONDS);
      })
      .finally(() => (this.#sending = undefined));
    await this.#sending;
  }

  async #sendUnsent(): Promise<void> {
    await this.whenSynced;
    await this.#sending?.catch(() => undefined);
    // A send that another caller started meanwhile has all edits of the time of this call.
    await (this.#sending ?? this.#send());
  }

  /**
   * The user leaves the page: the browser finishes only this call, if it has at most 64 KB, which are 45 KB of edits.
   * The edits stay unsent, because the page can be shown again.
   */
  #sendLast(): void {
    if (this.#hasStopped || !this.#hasEditsToSend) return;
    const update = toBase64(Y.mergeUpdates(this.#unsent));
    void this.#client.v2.crdt.updates
      .push({ ...this.#name, update, sessionId: this.#sessionId }, { keepalive: true })
      .catch(() => undefined);
  }

  /**
   * Whether a rejection does not end the provider. Yjs itself may have deleted content of a viewer's document before
   * the first read. These deletions wait for the first local edit.
   */
  #canFollow(error: unknown): boolean {
    return (
      isFinal(error) &&
      error.status === 'PERMISSION_DENIED' &&
      this.#corrections !== undefined &&
      hasOnlyDeletions(Y.mergeUpdates(this.#unsent))
    );
  }

  #retryLater(error: unknown, retry: (pause: number) => void): void {
    if (this.#hasStopped) return;
    if (refusesForMigration(error)) this.#migratedBy = Infinity;
    else if (isFinal(error)) this.#migratedBy = Math.min(this.#migratedBy, Date.now() + MIGRATED_MILLISECONDS);
    if (isFinal(error) && Date.now() >= this.#migratedBy) {
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

  /** Increases the clock of the local state. With the same clock, clients that removed the state would ignore it. */
  #announce(): void {
    this.awareness.setLocalState(this.awareness.getLocalState());
  }

  #publishClients(clients: readonly number[]): void {
    if (this.#hasStopped) return;
    for (const id of clients) this.#changedClients.add(id);
    this.#awarenessTimer ??= setTimeout(() => void this.#publishNow(), AWARENESS_MILLISECONDS);
  }

  async #removeOwnState(): Promise<void> {
    removeAwarenessStates(this.awareness, [this.doc.clientID], this);
    this.#changedClients.add(this.doc.clientID);
    await this.#publishNow();
  }

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

function endedEarly(): DOMException {
  return new DOMException('The provider has ended before its first read.', 'AbortError');
}

function refusesForMigration(error: unknown): boolean {
  if (!(error instanceof ServiceError) || error.status !== 'FAILED_PRECONDITION') return false;
  return typeof error.details === 'object' && error.details !== null && 'migrationId' in error.details;
}

function hasOnlyDeletions(update: Uint8Array): boolean {
  return Y.decodeUpdate(update).structs.length === 0;
}

/** Every user in the document can publish to the channel. Drops states of `ownId`, which only this client knows. */
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
