import * as z from 'zod';
import type { DocumentScope } from '../content/documentScope.ts';
import { recordPartition } from '../content/involvements.ts';
import { defineEntity } from '../table/entity.ts';

/** One hour longer than the life of an `Idempotency-Key`, because clocks differ. */
const LIFETIME_SECONDS = 25 * 60 * 60;

/**
 * Written in the transaction of the comments. Their ids are numbers of their thread, so the comments do not show which
 * call added them.
 */
export const CommentAdditionEntity = defineEntity({
  type: 'CommentAddition',
  version: 1,
  scope: 'tenant',
  ownedBy: 'expiry',
  purpose: 'The ids of the comments that a call with an Idempotency-Key added, for its repetition',
  schema: z.object({
    commentIds: z.array(z.number()),
    addedAt: z.number(),
  }),
  pk: (of: DocumentScope) => recordPartition(of, 'COMMENT_ADDITIONS'),
  sk: (key: { additionId: string }) => [key.additionId],
  expiresAt: ({ addedAt }) => Math.floor(addedAt / 1000) + LIFETIME_SECONDS,
});
