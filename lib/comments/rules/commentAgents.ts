import { agentRunKey, type CommentAgent } from '../../agents/rules/runs.ts';
import { distinct, distinctBy } from '../../shared/collections.ts';
import { fieldName, invalid, type Issue } from '../../shared/errors.ts';
import { agentSourceOf, type NewComment, parseAgent } from './commentRequests.ts';

/**
 * Leaves out external agents and repetitions. The time of an execution (epoch ms) is that of its comment, or
 * `createdAt`, and never later than `now`.
 */
export function agentsOfComments(
  comments: readonly Pick<NewComment, 'agent' | 'createdAt'>[],
  { createdAt, now }: { createdAt: number; now: number },
): CommentAgent[] {
  const agents = comments.flatMap((comment): CommentAgent[] => {
    const agent = comment.agent && parseAgent(comment.agent);
    if (!agent || agentSourceOf(agent.agentSource) === 'external') return [];
    const { agentId, executionId } = agent;
    const executedAt = Math.min(comment.createdAt ?? createdAt, now);
    return [{ agentId, run: executionId === undefined ? undefined : { executionId, at: executedAt } }];
  });
  return distinctBy(agents, agentRunKey);
}

/** Throws INVALID_ARGUMENT unless each `agentSource` is `external`, `svc` or the name of the service. */
export function requireAgentSources(
  comments: readonly Pick<NewComment, 'agent'>[],
  path: Issue['path'],
  serviceName: string,
): void {
  comments.forEach((comment, index) => requireAgentSource(comment, [...path, index], serviceName));
}

export function requireAgentSource(
  { agent }: Pick<NewComment, 'agent'>,
  path: Issue['path'],
  serviceName: string,
): void {
  const sources = distinct(['svc', serviceName, 'external']);
  if (agent === undefined || sources.includes(parseAgent(agent).agentSource)) return;
  const field = [...path, 'agent', 'agentSource'];
  const message = `${fieldName(field)} must be ${sources.map((name) => JSON.stringify(name)).join(' or ')}`;
  throw invalid({ path: field, code: 'invalid_value', message });
}
