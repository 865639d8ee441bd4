import { type DeletedDocument, type PurgeHook, purgeRecords } from '../content/documentPurge.ts';
import { InvolvementEntity } from '../content/involvements.ts';
import { distinct } from '../shared/collections.ts';
import { BatchReader } from '../table/batchReader.ts';
import { arePurged } from '../table/purgePartition.ts';
import { DeletedThreadEntity } from './deletedThreads.ts';
import { assigneeInvolvement, involvementsOf } from './threadInvolvements.ts';
import { CommentEntity, ThreadCounterEntity, ThreadEntity, threadIds, ThreadItems } from './threads.ts';

const purgeExistingThreads = purgeRecords(
  [ThreadEntity, CommentEntity, InvolvementEntity],
  threadIds,
  ThreadItems,
  (document, items) => ({
    // A thread without head can still have comments, and its id stays reserved until the last one is purged.
    ids: distinct(items.map(({ annotationId }) => annotationId)),
    keys: items
      .flatMap((item) => {
        // The involvement of the assignee is purged with the head, and not with the first comment.
        if ('commentId' in item) return involvementsOf(document, { comments: [item], reactions: [] });
        return item.assignedTo ? [assigneeInvolvement(document, item, item.assignedTo)] : [];
      })
      .map((involvement) => InvolvementEntity.key({ ...document, ...involvement })),
  }),
);

/** The tombstones of threads that were deleted before their document. */
const purgeDeletedThreads = purgeRecords([DeletedThreadEntity], 'none', DeletedThreadEntity, () => ({
  ids: [],
  keys: [],
}));

const threadPurges = [purgeExistingThreads, purgeDeletedThreads];

/**
 * A thread gets its number before it is written, so a document without a counter never had a thread. The counter is
 * removed last, so an interrupted purge continues.
 */
export const purgeThreads: PurgeHook<DeletedDocument> = {
  entities: [...threadPurges.flatMap(({ entities }) => entities), ThreadCounterEntity],
  async purge(table, document, budget) {
    // Several documents are purged at the same time. The reads of their counters share a call.
    const counter = await BatchReader.of(table).get(ThreadCounterEntity, document);
    if (!counter) return true;
    if (!(await arePurged(threadPurges.map((hook) => hook.purge(table, document, budget))))) return false;
    await table.removeKeys([ThreadCounterEntity.key(document)]);
    return true;
  },
};
