import * as z from 'zod';
import { Agent, AgentVersion, BuiltInChange } from './rules/agents.ts';
import { AgentGroup } from './rules/groups.ts';
import { AgentRun } from './rules/runs.ts';
import { defineEntity } from '../table/entity.ts';
import type { Queried } from '../table/table.ts';

/** What lists show of the agents of an API key lies in one partition. */
const agentsOf = (of: { tenant: string }) => [of.tenant, 'AGENTS'];
const DIGITS = 10;

export const AgentEntity = defineEntity({
  type: 'Agent',
  version: 1,
  scope: 'tenant',
  ownedBy: 'tenant',
  purpose: 'A custom review agent, which of its versions is the current one, and how often it ran',
  schema: Agent,
  pk: agentsOf,
  sk: (key: { agentId: string }) => ['AGENT', key.agentId],
});

export const BuiltInChangeEntity = defineEntity({
  type: 'BuiltInAgentChange',
  version: 1,
  scope: 'tenant',
  ownedBy: 'tenant',
  purpose: 'What a tenant changed of a built-in agent, and how often it ran there',
  schema: BuiltInChange,
  pk: agentsOf,
  sk: (key: { agentId: string }) => ['BUILT_IN', key.agentId],
});

export const AgentVersionEntity = defineEntity({
  type: 'AgentVersion',
  version: 1,
  scope: 'tenant',
  ownedBy: 'tenant',
  purpose: 'What one version of a custom agent does, its secrets encrypted',
  schema: AgentVersion,
  pk: (of: { tenant: string; agentId: string }) => [of.tenant, 'AGENT', of.agentId],
  // In the order of the numbers.
  sk: (key: { version: number }) => ['VERSION', String(key.version).padStart(DIGITS, '0')],
});

/** Whether an execution is in the count of its agent: each of those that are is there once, whatever is new. */
export const runStates = ['NEW', 'COUNTED'] as const;

export const AgentRunEntity = defineEntity({
  type: 'AgentRun',
  version: 1,
  scope: 'tenant',
  ownedBy: 'tenant',
  purpose: 'An execution of a review agent that comments came from, and whether it is counted',
  schema: AgentRun,
  pk: (of: { tenant: string; agentId: string }) => [of.tenant, 'AGENT_RUNS', of.agentId],
  sk: (key: { state: (typeof runStates)[number]; executionId: string }) => [key.state, key.executionId],
});

export const AgentGroupEntity = defineEntity({
  type: 'AgentGroup',
  version: 1,
  scope: 'tenant',
  ownedBy: 'tenant',
  purpose: 'Review agents that are shown together',
  schema: AgentGroup,
  pk: (of: { tenant: string }) => [of.tenant, 'AGENT_GROUPS'],
  sk: (key: { groupId: string }) => ['GROUP', key.groupId],
});

/** Written in the transactions that add and delete, so that the limits hold exactly. In a partition of its own, because lists read the others whole. */
export const AgentCountEntity = defineEntity({
  type: 'AgentCount',
  version: 1,
  scope: 'tenant',
  ownedBy: 'tenant',
  purpose: 'How many custom agents, and how many groups of agents, an API key has',
  schema: z.object({ count: z.number() }),
  pk: (of: { tenant: string }) => [of.tenant, 'AGENT_COUNTS'],
  sk: (key: { of: 'AGENTS' | 'GROUPS' }) => [key.of],
});

/** An item of the partition that lists read. */
export type Listed = { readonly agent: Agent } | { readonly change: BuiltInChange };

/** Both kinds of them. */
export const AgentList: Queried<Listed, { tenant: string }> = {
  partition: AgentEntity.partition,
  fromItem(item, now) {
    if (item._t === AgentEntity.type) {
      const agent = AgentEntity.fromItem(item, now);
      return agent && { agent, _r: agent._r };
    }
    const change = BuiltInChangeEntity.fromItem(item, now);
    return change && { change, _r: change._r };
  },
};
