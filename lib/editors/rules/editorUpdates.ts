import * as Y from 'yjs';
import { MalformedUpdate } from './yjs/document.ts';
import { EMPTY_UPDATE } from './editors.ts';

/** Whether a document has all of an update already: once more it would change nothing. */
export function holds(doc: Y.Doc, update: Uint8Array): boolean {
  return Y.snapshotContainsUpdate(Y.snapshot(doc), update);
}

/** Updates as one, without what a client with a state vector has; without a state vector all of them. MalformedUpdate when it is none. */
export function merged(updates: readonly Uint8Array[], stateVector?: Uint8Array): Uint8Array {
  if (updates.length === 0) return EMPTY_UPDATE;
  const all = Y.mergeUpdates([...updates]);
  try {
    return stateVector === undefined ? all : Y.diffUpdate(all, stateVector);
  } catch (cause) {
    throw new MalformedUpdate('State vector must be one of Yjs.', { cause });
  }
}
