import * as z from 'zod';
import { type DeletedDocument, type PurgeHook, purgeItems, purgeRecords } from '../content/documentPurge.ts';
import { InvolvementEntity } from '../content/involvements.ts';
import { defineContentKind, type Involved, type LocatedRecord, type LocationDeletion } from '../content/kind.ts';
import { renameRecords } from '../content/rename.ts';
import { distinct, slicesOf } from '../shared/collections.ts';
import { BatchReader } from '../table/batchReader.ts';
import type { Stored } from '../table/entity.ts';
import { arePurged } from '../table/purgePartition.ts';
import { DeletedThreadEntity } from './deletedThreads.ts';
import { deleteThreads } from './deleteThreads.ts';
import { accessFieldsOf } from './rules/commentContext.ts';
import { CommentResponse, toCommentResponse } from './rules/commentResponses.ts';
import type { Comment } from './rules/comments.ts';
import { commentHints } from './rules/hints.ts';
import { changeThread } from './rules/threadChanges.ts';
import { type Thread, threadAccessOf } from './rules/threads.ts';
import { assigneeInvolvement, involvementsOf } from './threadInvolvements.ts';
import { CommentEntity, ThreadCounterEntity, ThreadEntity, threadIds, ThreadItems, ThreadReader } from './threads.ts';
import { ThreadViewsEntity } from './threadViews.ts';
import { eraseThreads, removeCommentUser } from './userRemoval.ts';

/** Few, because a thread can have a thousand comments. */
const THREADS_AT_ONCE = 10;

interface CommentInThread {
  readonly thread: Stored<Thread>;
  readonly comment: Stored<Comment>;
  readonly documentId: string;
}

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

const threadPurges = [purgeExistingThreads, purgeDeletedThreads, purgeItems<DeletedDocument>(ThreadViewsEntity)];

/**
 * A thread gets its number before it is written, so a document without a counter has no threads and no views. The
 * counter is removed last, so an interrupted purge continues.
 */
const purgeThreads: PurgeHook<DeletedDocument> = {
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

export const commentKind = defineContentKind({
  name: 'comment',
  ids: threadIds,
  involve: {
    field: 'comments',
    response: () =>
      z
        .array(CommentResponse.extend({ annotationId: z.string(), documentId: z.string() }))
        .describe(
          'The comments that the user wrote, or in which the user is mentioned or assigned, with their threads and documents.',
        ),
    async read(table, scope, involvements): Promise<(CommentInThread | undefined)[]> {
      const comments = await new ThreadReader(table).findInvolvedComments(scope, involvements);
      return comments.map((found) => found && { ...found, documentId: found.thread.documentId });
    },
    readDocuments: (table, scope, involvements) =>
      table.getMany(
        ThreadEntity,
        involvements.map(({ documentKey, id, createdAt }) => ({ ...scope, documentKey, annotationId: id, createdAt })),
      ),
    toResponse: (names, { thread: { annotationId }, comment, documentId }: CommentInThread) => ({
      annotationId,
      documentId,
      ...toCommentResponse({ apiKey: names.apiKey, organization: names, document: { documentId } }, comment),
    }),
    access: {
      read: (_table, _scope, organizationId, comments: readonly Involved<CommentInThread>[]) =>
        Promise.resolve(
          comments.map(({ record: { thread, comment } }) => ({
            thread: threadAccessOf(thread, organizationId),
            accessFields: accessFieldsOf(comment.context),
            needsDocumentAccess: true,
          })),
        ),
    },
  },
  locate: {
    entity: ThreadEntity,
    move(thread: Thread, _stored, location, now) {
      const changed = changeThread(thread, { location }, { now });
      return 'refused' in changed ? undefined : changed;
    },
    deletion: { run: deleteAtLocation },
  },
  rename: [
    renameRecords(ThreadEntity, {
      ids: { of: threadIds, idOf: ({ annotationId }) => annotationId },
      list: ThreadItems,
    }),
    renameRecords(DeletedThreadEntity),
  ],
  purge: { document: purgeThreads, organization: 'none' },
  hint: commentHints,
  remove: removeCommentUser,
  erase: eraseThreads,
});

async function deleteAtLocation(
  { table, key, requireTime }: LocationDeletion,
  threads: readonly LocatedRecord<Thread>[],
): Promise<boolean> {
  let isComplete = true;
  for (const group of Map.groupBy(threads, ({ scope }) => `${scope.organizationKey} ${scope.documentKey}`).values())
    for (const slice of slicesOf(group, THREADS_AT_ONCE)) {
      const { scope } = slice[0] as LocatedRecord<Thread>;
      const outcomes = await deleteThreads(
        table,
        scope,
        slice.map(({ record }) => record),
        requireTime(),
        { isSelected: (thread) => thread.locationKey === key },
      );
      isComplete = isComplete && !outcomes.includes('busy');
    }
  return isComplete;
}
