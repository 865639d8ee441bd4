import * as Y from 'yjs';
import type { DocumentScope } from '../content/documentScope.ts';
import { invalid } from '../shared/errors.ts';
import { type EditorReader, requireEditorKey } from './editorReader.ts';
import { EMPTY_UPDATE } from './rules/editors.ts';
import { MalformedUpdate, openDocument, stateVectorOf, updateSince } from './rules/yjs/document.ts';

export interface ClientState {
  readonly editorKey?: string | undefined;
  readonly stateVector?: Uint8Array | undefined;
  readonly version?: number | undefined;
}

export interface MissingUpdates {
  readonly editorKey: string;
  readonly update: string;
  readonly stateVector?: string;
  readonly version: number;
}

/**
 * Reads only the updates after the client's version if the log still has them. Throws NOT_FOUND if the editor does not
 * exist or has another key, and INVALID_ARGUMENT if decoding `stateVector` fails.
 */
export async function findMissingUpdates(
  editors: EditorReader,
  scope: DocumentScope,
  editorId: string,
  { editorKey, stateVector, version }: ClientState,
): Promise<MissingUpdates> {
  const later = version === undefined ? 'unavailable' : await editors.findUpdatesSince(scope, editorId, version);
  if (later !== 'unavailable') {
    requireEditorKey(later.head, editorKey);
    const update = encode(() => mergeUpdates(later.updates, stateVector));
    return { editorKey: later.head.internalId, update, version: later.version };
  }
  const { head, updates, newest } = await editors.require(scope, editorId);
  requireEditorKey(head, editorKey);
  const doc = openDocument(updates);
  return {
    editorKey: head.internalId,
    update: encode(() => updateSince(doc, stateVector)),
    stateVector: encode(() => stateVectorOf(doc)),
    version: newest.version,
  };
}

/** With a state vector, leaves out the changes that it covers. Throws MalformedUpdate if decoding it fails. */
export function mergeUpdates(updates: readonly Uint8Array[], stateVector?: Uint8Array): Uint8Array {
  if (updates.length === 0) return EMPTY_UPDATE;
  const all = Y.mergeUpdates([...updates]);
  try {
    return stateVector === undefined ? all : Y.diffUpdate(all, stateVector);
  } catch (cause) {
    throw new MalformedUpdate('State vector must be one of Yjs.', { cause });
  }
}

function encode(compute: () => Uint8Array): string {
  try {
    return Buffer.from(compute()).toString('base64');
  } catch (error) {
    if (!(error instanceof MalformedUpdate)) throw error;
    const message = 'stateVector must be a state vector of Yjs';
    throw invalid({ path: ['stateVector'], code: 'invalid_state_vector', message });
  }
}
