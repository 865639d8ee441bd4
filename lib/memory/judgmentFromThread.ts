import type { Comment } from '../comments/rules/comments.ts';
import type { Thread } from '../comments/rules/threads.ts';
import type { ContentUser } from '../content/rules/user.ts';
import { decisionOf } from './rules/decisions.ts';
import type { Judgment } from './rules/judgments.ts';
import { derivedId } from '../shared/ids.ts';
import { beginEmbedding } from './pendingJudgments.ts';
import type { DocumentContext } from '../content/documentScope.ts';
import type { Stored } from '../table/entity.ts';
import { insert, type WriteOp } from '../table/table.ts';
import { JudgmentEntity } from './entities.ts';

/** Why somebody changes threads. */
export interface Reason {
  readonly actor: ContentUser;
  readonly reason: string;
  readonly now: number;
}

/**
 * The judgment that a change of a thread is, for the transaction of the change: the operations, and the job that makes its vectors, as no model is
 * asked in between. Undefined when the change decides nothing.
 */
export function judgmentOps(
  { scope: scope, organization: { organizationId }, document: { documentId } }: DocumentContext,
  before: Stored<Thread>,
  after: Thread,
  first: Comment | undefined,
  { actor, reason, now }: Reason,
): { readonly ops: WriteOp[]; readonly jobId: string } | undefined {
  const decision = decisionOf(before, after);
  if (decision === undefined) return undefined;
  const { tenant, organizationKey, documentKey } = scope;
  const { annotationId } = before;
  // Of the same change the same ones.
  const of = [organizationKey, documentKey, annotationId, before._r];
  const [recordId, jobId] = [derivedId('jdg', now, of), derivedId('job', now, of)];
  const { userId, name, email } = actor;
  const judgment: Judgment = {
    recordId,
    organizationKey,
    organizationId,
    documentKey,
    documentId,
    decision,
    reasoning: reason,
    content: first?.commentText,
    actionUser: { userId, name, email },
    annotationId,
    createdAt: now,
  };
  return {
    jobId,
    ops: [
      insert(JudgmentEntity, { tenant, ...judgment }),
      beginEmbedding(tenant, { jobId, judgments: [judgment] }, now),
    ],
  };
}
