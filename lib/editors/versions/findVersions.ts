import { type Capability, combine } from '../../app/capability.ts';
import {
  type DocumentReference,
  type FindDocument,
  findDocument,
  findWritableDocument,
} from '../../content/documentScope.ts';
import { tableWith } from '../../table/storeCapability.ts';
import { unknownEditor } from '../editorReader.ts';
import { type Editor, EditorEntity } from '../entities.ts';
import type { EditorName } from './entities.ts';

export interface FoundEditor {
  readonly editor: EditorName;
  readonly head: Editor;
}

/** Throws the errors of `FindDocument`, and NOT_FOUND for an unknown editor. */
type FindEditor = (
  tenant: string,
  reference: DocumentReference & { readonly editorId: string },
) => Promise<FoundEditor>;

const finding = (findsDocument: Capability<FindDocument>): Capability<FindEditor> =>
  combine(
    { find: findsDocument, table: tableWith(['GetItem']) },
    ({ find, table }): FindEditor =>
      async (tenant, { editorId, ...reference }) => {
        const { scope } = await find(tenant, reference);
        const head = await table.get(EditorEntity, { ...scope, editorId });
        if (!head) throw unknownEditor();
        return { editor: { ...scope, editorId, internalId: head.internalId }, head };
      },
  );

export const findEditor = /* @__PURE__ */ finding(findDocument);
export const findWritableEditor = /* @__PURE__ */ finding(findWritableDocument);
