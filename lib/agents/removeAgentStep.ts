import * as z from 'zod';
import type { StepResult, StoredJob } from '../jobs/jobStore.ts';
import { removePartition } from '../table/purgePartition.ts';
import type { Table } from '../table/table.ts';
import { AgentRunEntity, AgentVersionEntity } from './entities.ts';
import { AgentGroupStore } from './agentGroups.ts';

/** How long a step goes on, so that what it did is written down often enough. */
const STEP_MILLISECONDS = 2_000;

const RemovedAgent = z.object({ agentId: z.string() });

/** A step of the removal of what an agent leaves: its versions, its executions, and its id in groups. Done again it does no harm. */
export async function removeAgentStep(
  table: Table,
  { tenant, data }: StoredJob,
  clock: () => number,
): Promise<StepResult> {
  const { agentId } = RemovedAgent.parse(JSON.parse(data));
  const budget = { clock, until: clock() + STEP_MILLISECONDS };
  for (const partition of [
    AgentVersionEntity.partition({ tenant, agentId }),
    AgentRunEntity.partition({ tenant, agentId }),
  ]) {
    if (!(await removePartition(table, partition, budget))) return { progress: {} };
  }
  await new AgentGroupStore(table).forget(tenant, agentId, clock());
  return 'done';
}
