import * as z from 'zod';
import { Agent, AgentVersion, BuiltInChange } from './rules/agents.ts';
import { AgentGroup } from './rules/groups.ts';
import { AgentRun } from './rules/runs.ts';
import { defineEntity } from '../table/entity.ts';
import type { QueryableEntity } from '../table/table.ts';

/** Lists read the custom agents and the changed built-in agents of an API key from one partition. */
const agentsOf = (of: { tenant: string }) => [of.tenant, 'AGENTS'];
const DIGITS = 10;

export const AgentEntity = defineEntity({
  type: 'Agent',
  version: 1,
  scope: 'tenant',
  ownedBy: 'tenant',
  purpose: 'A custom review agent, its current version and its number of runs',
  schema: Agent,
  pk: agentsOf,
  sk: (key: { agentId: string }) => ['AGENT', key.agentId],
});

export const BuiltInChangeEntity = defineEntity({
  type: 'BuiltInAgentChange',
  version: 1,
  scope: 'tenant',
  ownedBy: 'tenant',
  purpose: "A tenant's settings of a built-in agent, and its number of runs for this tenant",
  schema: BuiltInChange,
  pk: agentsOf,
  sk: (key: { agentId: string }) => ['BUILT_IN', key.agentId],
});

export const AgentVersionEntity = defineEntity({
  type: 'AgentVersion',
  version: 1,
  scope: 'tenant',
  ownedBy: 'tenant',
  purpose: 'A version of a custom agent, with encrypted secrets',
  schema: AgentVersion,
  pk: (of: { tenant: string; agentId: string }) => [of.tenant, 'AGENT', of.agentId],
  // Padded, so that versions sort by number.
  sk: (key: { version: number }) => ['VERSION', String(key.version).padStart(DIGITS, '0')],
});

/**
 * Whether a run is in the count of its agent. A run can be in both states when a comment names it while it is counted.
 */
export const runStates = ['NEW', 'COUNTED'] as const;

export const AgentRunEntity = defineEntity({
  type: 'AgentRun',
  version: 1,
  scope: 'tenant',
  ownedBy: 'tenant',
  purpose: 'An execution of a review agent that wrote comments, and whether it is counted',
  schema: AgentRun,
  pk: (of: { tenant: string; agentId: string }) => [of.tenant, 'AGENT_RUNS', of.agentId],
  sk: (key: { state: (typeof runStates)[number]; executionId: string }) => [key.state, key.executionId],
});

export const AgentGroupEntity = defineEntity({
  type: 'AgentGroup',
  version: 1,
  scope: 'tenant',
  ownedBy: 'tenant',
  purpose: 'An ordered group of review agents',
  schema: AgentGroup,
  pk: (of: { tenant: string }) => [of.tenant, 'AGENT_GROUPS'],
  sk: (key: { groupId: string }) => ['GROUP', key.groupId],
});

/**
 * Written in the transactions that add and delete, so that limits are exact. It has a partition of its own, because
 * lists read whole partitions.
 */
export const AgentCountEntity = defineEntity({
  type: 'AgentCount',
  version: 1,
  scope: 'tenant',
  ownedBy: 'tenant',
  purpose: 'The numbers of custom agents and of agent groups of an API key',
  schema: z.object({ count: z.number() }),
  pk: (of: { tenant: string }) => [of.tenant, 'AGENT_COUNTS'],
  sk: (key: { of: 'AGENTS' | 'GROUPS' }) => [key.of],
});

/** An item of the partition of lists. */
export type ListedAgent = { readonly agent: Agent } | { readonly change: BuiltInChange };

/** Reads both kinds of items. */
export const ListedAgents: QueryableEntity<ListedAgent, { tenant: string }> = {
  partition: (of) => AgentEntity.partition(of),
  fromItem(item, now) {
    if (item._t === AgentEntity.type) {
      const agent = AgentEntity.fromItem(item, now);
      return agent && { agent, _r: agent._r };
    }
    const change = BuiltInChangeEntity.fromItem(item, now);
    return change && { change, _r: change._r };
  },
};
