import * as Y from 'yjs';

/**
 * The smallest Yjs client id that the service writes under. Clients have random ids of 32 bits, so larger ids belong to the
 * service. Each document has 32 ids of the service. The first replacement of a value chooses them at random. Later replacements
 * find them in the state. With a new id for each replacement, state vectors would grow without end.
 *
 * Reuse of an id is safe. A replacement is computed from the whole state and stored only if no other update was stored in
 * between, so two different changes never have the same id and clock. A client that still has a deleted document can send changes
 * of the service that a new document with the same name does not have. `findUpdateFault` rejects these changes.
 */
const FIRST_WRITER = 2 ** 32;
/**
 * The number of ids per document. With a single id, keys that are rewritten alternately would each keep a trace of every rewrite.
 */
const WRITERS = 32;
const DOCUMENTS = 2 ** 28;
/** If all ids are in use, a rewritten key takes over the id of another key at one of about this many rewrites. */
const TAKEOVER_INTERVAL = 16;

/** Returns whether a Yjs client id belongs to the service. */
export function isWriter(client: number): boolean {
  return client >= FIRST_WRITER;
}

/** Writes to a document under the ids of the service. If the update is not stored, the document must be discarded. */
export class Writer {
  readonly #doc: Y.Doc;
  readonly #first: number;

  constructor(doc: Y.Doc) {
    this.#doc = doc;
    const used = [...doc.store.clients.keys()].filter(isWriter);
    // Yjs chose the client id of the document at random.
    const first = used.length > 0 ? Math.max(...used) : FIRST_WRITER + (doc.clientID % DOCUMENTS) * WRITERS;
    this.#first = first - (first % WRITERS);
    doc.clientID = this.#first;
  }

  /**
   * Runs `write`, which overwrites the item of a map's key or of an attribute. If the item is the last one of its id, the same id
   * writes again, because Yjs keeps a single trace of consecutive rewrites by one id.
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
    // All ids rewrite other keys. Take an id over from time to time, because this key may now be the key that is rewritten most.
    if (clock % TAKEOVER_INTERVAL !== 0) return this.#first;
    return this.#first + 1 + ((clock / TAKEOVER_INTERVAL) % (WRITERS - 1));
  }
}
