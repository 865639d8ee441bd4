import * as z from 'zod';
import type { BuiltInChange } from './rules/agents.ts';
import { builtInAgent } from './rules/builtIn.ts';
import { type AgentRun, withRuns } from './rules/runs.ts';
import type { StepResult, StoredJob } from '../jobs/jobStore.ts';
import { pause } from '../table/retryOnConflict.ts';
import { insert, remove, replace, type Table, type WriteOp } from '../table/table.ts';
import { AgentEntity, AgentRunEntity, BuiltInChangeEntity } from './entities.ts';

/** How long a step goes on, so that what it did is written down often enough. */
const STEP_MILLISECONDS = 2_000;
/** Executions that are counted by one transaction: two operations each, and the agent's. */
const AT_A_TIME = 40;

const CountedAgent = z.object({ agentId: z.string() });

/** The operation that writes an agent with further executions; undefined when there is no such agent. */
type Count = ((runs: readonly AgentRun[]) => WriteOp) | undefined;

/**
 * A step of a job that counts the executions of an agent which nobody has counted. Each is moved from those that are new to those that are counted
 * in the transaction that adds it to the agent's count: so it is counted once, whoever counts, and however often.
 */
export async function countAgentRunsStep(
  table: Table,
  { tenant, data }: StoredJob,
  clock: () => number,
): Promise<StepResult> {
  const { agentId } = CountedAgent.parse(JSON.parse(data));
  const until = clock() + STEP_MILLISECONDS;
  for (let conflicts = 0; clock() < until;) {
    const outcome = await countSome(table, tenant, agentId);
    if (outcome === 'none') return 'done';
    if (outcome === 'conflict') await pause(conflicts++);
  }
  return { progress: {} };
}

async function countSome(table: Table, tenant: string, agentId: string): Promise<'none' | 'done' | 'conflict'> {
  const [{ values: found }, count] = await Promise.all([
    table.query(AgentRunEntity, { tenant, agentId }, { prefix: ['NEW'], limit: AT_A_TIME }),
    builtInAgent(agentId) ? countOfBuiltIn(table, tenant, agentId) : countOfCustom(table, tenant, agentId),
  ]);
  // What is left of an agent that is gone is removed with its versions.
  if (found.length === 0 || !count) return 'none';
  const before = await table.getMany(
    AgentRunEntity,
    found.map(({ executionId }) => ({ tenant, agentId, state: 'COUNTED' as const, executionId })),
  );
  const runs = found.filter((_run, index) => !before[index]);
  const outcome = await table.write([
    ...found.map(({ executionId, _r }) => remove(AgentRunEntity, { tenant, agentId, state: 'NEW', executionId }, _r)),
    ...runs.map((run) => insert(AgentRunEntity, { tenant, agentId, state: 'COUNTED', ...run })),
    ...(runs.length > 0 ? [count(runs)] : []),
  ]);
  return outcome === 'done' ? 'done' : 'conflict';
}

async function countOfCustom(table: Table, tenant: string, agentId: string): Promise<Count> {
  const agent = await table.get(AgentEntity, { tenant, agentId });
  return agent && ((runs) => replace(AgentEntity, { tenant, ...withRuns(agent, runs) }, agent._r));
}

async function countOfBuiltIn(table: Table, tenant: string, agentId: string): Promise<Count> {
  const stored = await table.get(BuiltInChangeEntity, { tenant, agentId });
  const change: BuiltInChange = stored ?? { agentId };
  return (runs) => {
    const value = { tenant, ...withRuns(change, runs) };
    return stored ? replace(BuiltInChangeEntity, value, stored._r) : insert(BuiltInChangeEntity, value);
  };
}
