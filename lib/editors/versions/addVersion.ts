import { type Capability, combine } from '../../app/capability.ts';
import { type DocumentReference, findWritableDocument } from '../../content/documentScope.ts';
import { retryOnConflict } from '../../table/retryOnConflict.ts';
import { tableWith } from '../../table/storeCapability.ts';
import { insert } from '../../table/table.ts';
import { versionSettings } from '../../workspaces/configs/apiKeyConfig.ts';
import { unchangedUpdate } from '../editorLog.ts';
import { EditorReader } from '../editorReader.ts';
import { EditorUpdateEntity } from '../entities.ts';
import type { EditorVersion } from './entities.ts';
import { editorName, type NewVersion, planVersion } from './planVersion.ts';
import { VersionStore } from './versionStore.ts';

/**
 * Repeated with the same `versionId`, returns the version that exists. Throws the errors of `FindDocument`,
 * RESOURCE_EXHAUSTED above the limits of an editor, and ABORTED after too many conflicts.
 */
type AddVersion = (
  tenant: string,
  reference: DocumentReference & { readonly editorId: string },
  version: Omit<NewVersion, 'settings'>,
) => Promise<EditorVersion>;

export const addVersion: Capability<AddVersion> = /* @__PURE__ */ combine(
  {
    findDocument: findWritableDocument,
    settingsOf: versionSettings,
    table: /* @__PURE__ */ tableWith(['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'DeleteItem', 'BatchWriteItem']),
  },
  ({ findDocument, settingsOf, table }): AddVersion => {
    const editors = new EditorReader(table);
    const versions = new VersionStore(table);
    return async (tenant, { editorId, ...reference }, request) => {
      const [{ scope }, settings] = await Promise.all([findDocument(tenant, reference), settingsOf(tenant)]);
      return retryOnConflict(async () => {
        const state = await editors.require(scope, editorId);
        const repeated = await versions.find(editorName(scope, state), request.versionId);
        if (repeated) return repeated;
        const plan = await planVersion(table, scope, state, { ...request, settings });
        const entry = { ...unchangedUpdate(state.newest, request.now), authors: [] };
        const outcome = await table.tryWrite([
          insert(EditorUpdateEntity, { ...scope, editorId, ...entry }),
          ...plan.ops,
        ]);
        await plan.finish(outcome === 'done');
        return outcome === 'done' ? plan.version : outcome;
      });
    };
  },
);
