import { involvementKeys, keysOf, purgeRecords } from '../content/documentPurge.ts';
import { InvolvementEntity } from '../content/involvements.ts';
import { RecordIdEntity } from '../content/recordIds.ts';
import { distinct } from '../shared/collections.ts';
import { DeletedThreadEntity } from './deletedThreads.ts';
import { commentDeletionOps, removeAssigneeInvolvement } from './deleteThreads.ts';
import { CommentEntity, ThreadEntity } from './threads.ts';

/** The partition of threads and their comments. */
const threadItems = {
  partition: (of: Parameters<typeof ThreadEntity.partition>[0]) => ThreadEntity.partition(of),
  fromItem(item: Parameters<typeof ThreadEntity.fromItem>[0], now: number) {
    const comment = item._t === CommentEntity.type ? CommentEntity.fromItem(item, now) : undefined;
    const thread = item._t === CommentEntity.type ? undefined : ThreadEntity.fromItem(item, now);
    const record = comment ?? thread;
    return record && { comment, thread, annotationId: record.annotationId, _r: record._r };
  },
};
/**
 * A thread for which no comment counts as the first one. The deletion of a comment then leaves the involvement of the assignee,
 * which is removed with the head.
 */
const noFirstComment = { first: { commentId: -1, createdAt: 0 } };

/** Purges the threads and comments of a deleted document. */
export const purgeThreads = purgeRecords(
  [ThreadEntity, CommentEntity, InvolvementEntity, RecordIdEntity],
  threadItems,
  (document, items) => ({
    // The ids of threads also come from comments, because a thread without a head keeps its id until its last comment is removed.
    recordIds: distinct(items.map(({ annotationId }) => annotationId)).map((id) => ({
      kind: 'thread',
      id,
      within: document.documentId,
    })),
    keys: items.flatMap(({ comment, thread }) => {
      if (comment) return involvementKeys(commentDeletionOps(document, noFirstComment, comment));
      return thread?.assignedTo ? keysOf([removeAssigneeInvolvement(document, thread, thread.assignedTo)]) : [];
    }),
  }),
);

/** Purges the records of threads that were deleted before their document. */
export const purgeDeletedThreads = purgeRecords([DeletedThreadEntity], DeletedThreadEntity, () => ({
  recordIds: [],
  keys: [],
}));
