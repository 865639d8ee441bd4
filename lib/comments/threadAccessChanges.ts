import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import type { DocumentScope } from '../content/documentScope.ts';
import { recordPartition } from '../content/involvements.ts';
import { isOpenToAll } from '../content/rules/threadAccess.ts';
import type { ThreadAccess } from '../directory/rules/visibility.ts';
import { isoTime } from '../shared/isoTime.ts';
import { defineEntity } from '../table/entity.ts';
import { sortableNumber } from '../table/keys.ts';
import { upsert, type WriteOp } from '../table/table.ts';
import { accessFieldsOf } from './rules/commentContext.ts';
import type { Comment } from './rules/comments.ts';
import { type Thread, threadAccessOf } from './rules/threads.ts';

const LIFETIME_SECONDS = 2 * 60 * 60;
/** The stream keeps a deletion for a day. */
const DELETION_LIFETIME_SECONDS = 2 * 24 * 60 * 60;

export const ThreadAccessChangeEntity = defineEntity({
  type: 'ThreadAccessChange',
  version: 2,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'Who could see a thread or comment before its access changed, for the push channel',
  schema: z.object({
    annotationId: z.string(),
    createdAt: z.number(),
    commentId: z.number().optional(),
    changedAt: z.number(),
    /** A `ThreadAccess` as JSON text. */
    formerAccess: z.string(),
  }),
  pk: (of: DocumentScope) => recordPartition(of, 'THREAD_ACCESS_CHANGES'),
  sk: (key: { changedAt: number; annotationId: string; commentId?: number | undefined }) => [
    isoTime(key.changedAt),
    key.annotationId,
    ...(key.commentId === undefined ? [] : [sortableNumber(key.commentId)]),
  ],
  expiresAt: ({ changedAt }) => Math.floor(changedAt / 1000) + LIFETIME_SECONDS,
});

export const HiddenCommentDeletionEntity = defineEntity({
  type: 'HiddenCommentDeletion',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'Who could see a deleted comment that was hidden from some users, for the push channel',
  schema: z.object({
    annotationId: z.string(),
    threadCreatedAt: z.number(),
    commentId: z.number(),
    deletedAt: z.number(),
    access: z.string(),
  }),
  pk: (of: DocumentScope) => recordPartition(of, 'HIDDEN_COMMENT_DELETIONS'),
  sk: ({
    annotationId,
    threadCreatedAt,
    commentId,
  }: Pick<Comment, 'annotationId' | 'threadCreatedAt' | 'commentId'>) => [
    isoTime(threadCreatedAt),
    annotationId,
    sortableNumber(commentId),
  ],
  expiresAt: ({ deletedAt }) => Math.floor(deletedAt / 1000) + DELETION_LIFETIME_SECONDS,
});

export function commentAccessOf(
  thread: Pick<Thread, 'visibility' | 'context' | 'from'>,
  comment: Pick<Comment, 'context'>,
  organizationId: string,
): ThreadAccess {
  const access = threadAccessOf(thread, organizationId);
  return { ...access, accessFields: [...(access.accessFields ?? []), ...(accessFieldsOf(comment.context) ?? [])] };
}

/** Records who could see a thread and its comments before a change, for those who no longer can. */
export function accessOps(
  scope: DocumentScope,
  [before, after]: readonly [Thread, Thread],
  comments: readonly { readonly old: Comment | undefined; readonly next: Comment | undefined }[],
  now: number,
): WriteOp[] {
  const { annotationId, createdAt } = after;
  const changed = (formerAccess: ThreadAccess, commentId?: number) =>
    upsert(ThreadAccessChangeEntity, {
      ...scope,
      annotationId,
      createdAt,
      commentId,
      changedAt: now,
      formerAccess: JSON.stringify(formerAccess),
    });
  const [formerAccess, access] = [threadAccessOf(before, ''), threadAccessOf(after, '')];
  const isNarrowed = !isOpenToAll({ thread: access }) && !isDeepStrictEqual(formerAccess, access);
  const ofComments = comments.flatMap(({ old, next }) => {
    if (!old) return [];
    const formerAccess = commentAccessOf(before, old, '');
    if (next) {
      const fields = accessFieldsOf(next.context);
      const isSame = fields === undefined || isDeepStrictEqual(accessFieldsOf(old.context), fields);
      return isSame ? [] : [changed(formerAccess, next.commentId)];
    }
    if (isOpenToAll({ thread: formerAccess })) return [];
    const { threadCreatedAt, commentId } = old;
    const deletion = { annotationId, threadCreatedAt, commentId, deletedAt: now, access: JSON.stringify(formerAccess) };
    return [upsert(HiddenCommentDeletionEntity, { ...scope, ...deletion })];
  });
  return [...(isNarrowed ? [changed(formerAccess)] : []), ...ofComments];
}
