import * as z from 'zod';
import { involvementKeys, purgeRecords } from '../content/documentPurge.ts';
import { InvolvementEntity } from '../content/involvements.ts';
import { defineContentKind } from '../content/kind.ts';
import { hintFor, removedHint, verbs, type Written } from '../content/rules/hints.ts';
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
  hint: {
    types: { 'recording.add': 'document', 'recording.update': 'document', 'recording.delete': 'document' },
    written: {
      Recording: (change: Written<Pick<Recording, 'annotationId'>>) =>
        hintFor(change, `recording.${verbs[change.change]}`, { annotationId: change.item.annotationId }),
    },
    removed: {
      RECORDINGS: { hint: (change, [, id = '']) => removedHint(change, 'recording.delete', 'annotationId', id) },
    },
  },
  remove: removeRecordingUser,
  erase: eraseRecordings,
});
