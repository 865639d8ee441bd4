import { removeInvolvement } from '../content/involvements.ts';
import { eraseFromRecording, isRecordingOf } from '../content/rules/removedUsers.ts';
import { type EraseHook, erasePage, type RemoveInvolved } from '../content/userRemoval.ts';
import { replace } from '../table/table.ts';
import { recordingDeletionOps, RecordingEntity } from './recordings.ts';

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
        if (isRecordingOf(recording, removedUsers)) return recordingDeletionOps(scope, [recording]);
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
  return table.tryWrite(
    recording && isRecordingOf(recording, removedUsers)
      ? recordingDeletionOps(scope, [recording])
      : [removeInvolvement(scope, involvement)],
  );
};
