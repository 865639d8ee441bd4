import { isLongerThan } from '../../shared/bytes.ts';
import { type ContentNames, eventMetadataIds, eventMetadata } from '../../content/rules/names.ts';
import type { EditorRecord } from '../../editors/rules/editors.ts';
import { type EventPayload, LARGEST_PAYLOAD_BYTES } from './payload.ts';

/** The value of an editor is left out of an event above this size as JSON (design 6). */
const LARGEST_DATA_BYTES = 128 * 1024;

/** What `crdt.update_data` says besides who and where (facts B7); `truncated` when the value is too large to be told. */
export function editorUpdateData({ id, data, lastUpdatedBy, sessionId, lastUpdate }: EditorRecord): {
  crdtData: object;
  truncated?: true;
} {
  const changed = { lastUpdatedBy, sessionId, lastUpdate };
  return isLongerThan(JSON.stringify(data), LARGEST_DATA_BYTES)
    ? { crdtData: { id, ...changed }, truncated: true }
    : { crdtData: { id, data, ...changed } };
}

/** The payload of `crdt.update_data`: an editor as it is after some changes. Who made the last one is known by the id alone, which is empty when nobody said it. */
export function editorUpdatePayload(names: ContentNames, record: EditorRecord): EventPayload {
  const actionUser = { userId: record.lastUpdatedBy };
  const whole: EventPayload = {
    source: 'crdt',
    data: { actionUser, metadata: eventMetadata(names), ...editorUpdateData(record) },
  };
  if (!isLongerThan(JSON.stringify(whole), LARGEST_PAYLOAD_BYTES)) return whole;
  // Names and the customer's own fields of organization and document can have 128 KB.
  return { source: 'crdt', data: { actionUser, metadata: eventMetadataIds(names), ...editorUpdateData(record) } };
}
