import type * as Y from 'yjs';
import type { Capability } from '../app/capability.ts';
import { encodeState, openDocument } from './rules/yjs/document.ts';
import { replaceValue } from './rules/yjs/replaceValue.ts';
import { crdtLimits, type CrdtType, type CrdtValue } from './rules/yjs/values.ts';
import { requireSameKind } from './rules/editors.ts';
import { ApiError, invalid } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import type { DocumentContext, DocumentScope } from '../content/documentScope.ts';
import { insert } from '../table/table.ts';
import { type Editor, EditorEntity, EditorUpdateEntity } from './entities.ts';
import { beginTelling } from './debounce.ts';
import { type Changed, type Changing, EditorWriter, INLINE_BYTES, tooManyOthers } from './editorWriter.ts';
import { storeCapability } from '../table/storeCapability.ts';

/** What is to be in an editor. */
export interface NewValue {
  readonly type: CrdtType;
  readonly contentKey?: string | undefined;
  readonly data: CrdtValue;
}

const DEFAULT_CONTENT_KEY = 'content';

/** Gives editors values. */
export class EditorReplacer extends EditorWriter {
  /** Adds an editor with a value. ALREADY_EXISTS when there is one; INVALID_ARGUMENT for a value above the limits. */
  async add(
    { scope: scope, organization, document }: DocumentContext,
    editorId: string,
    { type, contentKey = DEFAULT_CONTENT_KEY, data }: NewValue,
    changing: Changing,
  ): Promise<Changed> {
    const { now } = changing;
    const doc = openDocument([]);
    const update = replaceValue(doc, type, contentKey, data);
    requireSize(doc, update);
    // In microseconds, which nobody writes as fast as: an editor added again later never has a version that an earlier one had.
    const head: Editor = {
      editorId,
      internalId: newId('edt', now),
      type,
      contentKey,
      createdAt: now,
      first: now * 1000,
    };
    const began = beginTelling({ scope: scope, organization, document }, head, now);
    // Before something large is written in vain.
    if (update && update.length > INLINE_BYTES) await this.#requireAbsent(scope, editorId);
    const entry = await this.entry(scope, head, undefined, { update, tellingSince: now }, changing);
    const outcome = await this.table.write([
      // The revision says which editor it is as well: one that was added again is not the one that somebody removes.
      insert(EditorEntity, { ...scope, ...head }, now),
      insert(EditorUpdateEntity, { ...scope, editorId, ...entry }),
      began.op,
    ]);
    if (outcome === 'done') return { version: entry.version, telling: began.message, compact: false };
    await this.#requireAbsent(scope, editorId);
    throw tooManyOthers();
  }

  /**
   * Makes the value of an editor this one by the smallest change, which wins over what it replaces and keeps what comes after. NOT_FOUND when
   * there is no editor, INVALID_ARGUMENT for another type or content key than it has, or a value above the limits; ABORTED when others keep changing it.
   */
  async replace(
    found: DocumentContext,
    editorId: string,
    { type, contentKey, data }: NewValue,
    changing: Changing,
  ): Promise<Changed> {
    return this.change(found, editorId, changing, (state, doc) => {
      requireSameKind(state.head, { type, contentKey });
      const update = replaceValue(doc, type, state.head.contentKey, data);
      requireSize(doc, update);
      return update;
    });
  }

  async #requireAbsent(scope: DocumentScope, editorId: string): Promise<void> {
    if (await this.table.get(EditorEntity, { ...scope, editorId }))
      throw new ApiError('ALREADY_EXISTS', 'CRDT data already exists for this editor ID.');
  }
}

/** INVALID_ARGUMENT when a replace would make the state of an editor too large. */
function requireSize(doc: Y.Doc, update: Uint8Array | undefined): void {
  // What deletes makes the state smaller, though hardly ever: only then it is worth to look.
  if (
    !update ||
    encodeState(doc).length + update.length <= crdtLimits.stateBytes ||
    encodeState(openDocument([encodeState(doc), update])).length <= crdtLimits.stateBytes
  )
    return;
  throw invalid({
    path: ['data'],
    code: 'too_big',
    message: `data would make the state of the editor larger than ${crdtLimits.stateBytes} bytes`,
  });
}

/** Add editors, and replace what is in them. */
export const replaceEditors: Capability<Pick<EditorReplacer, 'add' | 'replace'>> = /* @__PURE__ */ storeCapability(
  EditorReplacer,
  ['GetItem', 'BatchGetItem', 'Query', 'PutItem'],
);
