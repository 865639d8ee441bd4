import { involvementKeys, keysOf, purgeRecords } from '../content/documentPurge.ts';
import { InvolvementEntity } from '../content/involvements.ts';
import { RecordIdEntity } from '../content/recordIds.ts';
import { distinct } from '../shared/collections.ts';
import { DeletedThreadEntity } from './deletedThreads.ts';
import { commentDeletionOps, removeAssigneeInvolvement } from './deleteThreads.ts';
import { CommentEntity, ThreadEntity } from './threads.ts';

/** Reads threads and comments, which share a partition. */
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
 * This object is passed to the deletion of a comment in place of its thread, so that no comment counts as the first one. The item
 * which says that the first comment involves the assignee is then deleted only with the thread's head.
 */
const noFirstComment = { first: { commentId: -1, createdAt: 0 } };

/** Purges the threads and comments of a deleted document. */
export const purgeThreads = purgeRecords(
  [ThreadEntity, CommentEntity, InvolvementEntity, RecordIdEntity],
  threadItems,
  (document, items) => ({
    // A thread can have comments although its head (the item of the thread itself) is deleted. Its id stays reserved until its
    // last comment is purged, so ids are taken from comments too.
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

/** Purges tombstones, the records with which clients find deleted threads. These threads were deleted before their document. */
export const purgeDeletedThreads = purgeRecords([DeletedThreadEntity], DeletedThreadEntity, () => ({
  recordIds: [],
  keys: [],
}));
