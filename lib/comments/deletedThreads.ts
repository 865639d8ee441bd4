import * as z from 'zod';
import type { DocumentScope } from '../content/documentScope.ts';
import { recordPartition } from '../content/involvements.ts';
import { readRecordPage, type RecordPageOptions } from '../content/recordListing.ts';
import { isOpenToAll } from '../content/rules/threadAccess.ts';
import { isoTime } from '../shared/isoTime.ts';
import { defineEntity } from '../table/entity.ts';
import { joinKey } from '../table/keys.ts';
import type { RecordPage } from '../table/recordPage.ts';
import { type Table, upsert, type WriteOp } from '../table/table.ts';
import { type Thread, threadAccessOf } from './rules/threads.ts';

const LIFETIME_SECONDS = 30 * 24 * 60 * 60;

export const DeletedThread = z.object({
  annotationId: z.string(),
  documentId: z.string(),
  deletedAt: z.number().describe('When the thread was deleted, in epoch milliseconds.'),
});
export type DeletedThread = z.output<typeof DeletedThread>;

export const DeletedThreadEntity = defineEntity({
  type: 'DeletedThread',
  version: 1,
  scope: 'tenant',
  ownedBy: 'document',
  purpose: 'The id of a thread that was deleted in the last 30 days',
  schema: DeletedThread.extend({
    /** A `ThreadAccess` as JSON text. Undefined for a public thread. */
    access: z.string().optional(),
  }),
  pk: (of: DocumentScope) => recordPartition(of, 'DELETED_THREADS'),
  sk: (key: { deletedAt: number; annotationId: string }) => [isoTime(key.deletedAt), key.annotationId],
  expiresAt: ({ deletedAt }) => Math.floor(deletedAt / 1000) + LIFETIME_SECONDS,
});

export function recordThreadDeletion(scope: DocumentScope, thread: Thread, now: number): WriteOp {
  const { annotationId, documentId } = thread;
  // Every reader has the organization id, so the tombstone does not need it.
  const access = threadAccessOf(thread, '');
  return upsert(DeletedThreadEntity, {
    ...scope,
    annotationId,
    documentId,
    deletedAt: now,
    access: isOpenToAll({ thread: access }) ? undefined : JSON.stringify(access),
  });
}

/** Threads that were deleted at or after `deletedAfter` (epoch ms), oldest deletion first. */
export async function listDeletedThreads(
  table: Table,
  scope: DocumentScope,
  deletedAfter: number,
  { after, limit }: RecordPageOptions,
): Promise<RecordPage<DeletedThread>> {
  // A key with only a time sorts directly before all keys with this time.
  const start = after ?? joinKey([isoTime(deletedAfter)]);
  return readRecordPage(table, DeletedThreadEntity, scope, {
    after: start,
    limit,
    toResponse: ({ annotationId, documentId, deletedAt }) => ({ annotationId, documentId, deletedAt }),
  });
}
