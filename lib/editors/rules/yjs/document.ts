import * as Y from 'yjs';

/** Bytes that are no Yjs update, or no state vector. */
export class MalformedUpdate extends Error {}

/**
 * The document of some updates, which may come in any order and repeatedly; what waits for an update that is missing is kept, too.
 * Deleted content is dropped. MalformedUpdate when one of them is none.
 */
export function openDocument(updates: readonly Uint8Array[]): Y.Doc {
  const doc = new Y.Doc();
  try {
    doc.transact(() => {
      for (const update of updates) Y.applyUpdate(doc, update);
    });
  } catch (cause) {
    throw new MalformedUpdate('The document has an update that cannot be read.', { cause });
  }
  return doc;
}

/** A document of the same state, which may be changed in its place. */
export function copyOf(doc: Y.Doc): Y.Doc {
  return openDocument([encodeState(doc)]);
}

/** The whole state as one update, also what waits for missing updates. */
export function encodeState(doc: Y.Doc): Uint8Array {
  return Y.encodeStateAsUpdate(doc);
}

/** How much of each client's changes the document has. */
export function stateVectorOf(doc: Y.Doc): Uint8Array {
  return Y.encodeStateVector(doc);
}

/** What a client with this state vector lacks, as one update; everything without one. MalformedUpdate when it is none. */
export function updateSince(doc: Y.Doc, stateVector?: Uint8Array): Uint8Array {
  return stateVector === undefined ? encodeState(doc) : Y.encodeStateAsUpdate(doc, checked(stateVector));
}

function checked(stateVector: Uint8Array): Uint8Array {
  try {
    // What is decoded takes as many bytes again, unless something was repeated, or follows.
    if (Y.encodeStateVector(Y.decodeStateVector(stateVector)).length === stateVector.length) return stateVector;
  } catch {
    // Not even the start of one.
  }
  throw new MalformedUpdate('State vector must be one of Yjs.');
}
