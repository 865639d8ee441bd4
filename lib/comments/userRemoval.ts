import { removeReadInvolvement } from '../content/involvements.ts';
import {
  type DocumentRemoval,
  type EraseHook,
  isDocumentDeleted,
  type Outcome,
  RECORDS_PER_PAGE,
  type RemoveInvolved,
} from '../content/userRemoval.ts';
import { inParallel } from '../shared/inParallel.ts';
import type { Stored } from '../table/entity.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { itemOf, replace, type WriteOp } from '../table/table.ts';
import { deleteComments } from './deleteComments.ts';
import { deleteThreads } from './deleteThreads.ts';
import type { Comment } from './rules/comments.ts';
import {
  eraseFromComment,
  eraseFromThread,
  isCommentOf,
  isThreadOf,
  removeFromComment,
  removeFromThread,
} from './rules/removedUsers.ts';
import type { Thread } from './rules/threads.ts';
import { CommentEntity, commentKey, type StoredThread, ThreadEntity, type ThreadKey, ThreadReader } from './threads.ts';

const PARALLEL = 4;
/** The number of comments of a thread that one read returns. */
const COMMENTS_PER_PAGE = 200;

/** Erases users from the threads of a document, page by page. */
export const eraseThreads: EraseHook = {
  entities: [ThreadEntity, CommentEntity],
  async erase(removal, after) {
    const { table, scope } = removal;
    const reader = new ThreadReader(table);
    const { records, next } = await reader.list(scope, {
      descending: false,
      filters: {},
      limit: RECORDS_PER_PAGE,
      after,
    });
    await inParallel(records, PARALLEL, async ({ value }) => eraseFromWholeThread(removal, reader, value));
    return next;
  },
};

/** Removes a user from a comment and from the head of its thread (the item of the thread itself). */
export const removeCommentUser: RemoveInvolved = (removal, involvement) => {
  const { id: annotationId, createdAt, commentId = -1 } = involvement;
  return changeComment(removal, { annotationId, createdAt }, commentId, [
    removeReadInvolvement(removal.scope, involvement),
  ]);
};

/** Erases users from a thread and all of its comments. */
async function eraseFromWholeThread(
  removal: DocumentRemoval,
  reader: ThreadReader,
  stored: StoredThread,
): Promise<void> {
  const { table, scope, removedUsers } = removal;
  const { thread } = stored;
  if (isThreadOf(thread, removedUsers)) {
    await retryOnConflict(async () => {
      const current = await table.get(ThreadEntity, { ...scope, ...thread });
      return current && isThreadOf(current, removedUsers) ? deleteWholeThread(removal, current) : 'done';
    });
    return;
  }
  for await (const comments of reader.allComments(scope, stored, COMMENTS_PER_PAGE))
    for (const comment of comments)
      if (isCommentOf(comment, removedUsers) || eraseFromComment(comment, removedUsers) !== comment)
        await retryOnConflict(() => changeComment(removal, thread, comment.commentId));
  if (eraseFromThread(thread, removedUsers) === thread) return;
  await retryOnConflict(async () => {
    const current = await table.get(ThreadEntity, { ...scope, ...thread });
    if (!current) return 'done';
    const erased = eraseFromThread(current, removedUsers);
    if (erased === current) return 'done';
    return table.tryWrite([replace(ThreadEntity, { ...scope, ...erased }, current._r)]);
  });
}

/**
 * Tries once to remove users from a comment and from the head of its thread. Deletes the whole thread if one of the users started
 * it. In mode `erase`, deletes the comment if one of the users wrote it. Also writes `extraOps`.
 */
async function changeComment(
  removal: DocumentRemoval,
  key: ThreadKey,
  commentId: number,
  extraOps: readonly WriteOp[] = [],
): Promise<Outcome> {
  const { table, scope, removedUsers, mode } = removal;
  const [thread, comment] = await table.batchGet(
    itemOf(ThreadEntity, { ...scope, ...key }),
    itemOf(CommentEntity, commentKey(scope, key, commentId)),
  );
  // Another worker or request is deleting the thread or the comment, with the items which say that the comment involves a user.
  // Only `extraOps` remain to be written.
  if (!thread || !comment) return table.tryWrite(extraOps);
  if (isThreadOf(thread, removedUsers)) return deleteWholeThread(removal, thread, extraOps);
  if (mode === 'erase' && isCommentOf(comment, removedUsers)) return deleteComment(removal, thread, comment, extraOps);
  const [head, after] =
    mode === 'remove'
      ? [removeFromThread(thread, removedUsers), removeFromComment(comment, removedUsers)]
      : [eraseFromThread(thread, removedUsers), eraseFromComment(comment, removedUsers)];
  return table.tryWrite([
    ...(head === thread ? [] : [replace(ThreadEntity, { ...scope, ...head }, thread._r)]),
    ...(after === comment ? [] : [replace(CommentEntity, { ...scope, ...after }, comment._r)]),
    ...extraOps,
  ]);
}

/** Tries once to delete an unchanged thread with all its records. Writes `extraOps` after the deletion has succeeded. */
async function deleteWholeThread(
  removal: DocumentRemoval,
  thread: Stored<Thread>,
  extraOps: readonly WriteOp[] = [],
): Promise<Outcome> {
  const { table, scope, clock } = removal;
  if (await isDocumentDeleted(removal, thread.documentId)) return table.tryWrite(extraOps);
  const isSelected = ({ _r }: Stored<Thread>) => _r === thread._r;
  const [outcome] = await deleteThreads(table, scope, [thread], clock(), { isSelected });
  // The deletion and `extraOps` can contain the same item. One transaction must not contain an item twice.
  return outcome === 'deleted' ? table.tryWrite(extraOps) : 'conflict';
}

/** Tries once to delete a comment with its reactions. Deletes the whole thread if it has no other comment. */
async function deleteComment(
  removal: DocumentRemoval,
  thread: Stored<Thread>,
  comment: Stored<Comment>,
  extraOps: readonly WriteOp[],
): Promise<Outcome> {
  // The comment may have been deleted after it was read and before the thread was read. Another comment is then the only one.
  if (thread.commentCount === 1 && thread.first.commentId === comment.commentId)
    return deleteWholeThread(removal, thread, extraOps);
  const { table, scope, removedUsers, clock } = removal;
  if (await isDocumentDeleted(removal, thread.documentId)) return table.tryWrite(extraOps);
  const outcome = await deleteComments(table, scope, thread, [comment], {
    changeThread: (next) => eraseFromThread({ ...next, lastUpdated: thread.lastUpdated }, removedUsers),
    extraOps,
    now: clock(),
  });
  return outcome === 'conflict' ? 'conflict' : 'done';
}
