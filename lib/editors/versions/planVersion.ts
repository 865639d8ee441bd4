import type { DocumentScope } from '../../content/documentScope.ts';
import type { Log } from '../../observability/log.ts';
import * as logMessages from '../../observability/logMessages.ts';
import type { Stored } from '../../table/entity.ts';
import { insert, replace, type Table, upsert, type WriteOp } from '../../table/table.ts';
import type { EditorState } from '../editorState.ts';
import { stateVersionOf } from '../entities.ts';
import { expiryOf, findSurplus, type VersionSettings } from '../rules/versionLife.ts';
import { encodeState, openDocument } from '../rules/yjs/document.ts';
import { pack, writeBlob } from '../storedBytes.ts';
import { type EditorName, type EditorVersion, EditorVersionEntity, EditorVersionPartEntity } from './entities.ts';
import { outlives, VersionStore } from './versionStore.ts';

export interface NewVersion extends Pick<
  EditorVersion,
  'versionId' | 'name' | 'metadata' | 'isAutomatic' | 'restoredVersionId'
> {
  readonly now: number;
  readonly settings: VersionSettings;
  readonly log: Log;
}

export interface VersionPlan {
  readonly version: EditorVersion;
  readonly ops: readonly WriteOp[];
  /** Call it after the transaction: removes versions that made room, or what a failed transaction left. Logs failures. */
  readonly finish: (isWritten: boolean) => Promise<void>;
}

export function editorName(scope: DocumentScope, { head }: Pick<EditorState, 'head'>): EditorName {
  return { ...scope, editorId: head.editorId, internalId: head.internalId };
}

/**
 * Writes the state of an editor as the blob of a new version. A version of the same state shares the blob of one that
 * lives as long. Throws RESOURCE_EXHAUSTED above the limits of an editor.
 */
export async function planVersion(
  table: Table,
  scope: DocumentScope,
  state: EditorState,
  { now, settings, log, ...fields }: NewVersion,
): Promise<VersionPlan> {
  const editor = editorName(scope, state);
  const store = new VersionStore(table);
  const versions = await store.all(editor);
  const stateVersion = stateVersionOf(state.newest);
  const before = versions.find(({ isAutomatic }) => isAutomatic)?.createdAt;
  const expiresAt = expiryOf({ ...fields, createdAt: now }, before, settings);
  const common = {
    ...fields,
    editorId: editor.editorId,
    internalId: editor.internalId,
    stateVersion,
    createdAt: now,
    authors: state.newest.authors ?? [],
    expiresAt,
  };
  const room = { isAutomatic: fields.isAutomatic, now, kept: fields.restoredVersionId };
  const same = versions.find((version) => version.stateVersion === stateVersion && !outlives({ expiresAt }, version));
  if (same) {
    findSurplus(versions, { ...room, bytes: 0 });
    const version = { ...common, blob: same.blob, bytes: same.bytes };
    return { version, ops: [insertOp(editor, version), unchangedOp(editor, same)], finish: () => Promise.resolve() };
  }
  const bytes = pack(encodeState(openDocument(state.updates)));
  const surplus = findSurplus(versions, { ...room, bytes: bytes.length });
  const blob = await writeBlob(table, bytes, now, (part) =>
    upsert(EditorVersionPartEntity, { ...editor, ...part, expiresAt }),
  );
  const version = { ...common, blob, bytes: bytes.length };
  return {
    version,
    ops: [insertOp(editor, version)],
    finish: async (isWritten) => {
      const cleaned = isWritten ? store.removeUnchanged(editor, surplus) : store.removeParts(editor, [version]);
      await cleaned.catch((error: unknown) => {
        log.error(logMessages.editorVersionCleanupFailed, { error });
      });
    },
  };
}

function insertOp(editor: EditorName, version: EditorVersion): WriteOp {
  return insert(EditorVersionEntity, { ...editor, ...version });
}

/** Conflicts if the version was deleted, with whose blob another version is made. */
function unchangedOp(editor: EditorName, { _r: revision, ...version }: Stored<EditorVersion>): WriteOp {
  return replace(EditorVersionEntity, { ...editor, ...version }, revision);
}
