import * as z from 'zod';
import { involvementKeys, purgeRecords } from '../content/documentPurge.ts';
import { InvolvementEntity } from '../content/involvements.ts';
import { defineContentKind } from '../content/kind.ts';
import type { Stored } from '../table/entity.ts';
import { readRecordings, recordingDeletionOps, RecordingEntity, recordingIds } from './recordings.ts';
import { type Recording, RecordingResponse, toRecordingResponse } from './rules.ts';
import { eraseRecordings, removeRecordingUser } from './userRemoval.ts';

export const recordingKind = defineContentKind({
  name: 'recording',
  ids: recordingIds,
  involve: {
    field: 'recordings',
    response: () => z.array(RecordingResponse).describe('The recordings of the user.'),
    read: readRecordings,
    toResponse: (names, recording: Recording) => toRecordingResponse(names, recording),
    access: 'none',
  },
  locate: {
    entity: RecordingEntity,
    move: (recording: Recording, stored, _location, now) => ({ ...recording, ...stored, lastUpdated: now }),
    deletion: { ops: (scope, recording: Stored<Recording>) => recordingDeletionOps(scope, [recording]) },
  },
  purge: {
    document: purgeRecords(
      [RecordingEntity, InvolvementEntity],
      recordingIds,
      RecordingEntity,
      (document, records) => ({
        ids: records.map(({ annotationId }) => annotationId),
        keys: involvementKeys(recordingDeletionOps(document, records)),
      }),
    ),
    organization: 'none',
  },
  remove: removeRecordingUser,
  erase: eraseRecordings,
});
