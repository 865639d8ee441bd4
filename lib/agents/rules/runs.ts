import * as z from 'zod';

/** One execution of an agent that comments name. */
export const AgentRun = z.object({
  executionId: z.string(),
  /** Creation time of the first comment that names the execution, epoch ms. */
  at: z.number(),
});
export type AgentRun = z.output<typeof AgentRun>;

/** Number of executions of an agent and time of the latest, epoch ms; absent before the first. */
export const runCount = { executionCount: z.number().optional(), lastExecutedAt: z.number().optional() };
export type RunCount = z.output<z.ZodObject<typeof runCount>>;

/** Adds runs that are not counted yet. */
export function addRuns<T extends RunCount>(counted: T, runs: readonly AgentRun[]): T {
  if (runs.length === 0) return counted;
  return {
    ...counted,
    executionCount: (counted.executionCount ?? 0) + runs.length,
    lastExecutedAt: Math.max(counted.lastExecutedAt ?? 0, ...runs.map(({ at }) => at)),
  };
}

/** Returns the count for a response: 0 and null before the first execution. */
export function toRunCountResponse({ executionCount = 0, lastExecutedAt }: RunCount) {
  return { executionCount, lastExecutedAt: lastExecutedAt ?? null };
}
