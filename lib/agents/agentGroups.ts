import type { Capability } from '../app/capability.ts';
import { builtInAgent } from './rules/builtIn.ts';
import { type AgentGroup, MOST_GROUPS, withoutAgents } from './rules/groups.ts';
import { distinct } from '../shared/collections.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { insert, remove, replace, type Table } from '../table/table.ts';
import { countChange } from './counts.ts';
import { AgentEntity, AgentGroupEntity } from './entities.ts';
import { storeCapability } from '../table/storeCapability.ts';

export class AgentGroupStore {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async get(tenant: string, groupId: string): Promise<AgentGroup | undefined> {
    return this.#table.get(AgentGroupEntity, { tenant, groupId });
  }

  /** All groups, oldest first. */
  async list(tenant: string): Promise<AgentGroup[]> {
    const groups: AgentGroup[] = [];
    let after: string | undefined;
    do {
      const { values, next } = await this.#table.query(AgentGroupEntity, { tenant }, { limit: MOST_GROUPS, after });
      groups.push(...values);
      after = next;
    } while (after !== undefined);
    return groups;
  }

  /** Those of these ids that no agent of the tenant has, nor a built-in one. */
  async unknownAgents(tenant: string, agentIds: readonly string[]): Promise<string[]> {
    const custom = distinct(agentIds).filter((agentId) => !builtInAgent(agentId));
    const found = await this.#table.getMany(
      AgentEntity,
      custom.map((agentId) => ({ tenant, agentId })),
    );
    return custom.filter((_agentId, index) => !found[index]);
  }

  /** Stores a new group and the count of all in one transaction; `full` when there are as many as there may be. */
  async create(tenant: string, group: AgentGroup): Promise<'done' | 'full'> {
    return retryOnConflict(async () => {
      const count = await countChange(this.#table, tenant, 'GROUPS', { by: 1, most: MOST_GROUPS });
      const outcome =
        count === 'full' ? 'full' : await this.#table.write([insert(AgentGroupEntity, { tenant, ...group }), count]);
      // A group under an id as new as this call was created by this call, before it was repeated.
      if (outcome === 'done' || (await this.get(tenant, group.groupId))) return 'done';
      return outcome === 'full' ? 'full' : 'conflict';
    });
  }

  /** Replaces a group by what `change` makes of it, and gives that; undefined when there is none. Nothing is written when `change` gives the same one. */
  async change(
    tenant: string,
    groupId: string,
    change: (group: AgentGroup) => AgentGroup,
  ): Promise<AgentGroup | undefined> {
    return retryOnConflict(async () => {
      const stored = await this.#table.get(AgentGroupEntity, { tenant, groupId });
      if (!stored) return undefined;
      const changed = change(stored);
      if (changed === stored) return stored;
      return (await this.#table.write([replace(AgentGroupEntity, { tenant, ...changed }, stored._r)])) === 'done'
        ? changed
        : 'conflict';
    });
  }

  /** Deletes a group and none of its agents; `unknown` when there is none. */
  async delete(tenant: string, groupId: string): Promise<'done' | 'unknown'> {
    return retryOnConflict(async () => {
      const [stored, count] = await Promise.all([
        this.#table.get(AgentGroupEntity, { tenant, groupId }),
        countChange(this.#table, tenant, 'GROUPS', { by: -1 }),
      ]);
      if (!stored) return 'unknown';
      return (await this.#table.write([remove(AgentGroupEntity, { tenant, groupId }, stored._r), count])) === 'done'
        ? 'done'
        : 'conflict';
    });
  }

  /** Takes an agent out of every group. */
  async forget(tenant: string, agentId: string, now: number): Promise<void> {
    for (const { groupId, agentIds } of await this.list(tenant)) {
      if (agentIds.includes(agentId))
        await this.change(tenant, groupId, (group) => withoutAgents(group, [agentId], now));
    }
  }
}

export const readAgentGroups: Capability<Pick<AgentGroupStore, 'get'>> = /* @__PURE__ */ storeCapability(
  AgentGroupStore,
  ['GetItem'],
);

export const listAgentGroups: Capability<Pick<AgentGroupStore, 'list'>> = /* @__PURE__ */ storeCapability(
  AgentGroupStore,
  ['Query'],
);

export const createAgentGroups: Capability<Pick<AgentGroupStore, 'unknownAgents' | 'create'>> =
  /* @__PURE__ */ storeCapability(AgentGroupStore, ['GetItem', 'BatchGetItem', 'Query', 'PutItem']);

export const changeAgentGroups: Capability<Pick<AgentGroupStore, 'change'>> = /* @__PURE__ */ storeCapability(
  AgentGroupStore,
  ['GetItem', 'PutItem'],
);

export const fillAgentGroups: Capability<Pick<AgentGroupStore, 'unknownAgents' | 'change'>> =
  /* @__PURE__ */ storeCapability(AgentGroupStore, ['GetItem', 'BatchGetItem', 'PutItem']);

export const removeAgentGroups: Capability<Pick<AgentGroupStore, 'delete'>> = /* @__PURE__ */ storeCapability(
  AgentGroupStore,
  ['GetItem', 'Query', 'PutItem', 'DeleteItem'],
);

/** Take agents that are gone out of the groups. */
export const forgetAgents: Capability<Pick<AgentGroupStore, 'forget'>> = /* @__PURE__ */ storeCapability(
  AgentGroupStore,
  ['GetItem', 'Query', 'PutItem'],
);
