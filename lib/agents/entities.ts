import * as z from 'zod';
import { defineEntity } from '../table/entity.ts';
import type { QueryableEntity } from '../table/table.ts';
import { Agent, AgentVersion, BuiltInChange } from './rules/agents.ts';
import { AgentGroup } from './rules/groups.ts';
import { AgentRun } from './rules/runs.ts';

/** Custom agents and the settings of built-in ones share a partition, so one query reads the list. */
const agentPartition = (of: { tenant: string }) => [of.tenant, 'AGENTS'];
export const BUILT_IN = 'BUILT_IN';
const VERSION_DIGITS = 10;

export const AgentEntity = defineEntity({
  type: 'Agent',
  version: 1,
  scope: 'tenant',
  ownedBy: 'tenant',
  purpose: 'A custom review agent, its current version and its number of runs',
  schema: Agent,
  pk: agentPartition,
  sk: (key: { agentId: string }) => ['AGENT', key.agentId],
});

export const BuiltInChangeEntity = defineEntity({
  type: 'BuiltInAgentChange',
  version: 1,
  scope: 'tenant',
  ownedBy: 'tenant',
  purpose: "A tenant's settings of a built-in agent, and its number of runs for this tenant",
  schema: BuiltInChange,
  pk: agentPartition,
  sk: (key: { agentId: string }) => [BUILT_IN, key.agentId],
});

export const AgentVersionEntity = defineEntity({
  type: 'AgentVersion',
  version: 1,
  scope: 'tenant',
  ownedBy: 'tenant',
  purpose: 'A version of a custom agent, with encrypted secrets',
  schema: AgentVersion,
  pk: (of: { tenant: string; agentId: string }) => [of.tenant, 'AGENT', of.agentId],
  // DynamoDB sorts keys as text.
  sk: (key: { version: number }) => ['VERSION', String(key.version).padStart(VERSION_DIGITS, '0')],
});

/** A run has an item in each state if a comment names it while a job counts it. */
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
 * The number of a tenant's custom agents, or of its groups. Each addition and deletion writes it, so limits are exact.
 * It has a separate partition, because lists read whole partitions.
 */
export const AgentCountEntity = defineEntity({
  type: 'AgentCount',
  version: 1,
  scope: 'tenant',
  ownedBy: 'tenant',
  purpose: 'The number of custom agents, or of agent groups, of an API key',
  schema: z.object({ count: z.number() }),
  pk: (of: { tenant: string }) => [of.tenant, 'AGENT_COUNTS'],
  sk: (key: { of: 'AGENTS' | 'GROUPS' }) => [key.of],
});

export type AgentListItem = { readonly agent: Agent } | { readonly change: BuiltInChange };

export const AgentListItems: QueryableEntity<AgentListItem, { tenant: string }> = {
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
