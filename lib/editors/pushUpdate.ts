import * as Y from 'yjs';
import type { DocumentContext } from '../content/documentScope.ts';
import { invalid } from '../shared/errors.ts';
import type { Author, Changed, EditorLog } from './editorLog.ts';
import { requireEditorKey } from './editorReader.ts';
import { withoutKnownChanges } from './rules/yjs/document.ts';
import { findUpdateFault } from './rules/yjs/updateFaults.ts';

/**
 * Writes nothing if the editor already contains the update. Throws NOT_FOUND if the editor does not exist or has
 * another key, INVALID_ARGUMENT if the editor cannot take the update, and ABORTED after too many conflicts.
 */
export async function pushUpdate(
  editors: EditorLog,
  context: DocumentContext,
  { editorId, editorKey, update }: { editorId: string; editorKey?: string | undefined; update: Uint8Array },
  author: Author,
): Promise<Changed> {
  return editors.change(context, editorId, author, ({ head }, doc) => {
    requireEditorKey(head, editorKey);
    const fault = findUpdateFault(doc, head.type, head.contentKey, update);
    if (fault !== undefined) throw invalid({ path: ['update'], code: 'invalid_update', message: fault });
    return Y.snapshotContainsUpdate(Y.snapshot(doc), update) ? undefined : withoutKnownChanges(doc, update);
  });
}
