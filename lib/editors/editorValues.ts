import { openDocument } from './rules/yjs/document.ts';
import { readValue } from './rules/yjs/readValue.ts';
import type { CrdtType } from './rules/yjs/values.ts';
import { type EditorRecord, editorRecord } from './rules/editors.ts';
import { ANSWER_BYTES } from '../shared/bytes.ts';
import type { DocumentScope } from '../content/documentScope.ts';
import type { Table } from '../table/table.ts';
import type { EditorState } from './editorState.ts';
import { EditorReader } from './editorReader.ts';
import { storeCapability } from '../table/storeCapability.ts';

/** Reads editors as values. */
export class EditorValues {
  readonly #editors: EditorReader;

  constructor(table: Table) {
    this.#editors = new EditorReader(table);
  }

  /** The record of an editor, or none when there is no editor, or one of another type. */
  async one(scope: DocumentScope, editorId: string, type?: CrdtType): Promise<EditorRecord[]> {
    const state = await this.#editors.find(scope, editorId);
    return state && isOfType(state, type) ? [recordOf(state)] : [];
  }

  /** The records of a document's editors, or of those of one type, by their ids; some of them when all would not fit into an answer. */
  async all(scope: DocumentScope, type?: CrdtType): Promise<EditorRecord[]> {
    const records: EditorRecord[] = [];
    let bytes = 0;
    for await (const state of this.#editors.all(scope)) {
      if (!isOfType(state, type)) continue;
      const record = recordOf(state);
      records.push(record);
      bytes += Buffer.byteLength(JSON.stringify(record));
      // The answer is refused then; the rest would only cost.
      if (bytes > ANSWER_BYTES) break;
    }
    return records.sort((a, b) => (a.id < b.id ? -1 : 1));
  }
}

function isOfType({ head }: EditorState, type: CrdtType | undefined): boolean {
  return type === undefined || head.type === type;
}

function recordOf({ head, newest, updates }: EditorState): EditorRecord {
  return editorRecord(head.editorId, readValue(openDocument(updates), head.type, head.contentKey), newest);
}

/** Read editors as values. */
export const listEditors = /* @__PURE__ */ storeCapability(EditorValues, ['BatchGetItem', 'Query']);
