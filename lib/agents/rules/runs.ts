import * as z from 'zod';

export const AgentRun = z.object({
  executionId: z.string(),
  /** Epoch ms: the time of the comment that names the execution first, or of the update that adds the name. */
  at: z.number(),
});
export type AgentRun = z.output<typeof AgentRun>;

export interface CommentAgent {
  readonly agentId: string;
  /** Undefined if the comment names no execution. */
  readonly run: AgentRun | undefined;
}

export function agentRunKey({ agentId, run }: CommentAgent): string {
  return JSON.stringify([agentId, run?.executionId]);
}

export const runCount = { executionCount: z.number().optional(), lastExecutedAt: z.number().optional() };
export type RunCount = z.output<z.ZodObject<typeof runCount>>;

export function addRuns<T extends RunCount>(counted: T, runs: readonly AgentRun[]): T {
  if (runs.length === 0) return counted;
  return {
    ...counted,
    executionCount: (counted.executionCount ?? 0) + runs.length,
    lastExecutedAt: Math.max(counted.lastExecutedAt ?? 0, ...runs.map(({ at }) => at)),
  };
}

export function toRunCountResponse({ executionCount = 0, lastExecutedAt }: RunCount) {
  return { executionCount, lastExecutedAt: lastExecutedAt ?? null };
}
