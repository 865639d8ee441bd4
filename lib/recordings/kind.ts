import * as z from 'zod';
import { involvementKeys, purgeRecords } from '../content/documentPurge.ts';
import { InvolvementEntity, removeReadInvolvement } from '../content/involvements.ts';
import { defineContentKind } from '../content/kind.ts';
import { renameRecords } from '../content/rename.ts';
import { hintFor, removedHint, verbs, type Written } from '../content/rules/hints.ts';
import { type DocumentRemoval, erasePage, isDocumentDeleted, joinOps } from '../content/userRemoval.ts';
import type { Stored } from '../table/entity.ts';
import { replace, type WriteOp } from '../table/table.ts';
import { readRecordings, recordingDeletionOps, RecordingEntity, recordingIds } from './recordings.ts';
import { eraseFromRecording, isRecordingOf, type Recording, RecordingResponse, toRecordingResponse } from './rules.ts';

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
  rename: [renameRecords(RecordingEntity, { ids: { of: recordingIds, idOf: ({ annotationId }) => annotationId } })],
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
  async remove(removal, involvement) {
    const { table, scope, removedUsers } = removal;
    const recording = await table.get(RecordingEntity, {
      ...scope,
      annotationId: involvement.id,
      createdAt: involvement.createdAt,
    });
    const ops = recording && isRecordingOf(recording, removedUsers) ? await deletionOps(removal, recording) : [];
    return table.tryWrite(joinOps(ops, [removeReadInvolvement(scope, involvement)]));
  },
  erase: {
    entities: [RecordingEntity],
    async erase(removal, after) {
      const { table, scope, removedUsers } = removal;
      return erasePage(
        removal,
        RecordingEntity,
        after,
        (recording) =>
          isRecordingOf(recording, removedUsers) || eraseFromRecording(recording, removedUsers) !== recording,
        async ({ annotationId, createdAt }) => {
          const recording = await table.get(RecordingEntity, { ...scope, annotationId, createdAt });
          if (!recording) return [];
          if (isRecordingOf(recording, removedUsers)) return deletionOps(removal, recording);
          const erased = eraseFromRecording(recording, removedUsers);
          return erased === recording ? [] : [replace(RecordingEntity, { ...scope, ...erased }, recording._r)];
        },
      );
    },
  },
});

async function deletionOps(removal: DocumentRemoval, recording: Stored<Recording>): Promise<WriteOp[]> {
  const isDeleted = await isDocumentDeleted(removal, recording.documentId);
  return isDeleted ? [] : recordingDeletionOps(removal.scope, [recording]);
}
