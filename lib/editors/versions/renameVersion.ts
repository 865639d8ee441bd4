import { type Capability, combine } from '../../app/capability.ts';
import type { DocumentReference } from '../../content/documentScope.ts';
import { versionSettings } from '../../workspaces/configs/apiKeyConfig.ts';
import { expiryOf, findSurplus } from '../rules/versionLife.ts';
import type { EditorVersion } from './entities.ts';
import { findWritableEditor } from './findVersions.ts';
import { changeVersions, outlives } from './versionStore.ts';

/** Throws NOT_FOUND, RESOURCE_EXHAUSTED for a named version too many, and ABORTED after too many conflicts. */
type RenameVersion = (
  tenant: string,
  version: DocumentReference & { readonly editorId: string; readonly versionId: string },
  change: Pick<EditorVersion, 'name' | 'metadata'>,
) => Promise<void>;

export const renameVersion: Capability<RenameVersion> = /* @__PURE__ */ combine(
  { find: findWritableEditor, settingsOf: versionSettings, versions: changeVersions },
  ({ find, settingsOf, versions }): RenameVersion =>
    async (tenant, { versionId, ...reference }, { name, metadata }) => {
      const [{ editor }, settings] = await Promise.all([find(tenant, reference), settingsOf(tenant)]);
      await versions.change(editor, versionId, async (stored, all) => {
        const changed = { ...stored, ...(metadata !== undefined && { metadata }) };
        if (name === undefined) return changed;
        if (!stored.isAutomatic) return { ...changed, name };
        findSurplus(await all(), { isAutomatic: false, bytes: 0, now: stored.createdAt });
        const named = { ...changed, name, isAutomatic: false };
        const expiresAt = expiryOf(named, undefined, settings);
        return outlives({ expiresAt }, stored) ? { ...named, expiresAt } : named;
      });
    },
);
