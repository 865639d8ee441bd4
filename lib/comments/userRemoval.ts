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
import type { WriteOp } from '../table/table.ts';
import { commit, type LoadedThread } from './commitThread.ts';
import { deleteThreads, deletionTransaction } from './deleteThreads.ts';
import { loadForDeletion } from './loadDeletion.ts';
import { decideUserRemoval, eraseFromComment, eraseFromThread, isCommentOf, isThreadOf } from './rules/removedUsers.ts';
import type { Thread } from './rules/threads.ts';
import { CommentEntity, type StoredThread, ThreadEntity, type ThreadKey, ThreadReader } from './threads.ts';

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
  return changeThread(removal, { annotationId, createdAt }, commentId, [
    removeReadInvolvement(removal.scope, involvement),
  ]);
};

/** Erases users from a thread and all of its comments. */
async function eraseFromWholeThread(
  removal: DocumentRemoval,
  reader: ThreadReader,
  stored: StoredThread,
): Promise<void> {
  const { scope, removedUsers } = removal;
  const { thread } = stored;
  const isWhole = isThreadOf(thread, removedUsers);
  for await (const comments of isWhole ? [] : reader.allComments(scope, stored, COMMENTS_PER_PAGE))
    for (const comment of comments)
      if (isCommentOf(comment, removedUsers) || eraseFromComment(comment, removedUsers) !== comment)
        await retryOnConflict(() => changeThread(removal, thread, comment.commentId));
  if (isWhole || eraseFromThread(thread, removedUsers) !== thread)
    await retryOnConflict(() => changeThread(removal, thread));
}

/**
 * Tries once to remove users from the head of a thread and from a comment. Deletes the whole thread if one of the users started
 * it. In mode `erase`, deletes the comment if one of the users wrote it. Also writes `ops`.
 */
async function changeThread(
  removal: DocumentRemoval,
  key: ThreadKey,
  commentId?: number,
  ops: readonly WriteOp[] = [],
): Promise<Outcome> {
  const { table, scope, removedUsers, mode, clock } = removal;
  const ids = commentId === undefined ? [] : [commentId];
  const before = await new ThreadReader(table).findParts(scope, key, ids);
  // Another worker or request is deleting the thread or the comment, with their involvements. Only `ops` remain to be written.
  if (!before || before.comments.length < ids.length) return table.tryWrite(ops);
  const { thread, comments } = before;
  const deleted = mode === 'erase' ? comments.filter((comment) => isCommentOf(comment, removedUsers)) : [];
  // The comment may have been deleted after it was read and before the thread was read. Another comment is then the only one.
  const isLast = thread.commentCount === 1 && deleted[0]?.commentId === thread.first.commentId;
  const isWhole = isLast || isThreadOf(thread, removedUsers);
  if ((isWhole || deleted.length > 0) && (await isDocumentDeleted(removal, thread.documentId)))
    return table.tryWrite(ops);
  if (isWhole) {
    const isSelected = ({ _r }: Stored<Thread>) => _r === thread._r;
    const [outcome] = await deleteThreads(table, scope, [thread], clock(), { isSelected });
    // The deletion and `ops` can contain the same item. One transaction must not contain an item twice.
    return outcome === 'deleted' ? table.tryWrite(ops) : 'conflict';
  }
  const remaining = deleted.length > 0 ? await loadForDeletion(table, scope, before, deleted) : before;
  const loaded = await loadAssignment(removal, remaining);
  const after = decideUserRemoval(loaded, commentId, removedUsers, mode);
  const changes = { after, events: [], ops, isRemoval: true };
  return commit(table, deletionTransaction({ scope, now: clock() }, loaded, changes));
}

/** Adds the first comment to a thread that loses its assignee, because it involves the assignee. */
async function loadAssignment(
  { table, scope, mode, removedUsers }: DocumentRemoval,
  before: LoadedThread,
): Promise<LoadedThread> {
  const { assignedTo, first } = before.thread;
  const isKnown = before.comments.some(({ commentId }) => commentId === first.commentId);
  if (mode === 'remove' || isKnown || !assignedTo || !removedUsers.userIds.has(assignedTo.userId)) return before;
  const [comment] = await new ThreadReader(table).findComments(scope, before.thread, [first.commentId]);
  return comment ? { ...before, comments: [...before.comments, comment] } : before;
}
