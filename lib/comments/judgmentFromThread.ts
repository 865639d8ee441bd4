import type { DocumentContext } from '../content/documentScope.ts';
import type { ContentUser } from '../content/rules/contentUser.ts';
import { restartEmbedding, startEmbedding } from '../memory/embeddingJobs.ts';
import { JudgmentEntity } from '../memory/entities.ts';
import type { Judgment } from '../memory/rules/judgments.ts';
import { derivedId } from '../shared/ids.ts';
import type { Stored } from '../table/entity.ts';
import { insert, upsert, type WriteOp } from '../table/table.ts';
import type { Comment } from './rules/comments.ts';
import { decisionOf } from './rules/decisions.ts';
import type { Thread } from './rules/threads.ts';

export interface ThreadDecision {
  readonly actor: ContentUser;
  readonly reason: string;
  readonly now: number;
  readonly byUser: boolean;
}

/**
 * Returns the operations that store the decision of a change, or undefined if the change decides nothing. `notify` is
 * the id of the embedding job if the job may start now.
 *
 * With a user token, the last decision of a user in a thread replaces the former one, and its job starts a minute
 * later. Many changes then cause one embedding.
 */
export function judgmentFromThread(
  { scope, organization: { organizationId }, document: { documentId } }: DocumentContext,
  before: Stored<Thread>,
  after: Thread,
  first: Comment | undefined,
  { actor, reason, now, byUser }: ThreadDecision,
): { readonly ops: WriteOp[]; readonly notify: string | undefined } | undefined {
  const decision = decisionOf(before, after);
  if (decision === undefined) return undefined;
  const { tenant, organizationKey, documentKey } = scope;
  const { annotationId } = before;
  const { userId, name, email } = actor;
  const thread = [organizationKey, documentKey, annotationId];
  const [at, of] = byUser ? [before.createdAt, [...thread, 'user', userId]] : [now, [...thread, before._r]];
  const [recordId, jobId] = [derivedId('jdg', at, of), derivedId('job', at, of)];
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
  return byUser
    ? {
        notify: undefined,
        ops: [upsert(JudgmentEntity, { tenant, ...judgment }, now), restartEmbedding(tenant, jobId, [judgment], now)],
      }
    : {
        notify: jobId,
        ops: [insert(JudgmentEntity, { tenant, ...judgment }), startEmbedding(tenant, jobId, [judgment], now)],
      };
}
