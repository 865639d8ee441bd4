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
import { accessFieldsOf, type Comment } from './rules/comments.ts';
import { type Thread, threadAccessOf } from './rules/threads.ts';

const LIFETIME_SECONDS = 2 * 60 * 60;
/** The stream keeps a deletion for a day. */
const DELETION_LIFETIME_SECONDS = 2 * 24 * 60 * 60;

/** Who could see a thread or comment before, to notify those who no longer can. */
export const ThreadAccessChangeEntity = defineEntity({
  type: 'ThreadAccessChange',
  version: 2,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'Who could see a thread or comment before its access changed, for the push channel',
  schema: z.object({
    annotationId: z.string(),
    /** Epoch ms. */
    createdAt: z.number(),
    /** Undefined if the access of the thread changed. */
    commentId: z.number().optional(),
    /** The time of the change in epoch ms. */
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

/**
 * Returns the operation that records who could see a thread before a change. Returns none if the access to the thread is
 * unchanged, or if every user may see the thread now. Write it in the transaction of the change.
 */
export function threadAccessOps(scope: DocumentScope, before: Thread, after: Thread, now: number): WriteOp[] {
  const formerAccess = threadAccessOf(before, '');
  const access = threadAccessOf(after, '');
  if (isOpenToAll({ thread: access }) || isDeepStrictEqual(formerAccess, access)) return [];
  const { annotationId, createdAt } = after;
  const change = { annotationId, createdAt, changedAt: now, formerAccess: JSON.stringify(formerAccess) };
  return [upsert(ThreadAccessChangeEntity, { ...scope, ...change })];
}

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
    /** Epoch ms. */
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

/** For the transaction of the change. Returns none if every reader of the thread may see the comment now. */
export function commentAccessOps(
  scope: DocumentScope,
  thread: Thread,
  before: Comment,
  after: Comment,
  now: number,
): WriteOp[] {
  const [former, fields] = [accessFieldsOf(before.context), accessFieldsOf(after.context)];
  if (fields === undefined || isDeepStrictEqual(former, fields)) return [];
  const { annotationId, createdAt } = thread;
  const formerAccess = JSON.stringify(commentAccessOf(thread, before, ''));
  const change = { annotationId, createdAt, commentId: after.commentId, changedAt: now, formerAccess };
  return [upsert(ThreadAccessChangeEntity, { ...scope, ...change })];
}

/** For the transaction of the deletion. Returns none if everybody with access to the document could see the comment. */
export function hiddenDeletionOps(scope: DocumentScope, thread: Thread, comment: Comment, now: number): WriteOp[] {
  const access = commentAccessOf(thread, comment, '');
  if (isOpenToAll({ thread: access })) return [];
  const { annotationId, threadCreatedAt, commentId } = comment;
  const deletion = { annotationId, threadCreatedAt, commentId, deletedAt: now, access: JSON.stringify(access) };
  return [upsert(HiddenCommentDeletionEntity, { ...scope, ...deletion })];
}
