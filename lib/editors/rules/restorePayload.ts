import type { ContentNames } from '../../content/rules/eventMetadata.ts';
import type { EventPayload } from '../../events/rules/payload.ts';
import { editorPayload } from './editorUpdatePayload.ts';

export interface RestoredVersion {
  readonly editorId: string;
  readonly versionId: string;
  readonly versionName: string | undefined;
  readonly keptVersionId: string;
}

export function versionRestoreData({ editorId, versionId, versionName, keptVersionId }: RestoredVersion) {
  return { crdtVersion: { id: editorId, restoredVersionId: versionId, name: versionName, keptVersionId } };
}

export function restorePayload(
  names: ContentNames,
  { userId, ...restored }: RestoredVersion & { readonly userId: string },
): EventPayload {
  return editorPayload(names, userId, versionRestoreData(restored));
}
