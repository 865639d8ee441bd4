import { type ContentNames, eventMetadata, eventMetadataIds } from '../../content/rules/eventMetadata.ts';
import { type EventPayload, MAX_PAYLOAD_BYTES } from '../../events/rules/payload.ts';
import { isLongerThan } from '../../shared/bytes.ts';
import type { EditorRecord } from './editors.ts';

/** The largest value of an editor that an event contains, in bytes of JSON. */
const MAX_DATA_BYTES = 128 * 1024;

/**
 * Returns the fields of `crdt.update_data` without actor and metadata. If the editor's value is larger than 128 KB, `truncated:
 * true` replaces the value.
 */
export function editorUpdateData({ id, data, lastUpdatedBy, sessionId, lastUpdate }: EditorRecord): {
  crdtData: object;
  truncated?: true;
} {
  const changed = { lastUpdatedBy, sessionId, lastUpdate };
  return isLongerThan(JSON.stringify(data), MAX_DATA_BYTES)
    ? { crdtData: { id, ...changed }, truncated: true }
    : { crdtData: { id, data, ...changed } };
}

/**
 * Returns the payload of `crdt.update_data`: an editor after some changes. The actor has only a user id, which is empty if no
 * change named a user.
 */
export function editorUpdatePayload(names: ContentNames, record: EditorRecord): EventPayload {
  const actionUser = { userId: record.lastUpdatedBy };
  const payload: EventPayload = {
    source: 'crdt',
    data: { actionUser, metadata: eventMetadata(names), ...editorUpdateData(record) },
  };
  if (!isLongerThan(JSON.stringify(payload), MAX_PAYLOAD_BYTES)) return payload;
  // The names and custom fields of organization and document can have 128 KB. If the payload is too large with them, it contains
  // only the ids of organization and document.
  return { source: 'crdt', data: { actionUser, metadata: eventMetadataIds(names), ...editorUpdateData(record) } };
}
