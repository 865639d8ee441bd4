import { type ContentNames, eventMetadata, eventMetadataIds } from '../../content/rules/eventMetadata.ts';
import { type EventPayload, MAX_PAYLOAD_BYTES } from '../../events/rules/payload.ts';
import { isLongerThan } from '../../shared/bytes.ts';

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
  const payloadWith = (metadata: Record<string, unknown>): EventPayload => ({
    source: 'crdt',
    data: { actionUser: { userId }, metadata, ...versionRestoreData(restored) },
  });
  const payload = payloadWith(eventMetadata(names));
  return isLongerThan(JSON.stringify(payload), MAX_PAYLOAD_BYTES) ? payloadWith(eventMetadataIds(names)) : payload;
}
