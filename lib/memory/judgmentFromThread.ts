import type { Comment } from '../comments/rules/comments.ts';
import type { Thread } from '../comments/rules/threads.ts';
import type { DocumentContext } from '../content/documentScope.ts';
import type { ContentUser } from '../content/rules/contentUser.ts';
import { derivedId } from '../shared/ids.ts';
import type { Stored } from '../table/entity.ts';
import { insert, type WriteOp } from '../table/table.ts';
import { startEmbedding } from './embeddingJobs.ts';
import { JudgmentEntity } from './entities.ts';
import { decisionOf } from './rules/decisions.ts';
import type { Judgment } from './rules/judgments.ts';

/** Who changes a thread, and why. */
export interface ThreadDecision {
  readonly actor: ContentUser;
  readonly reason: string;
  readonly now: number;
}

/**
 * Returns the writes of the judgment that a change of a thread makes, and the id of the job that embeds the judgment.
 * Put the writes into the transaction of the change. Returns undefined if the change decides nothing.
 */
export function judgmentFromThread(
  { scope, organization: { organizationId }, document: { documentId } }: DocumentContext,
  before: Stored<Thread>,
  after: Thread,
  first: Comment | undefined,
  { actor, reason, now }: ThreadDecision,
): { readonly ops: WriteOp[]; readonly jobId: string } | undefined {
  const decision = decisionOf(before, after);
  if (decision === undefined) return undefined;
  const { tenant, organizationKey, documentKey } = scope;
  const { annotationId } = before;
  // The ids are derived from the change, so that a retry of the change makes the same ids.
  const change = [organizationKey, documentKey, annotationId, before._r];
  const [recordId, jobId] = [derivedId('jdg', now, change), derivedId('job', now, change)];
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
    ops: [insert(JudgmentEntity, { tenant, ...judgment }), startEmbedding(tenant, jobId, [judgment], now)],
  };
}
