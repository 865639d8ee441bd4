import type { Capability } from '../app/capability.ts';
import { distinct } from '../shared/collections.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { readAll } from '../table/pages.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { insert, remove, replace, type Table } from '../table/table.ts';
import { createCounted, readCount } from './counts.ts';
import { AgentEntity, AgentGroupEntity } from './entities.ts';
import { builtInAgent } from './rules/builtIn.ts';
import { type AgentGroup, MAX_GROUPS, withoutAgents } from './rules/groups.ts';

export class AgentGroupStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async get(tenant: string, groupId: string): Promise<AgentGroup | undefined> {
    return this.#table.get(AgentGroupEntity, { tenant, groupId });
  }

  /** Returns all groups, oldest first. */
  async list(tenant: string): Promise<AgentGroup[]> {
    return readAll((after) => this.#table.query(AgentGroupEntity, { tenant }, { limit: MAX_GROUPS, after }));
  }

  /** Returns the ids that belong to no custom agent of the tenant and to no built-in agent. */
  async unknownAgents(tenant: string, agentIds: readonly string[]): Promise<string[]> {
    const custom = distinct(agentIds).filter((agentId) => !builtInAgent(agentId));
    const agents = await this.#table.getMany(
      AgentEntity,
      custom.map((agentId) => ({ tenant, agentId })),
    );
    return custom.filter((_agentId, index) => !agents[index]);
  }

  /** Stores a new group; `full` when the tenant has the most groups already. */
  async create(tenant: string, group: AgentGroup): Promise<'done' | 'full'> {
    return createCounted(this.#table, tenant, {
      of: 'GROUPS',
      limit: MAX_GROUPS,
      ops: [insert(AgentGroupEntity, { tenant, ...group })],
      exists: async () => (await this.get(tenant, group.groupId)) !== undefined,
    });
  }

  /** Changes a group and returns it; undefined for an unknown group. Writes nothing when `change` returns the same group. */
  async change(
    tenant: string,
    groupId: string,
    change: (group: AgentGroup) => AgentGroup,
  ): Promise<AgentGroup | undefined> {
    return retryOnConflict(async () => {
      const stored = await this.#table.get(AgentGroupEntity, { tenant, groupId });
      const changed = stored && change(stored);
      if (!stored || !changed || changed === stored) return stored;
      const outcome = await this.#table.write([replace(AgentGroupEntity, { tenant, ...changed }, stored._r)]);
      return outcome === 'done' ? changed : 'conflict';
    });
  }

  /** Deletes a group, not its agents. */
  async delete(tenant: string, groupId: string): Promise<'done' | 'unknown'> {
    return retryOnConflict(async () => {
      const [stored, groups] = await Promise.all([
        this.#table.get(AgentGroupEntity, { tenant, groupId }),
        readCount(this.#table, tenant, 'GROUPS'),
      ]);
      if (!stored) return 'unknown';
      const outcome = await this.#table.write([
        remove(AgentGroupEntity, { tenant, groupId }, stored._r),
        groups.add(-1),
      ]);
      return outcome === 'done' ? 'done' : 'conflict';
    });
  }

  /** Removes a deleted agent from every group. */
  async removeAgent(tenant: string, agentId: string, now: number): Promise<void> {
    for (const { groupId, agentIds } of await this.list(tenant)) {
      if (agentIds.includes(agentId))
        await this.change(tenant, groupId, (group) => withoutAgents(group, [agentId], now));
    }
  }
}

type Groups<K extends keyof AgentGroupStore> = Capability<Pick<AgentGroupStore, K>>;

export const readAgentGroups: Groups<'get'> = /* @__PURE__ */ storeCapability(AgentGroupStore, ['GetItem']);
export const listAgentGroups: Groups<'list'> = /* @__PURE__ */ storeCapability(AgentGroupStore, ['Query']);
export const createAgentGroups: Groups<'unknownAgents' | 'create'> = /* @__PURE__ */ storeCapability(AgentGroupStore, [
  'GetItem',
  'BatchGetItem',
  'Query',
  'PutItem',
]);
export const changeAgentGroups: Groups<'change'> = /* @__PURE__ */ storeCapability(AgentGroupStore, [
  'GetItem',
  'PutItem',
]);
export const addAgentsToGroups: Groups<'unknownAgents' | 'change'> = /* @__PURE__ */ storeCapability(AgentGroupStore, [
  'GetItem',
  'BatchGetItem',
  'PutItem',
]);
export const deleteAgentGroups: Groups<'delete'> = /* @__PURE__ */ storeCapability(AgentGroupStore, [
  'GetItem',
  'Query',
  'PutItem',
  'DeleteItem',
]);
export const removeAgentFromGroups: Groups<'removeAgent'> = /* @__PURE__ */ storeCapability(AgentGroupStore, [
  'GetItem',
  'Query',
  'PutItem',
]);
