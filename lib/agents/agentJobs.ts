import * as z from 'zod';
import type { StepResult, StoredJob } from '../jobs/jobStore.ts';
import { purgePartition } from '../table/purgePartition.ts';
import { pause } from '../table/retryOnConflict.ts';
import { insert, remove, replace, type Table, type WriteOp } from '../table/table.ts';
import { AgentGroupStore } from './agentGroups.ts';
import { AgentEntity, AgentRunEntity, AgentVersionEntity, BuiltInChangeEntity } from './entities.ts';
import type { BuiltInChange } from './rules/agents.ts';
import { findBuiltInAgent } from './rules/builtIn.ts';
import { addRuns, type AgentRun } from './rules/runs.ts';

/** Length of a step. Progress is stored after each step. */
const STEP_MS = 2_000;
/** Runs per transaction: two operations each, and one for the agent. */
const RUNS_PER_TRANSACTION = 40;

function agentIdOf({ data }: StoredJob): string {
  return z.object({ agentId: z.string() }).parse(JSON.parse(data)).agentId;
}

/** Runs a step of the purge of a deleted agent: its versions, its runs, and its id in groups. Idempotent. */
export async function purgeAgentStep(table: Table, job: StoredJob, clock: () => number): Promise<StepResult> {
  const agent = { tenant: job.tenant, agentId: agentIdOf(job) };
  const budget = { clock, deadline: clock() + STEP_MS };
  for (const partition of [AgentVersionEntity.partition(agent), AgentRunEntity.partition(agent)]) {
    if (!(await purgePartition(table, partition, budget))) return { progress: {} };
  }
  await new AgentGroupStore(table).removeAgent(agent.tenant, agent.agentId, clock());
  return 'done';
}

/**
 * Runs a step of the job that counts the new runs of an agent. A run moves from NEW to COUNTED in the transaction
 * that adds it to the count, so each run is counted once, also by parallel and repeated jobs.
 */
export async function countAgentRunsStep(table: Table, job: StoredJob, clock: () => number): Promise<StepResult> {
  const deadline = clock() + STEP_MS;
  for (let conflicts = 0; clock() < deadline;) {
    const outcome = await countSome(table, job.tenant, agentIdOf(job));
    if (outcome === 'none') return 'done';
    if (outcome === 'conflict') await pause(conflicts++);
  }
  return { progress: {} };
}

async function countSome(table: Table, tenant: string, agentId: string): Promise<'none' | 'done' | 'conflict'> {
  const [{ values: found }, count] = await Promise.all([
    table.query(AgentRunEntity, { tenant, agentId }, { prefix: ['NEW'], limit: RUNS_PER_TRANSACTION }),
    findBuiltInAgent(agentId) ? readBuiltInAgent(table, tenant, agentId) : readCustomAgent(table, tenant, agentId),
  ]);
  // The runs of a deleted agent are purged with its versions.
  if (found.length === 0 || !count) return 'none';
  const counted = await table.getMany(
    AgentRunEntity,
    found.map(({ executionId }) => ({ tenant, agentId, state: 'COUNTED' as const, executionId })),
  );
  const runs = found.filter((_run, index) => !counted[index]);
  const outcome = await table.write([
    ...found.map(({ executionId, _r }) => remove(AgentRunEntity, { tenant, agentId, state: 'NEW', executionId }, _r)),
    ...runs.map((run) => insert(AgentRunEntity, { tenant, agentId, state: 'COUNTED', ...run })),
    ...(runs.length > 0 ? [count(runs)] : []),
  ]);
  return outcome === 'done' ? 'done' : 'conflict';
}

/** Returns the write that adds runs to the count of an agent. */
type CountRuns = (runs: readonly AgentRun[]) => WriteOp;

async function readCustomAgent(table: Table, tenant: string, agentId: string): Promise<CountRuns | undefined> {
  const agent = await table.get(AgentEntity, { tenant, agentId });
  return agent && ((runs) => replace(AgentEntity, { tenant, ...addRuns(agent, runs) }, agent._r));
}

async function readBuiltInAgent(table: Table, tenant: string, agentId: string): Promise<CountRuns> {
  const stored = await table.get(BuiltInChangeEntity, { tenant, agentId });
  const change: BuiltInChange = stored ?? { agentId };
  return (runs) => {
    const value = { tenant, ...addRuns(change, runs) };
    return stored ? replace(BuiltInChangeEntity, value, stored._r) : insert(BuiltInChangeEntity, value);
  };
}
