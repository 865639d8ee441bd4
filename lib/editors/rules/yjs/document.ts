import * as Y from 'yjs';

export class MalformedUpdate extends Error {}

/**
 * Updates may repeat and come in any order: Yjs keeps an update until those before it have come. Throws MalformedUpdate
 * if an update cannot be read.
 */
export function openDocument(updates: readonly Uint8Array[]): Y.Doc {
  // Only subdocuments use the guid. Yjs would need 31 calls for random numbers to make one.
  const doc = new Y.Doc({ guid: '' });
  try {
    doc.transact(() => {
      for (const update of updates) Y.applyUpdate(doc, update);
    });
  } catch (cause) {
    throw new MalformedUpdate('The document has an update that cannot be read.', { cause });
  }
  return doc;
}

export function copyOf(doc: Y.Doc): Y.Doc {
  return openDocument([encodeState(doc)]);
}

export function encodeState(doc: Y.Doc): Uint8Array {
  return Y.encodeStateAsUpdate(doc);
}

/**
 * Yjs ignores known structs when it applies an update, but not when it merges updates. A struct with the id of a stored
 * one must not replace it.
 */
export function withoutKnownChanges(doc: Y.Doc, update: Uint8Array): Uint8Array {
  return Y.diffUpdate(update, stateVectorOf(doc));
}

export function stateVectorOf(doc: Y.Doc): Uint8Array {
  return Y.encodeStateVector(doc);
}

/** Without a state vector, returns all changes. Throws MalformedUpdate if the bytes are not a state vector. */
export function updateSince(doc: Y.Doc, stateVector?: Uint8Array): Uint8Array {
  if (stateVector) requireStateVector(stateVector);
  return Y.encodeStateAsUpdate(doc, stateVector);
}

function requireStateVector(bytes: Uint8Array): void {
  let length: number | undefined;
  try {
    length = Y.encodeStateVector(Y.decodeStateVector(bytes)).length;
  } catch {
    // The first bytes are not a state vector, so `length` stays undefined.
  }
  // Another length means that a client occurs twice, or that more bytes follow.
  if (length !== bytes.length) throw new MalformedUpdate('State vector must be one of Yjs.');
}
