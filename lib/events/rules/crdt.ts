import { isLongerThan } from '../../shared/bytes.ts';
import { type ContentNames, eventMetadataIds, eventMetadata } from '../../content/rules/names.ts';
import type { EditorRecord } from '../../editors/rules/editors.ts';
import { type EventPayload, LARGEST_PAYLOAD_BYTES } from './payload.ts';

/** The value of an editor is left out of an event above this size as JSON. */
const LARGEST_DATA_BYTES = 128 * 1024;

/** Returns the fields of `crdt.update_data` without actor and metadata; `truncated` when the value is too large. */
export function editorUpdateData({ id, data, lastUpdatedBy, sessionId, lastUpdate }: EditorRecord): {
  crdtData: object;
  truncated?: true;
} {
  const changed = { lastUpdatedBy, sessionId, lastUpdate };
  return isLongerThan(JSON.stringify(data), LARGEST_DATA_BYTES)
    ? { crdtData: { id, ...changed }, truncated: true }
    : { crdtData: { id, data, ...changed } };
}

/** Returns the payload of `crdt.update_data`: an editor after some changes. Its actor is only an id, empty if no call named one. */
export function editorUpdatePayload(names: ContentNames, record: EditorRecord): EventPayload {
  const actionUser = { userId: record.lastUpdatedBy };
  const payload: EventPayload = {
    source: 'crdt',
    data: { actionUser, metadata: eventMetadata(names), ...editorUpdateData(record) },
  };
  if (!isLongerThan(JSON.stringify(payload), LARGEST_PAYLOAD_BYTES)) return payload;
  // Names and custom fields of organization and document can have 128 KB. Reduce them to ids.
  return { source: 'crdt', data: { actionUser, metadata: eventMetadataIds(names), ...editorUpdateData(record) } };
}
