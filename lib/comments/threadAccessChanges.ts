import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import type { DocumentScope } from '../content/documentScope.ts';
import { recordPartition } from '../content/involvements.ts';
import { isOpenToAll } from '../content/rules/threadAccess.ts';
import { isoTime } from '../shared/isoTime.ts';
import { defineEntity } from '../table/entity.ts';
import { upsert, type WriteOp } from '../table/table.ts';
import { type Thread, threadAccessOf } from './rules/threads.ts';

const LIFETIME_SECONDS = 2 * 60 * 60;

/**
 * Who could see a thread before its access changed. The push channel reads this record to notify users who can no longer see the
 * thread.
 */
export const ThreadAccessChangeEntity = defineEntity({
  type: 'ThreadAccessChange',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'Who could see a thread before its access changed, for the push channel',
  schema: z.object({
    annotationId: z.string(),
    createdAt: z.number(),
    /** The time of the change in epoch ms. */
    changedAt: z.number(),
    /** A `ThreadAccess` as JSON text. */
    formerAccess: z.string(),
  }),
  pk: (of: DocumentScope) => recordPartition(of, 'THREAD_ACCESS_CHANGES'),
  sk: (key: { changedAt: number; annotationId: string }) => [isoTime(key.changedAt), key.annotationId],
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
