import type { DocumentScope } from '../content/documentScope.ts';
import { ANSWER_BYTES, jsonBytes } from '../shared/bytes.ts';
import type { EditorReader } from './editorReader.ts';
import type { EditorState } from './editorState.ts';
import { type EditorRecord, toEditorRecord } from './rules/editors.ts';
import { openDocument } from './rules/yjs/document.ts';
import { readValue } from './rules/yjs/readValue.ts';
import type { CrdtType } from './rules/yjs/values.ts';

/** Stops soon after the records exceed the limit of a response. The caller must check their size. */
export async function listEditorRecords(
  editors: EditorReader,
  scope: DocumentScope,
  { editorId, type }: { editorId?: string | undefined; type?: CrdtType | undefined },
): Promise<EditorRecord[]> {
  const records: EditorRecord[] = [];
  let bytes = 0;
  for await (const state of editorId === undefined ? editors.all(scope) : [editors.find(scope, editorId)]) {
    if (!state || (type !== undefined && state.head.type !== type)) continue;
    const record = recordOf(state);
    records.push(record);
    bytes += jsonBytes(record);
    if (bytes > ANSWER_BYTES) break;
  }
  return records.sort((a, b) => (a.id < b.id ? -1 : 1));
}

export function recordOf({ head, newest, updates }: EditorState): EditorRecord {
  return toEditorRecord(head.editorId, readValue(openDocument(updates), head.type, head.contentKey), newest);
}
