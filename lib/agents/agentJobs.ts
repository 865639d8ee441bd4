import * as z from 'zod';
import type { StepResult, StoredJob } from '../jobs/jobStore.ts';
import { purgePartition } from '../table/purgePartition.ts';
import { pause } from '../table/retryOnConflict.ts';
import { insert, insertOrReplace, remove, replace, type Table, type WriteOp } from '../table/table.ts';
import { AgentGroupStore } from './agentGroups.ts';
import { AgentEntity, AgentRunEntity, AgentVersionEntity, BuiltInChangeEntity } from './entities.ts';
import type { BuiltInChange } from './rules/agents.ts';
import { findBuiltInAgent } from './rules/builtIn.ts';
import { addRuns, type AgentRun } from './rules/runs.ts';

const STEP_MS = 2_000;
/** A transaction has two operations per run and one for the agent, and at most 100 in all. */
const RUNS_PER_TRANSACTION = 40;

function agentIdOf({ data }: StoredJob): string {
  return z.object({ agentId: z.string() }).parse(JSON.parse(data)).agentId;
}

/** Purges versions, runs and group memberships of a deleted agent. Idempotent. */
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
 * Counts an agent's new runs. The transaction that adds a run to the count also changes the run from NEW to COUNTED, so
 * parallel and repeated jobs count it once.
 */
export async function countAgentRunsStep(table: Table, job: StoredJob, clock: () => number): Promise<StepResult> {
  const deadline = clock() + STEP_MS;
  for (let conflicts = 0; clock() < deadline;) {
    const outcome = await countNextRuns(table, job.tenant, agentIdOf(job));
    if (outcome === 'none') return 'done';
    if (outcome === 'conflict') await pause(conflicts++);
  }
  return { progress: {} };
}

/** Returns `none` if there are no new runs, or if the agent is deleted: the purge then deletes its runs. */
async function countNextRuns(table: Table, tenant: string, agentId: string): Promise<'none' | 'done' | 'conflict'> {
  const [{ values: newRuns }, countRuns] = await Promise.all([
    table.query(AgentRunEntity, { tenant, agentId }, { prefix: ['NEW'], limit: RUNS_PER_TRANSACTION }),
    findBuiltInAgent(agentId) ? readBuiltInAgent(table, tenant, agentId) : readCustomAgent(table, tenant, agentId),
  ]);
  if (newRuns.length === 0 || !countRuns) return 'none';
  const countedRuns = await table.getMany(
    AgentRunEntity,
    newRuns.map(({ executionId }) => ({ tenant, agentId, state: 'COUNTED' as const, executionId })),
  );
  const uncountedRuns = newRuns.filter((_run, index) => !countedRuns[index]);
  return table.tryWrite([
    ...newRuns.map(({ executionId, _r }) => remove(AgentRunEntity, { tenant, agentId, state: 'NEW', executionId }, _r)),
    ...uncountedRuns.map((run) => insert(AgentRunEntity, { tenant, agentId, state: 'COUNTED', ...run })),
    ...(uncountedRuns.length > 0 ? [countRuns(uncountedRuns)] : []),
  ]);
}

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
    return insertOrReplace(BuiltInChangeEntity, value, stored);
  };
}
