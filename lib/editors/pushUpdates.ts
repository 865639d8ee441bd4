import type { Capability } from '../app/capability.ts';
import { findUpdateFault } from './rules/yjs/updateFaults.ts';
import { holds } from './rules/editorUpdates.ts';
import { invalid } from '../shared/errors.ts';
import type { DocumentContext } from '../content/documentScope.ts';
import { type Changed, type Changing, EditorWriter } from './editorWriter.ts';
import { storeCapability } from '../table/storeCapability.ts';

/** Takes what clients change in editors. */
export class EditorPusher extends EditorWriter {
  /**
   * Adds a client's update. What the editor has already is not added again. NOT_FOUND when there is no editor, INVALID_ARGUMENT for an update that
   * is malformed, contradicts the type, or leads beyond the limits; ABORTED when others keep changing it.
   */
  async push(found: DocumentContext, editorId: string, update: Uint8Array, changing: Changing): Promise<Changed> {
    return this.change(found, editorId, changing, ({ head }, doc) => {
      const fault = findUpdateFault(doc, head.type, head.contentKey, update);
      if (fault !== undefined) throw invalid({ path: ['update'], code: 'invalid_update', message: fault });
      return holds(doc, update) ? undefined : update;
    });
  }
}

/** Push clients' updates to editors. */
export const pushToEditors: Capability<Pick<EditorPusher, 'push'>> = /* @__PURE__ */ storeCapability(EditorPusher, [
  'GetItem',
  'BatchGetItem',
  'Query',
  'PutItem',
]);
