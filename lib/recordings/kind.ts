import { involvementKeys, purgeRecords } from '../content/documentPurge.ts';
import { InvolvementEntity } from '../content/involvements.ts';
import { defineContentKind } from '../content/kind.ts';
import { RecordIdEntity, recordIdKey } from '../content/recordIds.ts';
import { recordingDeletionOps, RecordingEntity } from './recordings.ts';
import { eraseRecordings, removeRecordingUser } from './userRemoval.ts';

export const recordingKind = defineContentKind({
  name: 'recording',
  purge: {
    document: purgeRecords(
      [RecordingEntity, InvolvementEntity, RecordIdEntity],
      RecordingEntity,
      (document, records) => ({
        recordIds: records.map(({ annotationId }) => recordIdKey('recording', annotationId, document.documentId)),
        keys: involvementKeys(recordingDeletionOps(document, records)),
      }),
    ),
    organization: 'none',
  },
  remove: removeRecordingUser,
  erase: eraseRecordings,
});
