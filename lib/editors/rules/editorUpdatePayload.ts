import { type ContentNames, eventMetadata, eventMetadataIds } from '../../content/rules/eventMetadata.ts';
import { type EventPayload, MAX_PAYLOAD_BYTES } from '../../events/rules/payload.ts';
import { isLongerThan } from '../../shared/bytes.ts';
import type { EditorRecord } from './editors.ts';

const MAX_DATA_BYTES = 128 * 1024;

export function editorUpdateData({ id, data, lastUpdatedBy, sessionId, lastUpdate }: EditorRecord): {
  crdtData: object;
  truncated?: true;
} {
  const changed = { lastUpdatedBy, sessionId, lastUpdate };
  return isLongerThan(JSON.stringify(data), MAX_DATA_BYTES)
    ? { crdtData: { id, ...changed }, truncated: true }
    : { crdtData: { id, data, ...changed } };
}

export function editorUpdatePayload(names: ContentNames, record: EditorRecord): EventPayload {
  return editorPayload(names, record.lastUpdatedBy, editorUpdateData(record));
}

export function editorPayload(names: ContentNames, userId: string, data: object): EventPayload {
  const payloadWith = (metadata: object): EventPayload => ({
    source: 'crdt',
    data: { actionUser: { userId }, metadata, ...data },
  });
  const payload = payloadWith(eventMetadata(names));
  // Names and custom fields can have 128 KB. A payload that is too large with them has only the ids.
  return isLongerThan(JSON.stringify(payload), MAX_PAYLOAD_BYTES) ? payloadWith(eventMetadataIds(names)) : payload;
}
