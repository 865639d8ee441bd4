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
const COMMENTS_PER_PAGE = 200;

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

/** Also removes the user from the head of the thread. */
export const removeCommentUser: RemoveInvolved = (removal, involvement) => {
  const { id: annotationId, createdAt, commentId = -1 } = involvement;
  return changeThread(removal, { annotationId, createdAt }, commentId, [
    removeReadInvolvement(removal.scope, involvement),
  ]);
};

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

/** Tries once to remove the users from the head of a thread, and from the comment `commentId`. Also writes `ops`. */
async function changeThread(
  removal: DocumentRemoval,
  key: ThreadKey,
  commentId?: number,
  ops: readonly WriteOp[] = [],
): Promise<Outcome> {
  const { table, scope, removedUsers, mode, clock } = removal;
  const ids = commentId === undefined ? [] : [commentId];
  const before = await new ThreadReader(table).findParts(scope, key, ids);
  // The call that deletes the missing thread or comment also deletes its involvements. Only `ops` remain to be written.
  if (!before || before.comments.length < ids.length) return table.tryWrite(ops);
  const { thread, comments } = before;
  const deleted = mode === 'erase' ? comments.filter((comment) => isCommentOf(comment, removedUsers)) : [];
  // If this comment was deleted before the head was read, the only comment left is another one.
  const isLast = thread.commentCount === 1 && deleted[0]?.commentId === thread.first.commentId;
  const isWhole = isLast || isThreadOf(thread, removedUsers);
  if ((isWhole || deleted.length > 0) && (await isDocumentDeleted(removal, thread.documentId)))
    return table.tryWrite(ops);
  if (isWhole) {
    const isSelected = ({ _r }: Stored<Thread>) => _r === thread._r;
    const [outcome] = await deleteThreads(table, scope, [thread], clock(), { isSelected });
    // The deletion can contain the items of `ops`, and a transaction must not contain an item twice.
    return outcome === 'deleted' ? table.tryWrite(ops) : 'conflict';
  }
  const remaining = deleted.length > 0 ? await loadForDeletion(table, scope, before, deleted) : before;
  const loaded = await loadAssignment(removal, remaining);
  const after = decideUserRemoval(loaded, commentId, removedUsers, mode);
  const changes = { after, events: [], ops, isRemoval: true };
  return commit(table, deletionTransaction({ scope, now: clock() }, loaded, changes));
}

/**
 * An erasure removes the assignee from the head. The assignee's involvement follows from the first comment, so that
 * comment is loaded too.
 */
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
