import * as Y from 'yjs';

/**
 * Who the service is to Yjs. A client's id is drawn from 32 bits; the service's lie above, so that they are known in any state, and
 * no client can have one. Each document has its own few, which its first replace draws and every later one finds in the state:
 * a new id for each replace would make state vectors grow forever.
 *
 * To use an id again is safe because a replace is computed on the whole state and counts only when no other update took its place
 * in the log: two different changes under the same id and clock are never both stored. A client that still holds a deleted
 * document has service changes that the new document of the same name does not have, and is refused (`faultOfUpdate`).
 */
const FIRST_WRITER = 2 ** 32;
/** How many a document has. Written by one alone, keys rewritten in turn would each leave a trace of every rewriting. */
const WRITERS = 32;
const DOCUMENTS = 2 ** 28;
const GIVEN_UP = 16;

/** Whether an id is one of the service's. */
export function isWriter(client: number): boolean {
  return client >= FIRST_WRITER;
}

/** Lets the service write in a document. The document is to be thrown away when what was written is not stored. */
export class Writer {
  readonly #doc: Y.Doc;
  readonly #first: number;

  constructor(doc: Y.Doc) {
    this.#doc = doc;
    const used = [...doc.store.clients.keys()].filter(isWriter);
    // The id that Yjs drew for the copy is as random as any.
    const first = used.length > 0 ? Math.max(...used) : FIRST_WRITER + (doc.clientID % DOCUMENTS) * WRITERS;
    this.#first = first - (first % WRITERS);
    doc.clientID = this.#first;
  }

  /**
   * Writes a key of a map, or an attribute, in place of this item. When the item is the last of its writer, that one goes on:
   * what one writer replaced in a row is one trace, however long.
   */
  overwriting(item: Y.Item | undefined, write: () => void): void {
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
    // All go on with a key of theirs. Now and then one gives it up for this one, which may be written more often today.
    return clock % GIVEN_UP === 0 ? this.#first + 1 + ((clock / GIVEN_UP) % (WRITERS - 1)) : this.#first;
  }
}
