import { removeReadInvolvement } from '../content/involvements.ts';
import {
  type DocumentRemoval,
  type EraseHook,
  erasePage,
  isDocumentDeleted,
  joinOps,
  type RemoveInvolved,
} from '../content/userRemoval.ts';
import type { Stored } from '../table/entity.ts';
import { replace, type WriteOp } from '../table/table.ts';
import { recordingDeletionOps, RecordingEntity } from './recordings.ts';
import { eraseFromRecording, isRecordingOf, type Recording } from './rules.ts';

/** Erases users from the recordings of a document, page by page. Deletes recordings that one of the users made. */
export const eraseRecordings: EraseHook = {
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
};

/**
 * Deletes the recording that an involvement names if one of the users made it. Otherwise only deletes the involvement: the item
 * which says that a user made a recording.
 */
export const removeRecordingUser: RemoveInvolved = async (removal, involvement) => {
  const { table, scope, removedUsers } = removal;
  const recording = await table.get(RecordingEntity, {
    ...scope,
    annotationId: involvement.id,
    createdAt: involvement.createdAt,
  });
  const ops = recording && isRecordingOf(recording, removedUsers) ? await deletionOps(removal, recording) : [];
  return table.tryWrite(joinOps(ops, [removeReadInvolvement(scope, involvement)]));
};

/** Returns the operations that delete a recording. Returns none if its document is deleted. */
async function deletionOps(removal: DocumentRemoval, recording: Stored<Recording>): Promise<WriteOp[]> {
  const isDeleted = await isDocumentDeleted(removal, recording.documentId);
  return isDeleted ? [] : recordingDeletionOps(removal.scope, [recording]);
}
