import type { AgentRun } from '../../agents/rules/runs.ts';
import { distinct, distinctBy } from '../../shared/collections.ts';
import { invalid } from '../../shared/errors.ts';
import { agentSourceOf, type NewComment, parseAgent } from './comments.ts';

/** An agent of the service that wrote a comment. */
export interface CommentAgent {
  readonly agentId: string;
  /** The execution of the agent. Undefined if the comment does not name one. */
  readonly run: AgentRun | undefined;
}

/** Returns a key that is unique for an agent and its execution. */
export function agentRunKey({ agentId, run }: CommentAgent): string {
  return JSON.stringify([agentId, run?.executionId]);
}

/**
 * Returns the agents of the service that wrote the comments, once per execution. The time of an execution is the time of its
 * comment, or `createdAt` if the comment has none. It is never later than `now`. All times are epoch ms.
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
export function requireAgentSources(comments: readonly Pick<NewComment, 'agent'>[], serviceName: string): void {
  const sources = distinct(['svc', serviceName, 'external']);
  for (const { agent } of comments) {
    if (agent === undefined || sources.includes(parseAgent(agent).agentSource)) continue;
    const message = `agent.agentSource must be ${sources.map((name) => JSON.stringify(name)).join(' or ')}`;
    throw invalid({ path: ['agent', 'agentSource'], code: 'invalid_value', message });
  }
}
