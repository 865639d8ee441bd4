import * as Y from 'yjs';

/** Thrown if bytes that should be a Yjs update or a state vector are neither. */
export class MalformedUpdate extends Error {}

/**
 * Returns a document that contains the updates. Updates may repeat and come in any order. Yjs keeps an update that
 * depends on a missing update until the missing update comes. Deleted content is dropped. Throws MalformedUpdate if an
 * update cannot be read.
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

/** Returns the whole state of a document as one update, including updates that wait for a missing update. */
export function encodeState(doc: Y.Doc): Uint8Array {
  return Y.encodeStateAsUpdate(doc);
}

/**
 * Returns an update without the structs that the document already has. Yjs ignores them when it applies the update, but
 * not when it merges updates. If a client sends another struct under the id of a stored one, only the stored one counts.
 */
export function withoutKnownChanges(doc: Y.Doc, update: Uint8Array): Uint8Array {
  return Y.diffUpdate(update, stateVectorOf(doc));
}

/** Returns the state vector of a document: how many changes the document has from each client. */
export function stateVectorOf(doc: Y.Doc): Uint8Array {
  return Y.encodeStateVector(doc);
}

/**
 * Returns the changes that a client with this state vector lacks, as one update. Without a state vector, returns all
 * changes. Throws MalformedUpdate if the bytes are not a state vector.
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
    // The first bytes are not a state vector, so `length` stays undefined.
  }
  // Another length means that a client occurs twice, or that more bytes follow.
  if (length !== bytes.length) throw new MalformedUpdate('State vector must be one of Yjs.');
}
