import * as Y from 'yjs';

/** The bytes are not a Yjs update, or not a state vector. */
export class MalformedUpdate extends Error {}

/**
 * Returns the document of some updates. Their order and repetitions make no difference. Updates that wait for a
 * missing one are kept, deleted content is dropped. Throws MalformedUpdate when one of them cannot be read.
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

/** Returns a copy of a document, which may be changed. */
export function copyOf(doc: Y.Doc): Y.Doc {
  return openDocument([encodeState(doc)]);
}

/** Returns the whole state as one update, including updates that wait for a missing one. */
export function encodeState(doc: Y.Doc): Uint8Array {
  return Y.encodeStateAsUpdate(doc);
}

/** Returns how much of each client's changes the document has. */
export function stateVectorOf(doc: Y.Doc): Uint8Array {
  return Y.encodeStateVector(doc);
}

/**
 * Returns the changes that a client with this state vector lacks, as one update; the whole state without a state
 * vector. Throws MalformedUpdate when the bytes are not a state vector.
 */
export function updateSince(doc: Y.Doc, stateVector?: Uint8Array): Uint8Array {
  if (stateVector) requireStateVector(stateVector);
  return Y.encodeStateAsUpdate(doc, stateVector);
}

function requireStateVector(bytes: Uint8Array): void {
  let length: number | undefined;
  try {
    length = Y.encodeStateVector(Y.decodeStateVector(bytes)).length;
  } catch {
    // Not even the start is a state vector.
  }
  // A length that differs shows a repeated client or bytes behind the end.
  if (length !== bytes.length) throw new MalformedUpdate('State vector must be one of Yjs.');
}
