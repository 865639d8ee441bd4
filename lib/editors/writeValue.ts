import type * as Y from 'yjs';
import type { DocumentContext } from '../content/documentScope.ts';
import { invalid } from '../shared/errors.ts';
import type { Author, Changed, EditorLog } from './editorLog.ts';
import { requireSameKind } from './rules/editors.ts';
import { encodeState, openDocument } from './rules/yjs/document.ts';
import { replaceValue } from './rules/yjs/replaceValue.ts';
import { crdtLimits, type CrdtType, type CrdtValue } from './rules/yjs/values.ts';

export interface NewValue {
  readonly editorId: string;
  readonly type: CrdtType;
  readonly contentKey?: string | undefined;
  readonly data: CrdtValue;
}

/**
 * Throws ALREADY_EXISTS if the editor exists, INVALID_ARGUMENT if its state would be too large, and ABORTED after
 * another conflict.
 */
export async function addEditor(
  editors: EditorLog,
  context: DocumentContext,
  { editorId, type, contentKey = 'content', data }: NewValue,
  author: Author,
): Promise<Changed> {
  const update = replaceWithinLimits(openDocument([]), type, contentKey, data);
  return editors.add(context, { editorId, type, contentKey }, update, author);
}

/**
 * Makes the smallest change, so that concurrent changes of clients survive. Throws NOT_FOUND if the editor does not
 * exist, INVALID_ARGUMENT if the type or content key differs or the state would be too large, and ABORTED after too
 * many conflicts.
 */
export async function updateEditor(
  editors: EditorLog,
  context: DocumentContext,
  { editorId, type, contentKey, data }: NewValue,
  author: Author,
): Promise<Changed> {
  return editors.change(context, editorId, author, ({ head }, doc) => {
    requireSameKind(head, { type, contentKey });
    return replaceWithinLimits(doc, type, head.contentKey, data);
  });
}

function replaceWithinLimits(doc: Y.Doc, type: CrdtType, contentKey: string, data: CrdtValue): Uint8Array | undefined {
  const update = replaceValue(doc, type, contentKey, data);
  if (!update) return undefined;
  const state = encodeState(doc);
  // Deletions can make the state smaller, so its exact size is computed only above the limit.
  if (state.length + update.length <= crdtLimits.stateBytes) return update;
  if (encodeState(openDocument([state, update])).length <= crdtLimits.stateBytes) return update;
  throw invalid({
    path: ['data'],
    code: 'too_big',
    message: `data would make the state of the editor larger than ${crdtLimits.stateBytes} bytes`,
  });
}
