import { MalformedUpdate, openDocument, stateVectorOf, updateSince } from './rules/yjs/document.ts';
import { merged } from './rules/editorUpdates.ts';
import { invalid } from '../shared/errors.ts';
import type { DocumentScope } from '../content/documentScope.ts';
import type { Table } from '../table/table.ts';
import { EditorReader } from './editorReader.ts';
import { unknownEditor } from './unknownEditor.ts';
import { storeCapability } from '../table/storeCapability.ts';

/** What a client has of an editor. */
export interface Having {
  readonly stateVector?: Uint8Array | undefined;
  readonly version?: number | undefined;
}

/** What it lacks; the bytes in base64. */
export interface Lacking {
  readonly update: string;
  readonly stateVector?: string;
  readonly version: number;
}

/** Reads editors as updates. */
export class EditorUpdates {
  readonly #editors: EditorReader;

  constructor(table: Table) {
    this.#editors = new EditorReader(table);
  }

  /**
   * What a client lacks that has what a state vector says, or everything up to a version, or nothing. NOT_FOUND when there is no editor,
   * INVALID_ARGUMENT for what is no state vector.
   */
  async since(scope: DocumentScope, editorId: string, { stateVector, version }: Having): Promise<Lacking> {
    const later = version === undefined ? 'unknown' : await this.#editors.since(scope, editorId, version);
    if (later === undefined) throw unknownEditor();
    if (later !== 'unknown')
      return { update: base64(ofClient(() => merged(later.updates, stateVector))), version: later.version };
    const state = await this.#editors.find(scope, editorId);
    if (!state) throw unknownEditor();
    const doc = openDocument(state.updates);
    return {
      update: base64(ofClient(() => updateSince(doc, stateVector))),
      stateVector: base64(stateVectorOf(doc)),
      version: state.newest.version,
    };
  }
}

/** What some work with a state vector gives; INVALID_ARGUMENT when it is none. */
function ofClient<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof MalformedUpdate)
      throw invalid({
        path: ['stateVector'],
        code: 'invalid_state_vector',
        message: 'stateVector must be a state vector of Yjs',
      });
    throw error;
  }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
}

/** Read editors as updates. */
export const readUpdates = /* @__PURE__ */ storeCapability(EditorUpdates, ['BatchGetItem', 'Query']);
