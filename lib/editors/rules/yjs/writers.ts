import * as Y from 'yjs';

/**
 * The Yjs client ids that the service writes under. Clients draw 32-bit ids, so ids from here on are the service's in any state.
 * Each document has a few of its own: the first replace draws them and later ones find them in the state. A new id for each
 * replace would make state vectors grow without end.
 *
 * Reuse of an id is safe: a replace is computed on the whole state and stored only if no other update was stored in between, so
 * two different changes never have the same id and clock. A client that still has a deleted document sends changes of the
 * service that the new document of the same name does not have, and `findUpdateFault` rejects them.
 */
const FIRST_WRITER = 2 ** 32;
/** Ids per document. With a single one, keys that are rewritten alternately would each keep a trace of every rewrite. */
const WRITERS = 32;
const DOCUMENTS = 2 ** 28;
/** When all ids are in use, a key takes one over at about one in this many rewrites. */
const TAKEOVER_INTERVAL = 16;

/** Returns whether a Yjs client id is one of the service's. */
export function isWriter(client: number): boolean {
  return client >= FIRST_WRITER;
}

/** Writes to a document under the service's ids. Discard the document when the update is not stored. */
export class Writer {
  readonly #doc: Y.Doc;
  readonly #first: number;

  constructor(doc: Y.Doc) {
    this.#doc = doc;
    const used = [...doc.store.clients.keys()].filter(isWriter);
    // Yjs drew the client id of the document at random.
    const first = used.length > 0 ? Math.max(...used) : FIRST_WRITER + (doc.clientID % DOCUMENTS) * WRITERS;
    this.#first = first - (first % WRITERS);
    doc.clientID = this.#first;
  }

  /**
   * Runs `write`, which overwrites the item of a map's key or of an attribute. If the item is the last one of its id, the same id
   * writes again: Yjs keeps one trace of consecutive rewrites by one id.
   */
  overwrite(item: Y.Item | undefined, write: () => void): void {
    if (item) this.#doc.clientID = this.#writerAfter(item);
    try {
      write();
    } finally {
      this.#doc.clientID = this.#first;
    }
  }

  #writerAfter(item: Y.Item): number {
    const { client, clock } = item.id;
    if (isWriter(client) && clock + item.length === Y.getState(this.#doc.store, client)) return client;
    for (let writer = this.#first + 1; writer < this.#first + WRITERS; writer++) {
      const last = this.#doc.store.clients.get(writer)?.at(-1);
      if (!last || last.deleted) return writer;
    }
    // All ids rewrite other keys. A takeover helps when this key is now the one that is rewritten most.
    if (clock % TAKEOVER_INTERVAL !== 0) return this.#first;
    return this.#first + 1 + ((clock / TAKEOVER_INTERVAL) % (WRITERS - 1));
  }
}
