import * as z from 'zod';

/** One execution of an agent. Comments name the execution by its id. */
export const AgentRun = z.object({
  executionId: z.string(),
  /** The creation time of the first comment that names the execution, epoch ms. */
  at: z.number(),
});
export type AgentRun = z.output<typeof AgentRun>;

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

/** The number of executions of an agent, and the time of the latest execution (epoch ms). Both are absent before the first execution. */
export const runCount = { executionCount: z.number().optional(), lastExecutedAt: z.number().optional() };
export type RunCount = z.output<z.ZodObject<typeof runCount>>;

/** Returns the agent with the runs added to its count. None of the runs may be counted already. */
export function addRuns<T extends RunCount>(counted: T, runs: readonly AgentRun[]): T {
  if (runs.length === 0) return counted;
  return {
    ...counted,
    executionCount: (counted.executionCount ?? 0) + runs.length,
    lastExecutedAt: Math.max(counted.lastExecutedAt ?? 0, ...runs.map(({ at }) => at)),
  };
}

/** Returns the count for a response. Before the first execution, the number is 0 and the time is null. */
export function toRunCountResponse({ executionCount = 0, lastExecutedAt }: RunCount) {
  return { executionCount, lastExecutedAt: lastExecutedAt ?? null };
}
