import * as Y from 'yjs';

/**
 * The smallest Yjs client id under which the service writes. Clients choose random ids of 32 bits, so all larger ids
 * belong to the service. The first replacement of a document's value chooses 32 ids for the document at random. Later
 * replacements find these ids in the state. If each replacement used a new id, state vectors would grow without end.
 *
 * Using an id again is safe. A replacement is stored only if no other update was stored since the state was read. Two
 * different changes therefore never have the same id and clock. After a document was deleted, a client can still send
 * the service's changes of that document. If a new document has the same name, `findUpdateFault` rejects them.
 */
const FIRST_WRITER = 2 ** 32;
/**
 * The number of ids per document. With one id, keys that are rewritten in turns would leave a deleted item in the state
 * for every rewrite.
 */
const WRITERS = 32;
const DOCUMENTS = 2 ** 28;
/** If all ids are in use, about one in this many rewrites of a key takes over the id of another key. */
const TAKEOVER_INTERVAL = 16;

/** Returns whether a Yjs client id belongs to the service. */
export function isWriter(client: number): boolean {
  return client >= FIRST_WRITER;
}

/** Changes a document under the ids of the service. If the update is then not stored, the document must be discarded. */
export class Writer {
  readonly #doc: Y.Doc;
  readonly #first: number;

  constructor(doc: Y.Doc) {
    this.#doc = doc;
    const used = [...doc.store.clients.keys()].filter(isWriter);
    // The client id that Yjs gave the document is random, so it selects the ids.
    const first = used.length > 0 ? Math.max(...used) : FIRST_WRITER + (doc.clientID % DOCUMENTS) * WRITERS;
    this.#first = first - (first % WRITERS);
    doc.clientID = this.#first;
  }

  /**
   * Runs `write`, which overwrites a map key or an attribute. `item` is the item that is overwritten. If it is the
   * latest item of its client id, `write` uses the same id, because Yjs then stores consecutive deleted items as one.
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
    // All ids are in use for other keys. This key sometimes takes over an id, because it may now be the key that is rewritten most.
    if (clock % TAKEOVER_INTERVAL !== 0) return this.#first;
    return this.#first + 1 + ((clock / TAKEOVER_INTERVAL) % (WRITERS - 1));
  }
}
