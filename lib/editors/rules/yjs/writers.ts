import * as Y from 'yjs';

/**
 * Clients choose random ids of 32 bits, so all larger ids belong to the service. The first replacement of a document's
 * value chooses 32 ids, which later ones find in the state: new ids each time would make state vectors grow without
 * end.
 *
 * Using an id again is safe. A replacement is stored only if no other update was stored since the state was read, so
 * two changes never have the same id and clock. `findUpdateFault` rejects the service's changes of a deleted document,
 * which clients can still send.
 */
const FIRST_WRITER = 2 ** 32;
/** With one id, keys that are rewritten in turns would leave a deleted item in the state for every rewrite. */
const WRITERS = 32;
const DOCUMENTS = 2 ** 28;
/** One in this many rewrites of a key takes over the id of another key, if all ids are in use. */
const TAKEOVER_INTERVAL = 16;

export function isWriter(client: number): boolean {
  return client >= FIRST_WRITER;
}

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
   * If `item` is the latest of one of the service's ids, `write` uses the same id, because Yjs then stores consecutive
   * deleted items as one.
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
    // All ids are in use for other keys, but this key may now be the one that is rewritten most.
    if (clock % TAKEOVER_INTERVAL !== 0) return this.#first;
    return this.#first + 1 + ((clock / TAKEOVER_INTERVAL) % (WRITERS - 1));
  }
}
