import { distinct, distinctBy } from '../../shared/collections.ts';
import type { AgentRun } from '../../agents/rules/runs.ts';
import { invalid } from '../../shared/errors.ts';
import { agentSourceOf, parseAgent, type NewComment } from './comments.ts';

/** An agent of the service's own that a comment is of. */
export interface CommentAgent {
  readonly agentId: string;
  /** Absent where the comment does not say which execution it came from. */
  readonly run: AgentRun | undefined;
}

/** The same text for the same execution of the same agent. */
export function agentRunKey({ agentId, run }: CommentAgent): string {
  return JSON.stringify([agentId, run?.executionId]);
}

/**
 * The service's own agents that comments are of, each once with each of its executions. Comments that do not say when they were made are of
 * `createdAt`; nothing was executed later than `now`, whatever they say.
 */
export function agentsOfComments(
  comments: readonly Pick<NewComment, 'agent' | 'createdAt'>[],
  { createdAt, now }: { createdAt: number; now: number },
): CommentAgent[] {
  const agents = comments.flatMap((comment): CommentAgent[] => {
    const agent = comment.agent && parseAgent(comment.agent);
    if (!agent || agentSourceOf(agent.agentSource) === 'external') return [];
    const { agentId, executionId } = agent;
    return [
      {
        agentId,
        run: executionId === undefined ? undefined : { executionId, at: Math.min(comment.createdAt ?? createdAt, now) },
      },
    ];
  });
  return distinctBy(agents, agentRunKey);
}

/** Throws INVALID_ARGUMENT when an agent is neither external nor the service's own, which is called by the service's name or `svc`. */
export function requireAgentSources(comments: readonly Pick<NewComment, 'agent'>[], serviceName: string): void {
  const known = distinct(['svc', serviceName, 'external']);
  for (const { agent } of comments) {
    if (agent === undefined || known.includes(parseAgent(agent).agentSource)) continue;
    const message = `agent.agentSource must be ${known.map((name) => JSON.stringify(name)).join(' or ')}`;
    throw invalid({ path: ['agent', 'agentSource'], code: 'invalid_value', message });
  }
}
