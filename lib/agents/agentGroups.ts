import type { Capability } from '../app/capability.ts';
import { distinct } from '../shared/collections.ts';
import { ApiError } from '../shared/errors.ts';
import { readAll } from '../table/pages.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { insert, remove, replace, type Table } from '../table/table.ts';
import { createCounted, readCount } from './agentCounts.ts';
import { AgentEntity, AgentGroupEntity } from './entities.ts';
import { findBuiltInAgent } from './rules/builtIn.ts';
import { type AgentGroup, MAX_GROUPS, unknownGroup, withoutAgents } from './rules/groups.ts';

export class AgentGroupStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async require(tenant: string, groupId: string): Promise<AgentGroup> {
    const group = await this.#table.get(AgentGroupEntity, { tenant, groupId });
    if (!group) throw unknownGroup();
    return group;
  }

  async list(tenant: string): Promise<AgentGroup[]> {
    return readAll((after) => this.#table.query(AgentGroupEntity, { tenant }, { limit: MAX_GROUPS, after }));
  }

  /** Throws NOT_FOUND if an agent does not exist. Built-in agents exist for every tenant. */
  async requireAgents(tenant: string, agentIds: readonly string[]): Promise<void> {
    const custom = distinct(agentIds).filter((agentId) => !findBuiltInAgent(agentId));
    const agents = await this.#table.getMany(
      AgentEntity,
      custom.map((agentId) => ({ tenant, agentId })),
    );
    const unknown = custom.filter((_agentId, index) => !agents[index]);
    if (unknown.length > 0)
      throw new ApiError('NOT_FOUND', `agentIds: these agents do not exist: ${unknown.slice(0, 10).join(', ')}`);
  }

  async create(tenant: string, group: AgentGroup): Promise<'done' | 'full'> {
    return createCounted(this.#table, tenant, {
      of: 'GROUPS',
      limit: MAX_GROUPS,
      ops: [insert(AgentGroupEntity, { tenant, ...group })],
      exists: async () => (await this.#table.get(AgentGroupEntity, { tenant, ...group })) !== undefined,
    });
  }

  /** Writes nothing if `change` returns its argument. Throws NOT_FOUND for an unknown group. */
  async change(tenant: string, groupId: string, change: (group: AgentGroup) => AgentGroup): Promise<AgentGroup> {
    const group = await this.#changeIfExists(tenant, groupId, change);
    if (!group) throw unknownGroup();
    return group;
  }

  async #changeIfExists(
    tenant: string,
    groupId: string,
    change: (group: AgentGroup) => AgentGroup,
  ): Promise<AgentGroup | undefined> {
    return retryOnConflict(async () => {
      const stored = await this.#table.get(AgentGroupEntity, { tenant, groupId });
      const changed = stored && change(stored);
      if (!stored || !changed || changed === stored) return stored;
      return this.#table.tryWrite([replace(AgentGroupEntity, { tenant, ...changed }, stored._r)], changed);
    });
  }

  async delete(tenant: string, groupId: string): Promise<void> {
    await retryOnConflict(async () => {
      const [stored, groups] = await Promise.all([
        this.#table.get(AgentGroupEntity, { tenant, groupId }),
        readCount(this.#table, tenant, 'GROUPS'),
      ]);
      if (!stored) throw unknownGroup();
      return this.#table.tryWrite([remove(AgentGroupEntity, { tenant, groupId }, stored._r), groups.add(-1)]);
    });
  }

  async removeAgent(tenant: string, agentId: string, now: number): Promise<void> {
    for (const { groupId, agentIds } of await this.list(tenant)) {
      if (agentIds.includes(agentId))
        await this.#changeIfExists(tenant, groupId, (group) => withoutAgents(group, [agentId], now));
    }
  }
}

type Groups<K extends keyof AgentGroupStore> = Capability<Pick<AgentGroupStore, K>>;

export const readAgentGroups: Groups<'require'> = /* @__PURE__ */ storeCapability(AgentGroupStore, ['GetItem']);
export const listAgentGroups: Groups<'list'> = /* @__PURE__ */ storeCapability(AgentGroupStore, ['Query']);
export const createAgentGroups: Groups<'requireAgents' | 'create'> = /* @__PURE__ */ storeCapability(AgentGroupStore, [
  'GetItem',
  'BatchGetItem',
  'Query',
  'PutItem',
]);
export const changeAgentGroups: Groups<'change'> = /* @__PURE__ */ storeCapability(AgentGroupStore, [
  'GetItem',
  'PutItem',
]);
export const addAgentsToGroups: Groups<'requireAgents' | 'change'> = /* @__PURE__ */ storeCapability(AgentGroupStore, [
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
