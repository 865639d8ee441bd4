import { involvementKeys, purgeRecords } from '../content/documentPurge.ts';
import { InvolvementEntity } from '../content/involvements.ts';
import { RecordIdEntity, recordIdKey } from '../content/recordIds.ts';
import { recordingDeletionOps, RecordingEntity } from './recordings.ts';

/** Purges the recordings of a deleted document. */
export const purgeRecordings = purgeRecords(
  [RecordingEntity, InvolvementEntity, RecordIdEntity],
  RecordingEntity,
  (document, records) => ({
    recordIds: records.map(({ annotationId }) => recordIdKey('recording', annotationId, document.documentId)),
    keys: involvementKeys(recordingDeletionOps(document, records)),
  }),
);
