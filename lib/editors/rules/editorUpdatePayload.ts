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
  const actionUser = { userId: record.lastUpdatedBy };
  const payload: EventPayload = {
    source: 'crdt',
    data: { actionUser, metadata: eventMetadata(names), ...editorUpdateData(record) },
  };
  if (!isLongerThan(JSON.stringify(payload), MAX_PAYLOAD_BYTES)) return payload;
  // Names and custom fields can have 128 KB. A payload that is too large with them has only the ids.
  return { source: 'crdt', data: { actionUser, metadata: eventMetadataIds(names), ...editorUpdateData(record) } };
}
