import * as z from 'zod';

/** An execution of an agent that comments came from, however many. */
export const AgentRun = z.object({
  executionId: z.string(),
  /** When the first comment that told of it was made, epoch ms. */
  at: z.number(),
});
export type AgentRun = z.output<typeof AgentRun>;

/** What is counted of an agent's executions; nothing is there before the first one. */
export interface RunCount {
  readonly executionCount?: number | undefined;
  readonly lastExecutedAt?: number | undefined;
}

/** What is counted of an agent with further executions, none of which was counted before. */
export function withRuns<T extends RunCount>(counted: T, runs: readonly AgentRun[]): T {
  if (runs.length === 0) return counted;
  return {
    ...counted,
    executionCount: (counted.executionCount ?? 0) + runs.length,
    lastExecutedAt: Math.max(counted.lastExecutedAt ?? 0, ...runs.map(({ at }) => at)),
  };
}

/** The count as answers show it (design 14). */
export function toRunsResponse({
  executionCount = 0,
  lastExecutedAt = null,
}: {
  executionCount?: number | undefined;
  lastExecutedAt?: number | null | undefined;
}) {
  return { executionCount, lastExecutedAt };
}
