import type { Capability } from '../app/capability.ts';
import type { Agent, AgentVersion, BuiltInChange, WholeAgent } from './rules/agents.ts';
import { builtInAgent } from './rules/builtIn.ts';
import { invalid } from '../shared/errors.ts';
import type { Stored } from '../table/entity.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { type Table, itemOf } from '../table/table.ts';
import { AgentEntity, AgentList, AgentVersionEntity, BuiltInChangeEntity } from './entities.ts';
import { storeCapability } from '../table/storeCapability.ts';

/** Agents read at a time. */
const PAGE = 1_000;
/** More than what an answer can hold. */
const MOST_BYTES = 6_000_000;

/** The agents of a tenant: its own, oldest first, and what it changed of the built-in ones, by their ids. */
export interface TenantAgents {
  readonly agents: readonly Agent[];
  readonly changes: ReadonlyMap<string, BuiltInChange>;
}

export class AgentReader {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** A custom agent with its current version; undefined when there is none. Never an agent and a version that were not current together. */
  async get(tenant: string, agentId: string): Promise<(WholeAgent & { readonly agent: Stored<Agent> }) | undefined> {
    return retryOnConflict(async () => {
      const agent = await this.#table.get(AgentEntity, { tenant, agentId });
      if (!agent) return undefined;
      const current = await this.#table.get(AgentVersionEntity, { tenant, agentId, version: agent.version });
      return current?.versionId === agent.versionId ? { agent, current } : 'conflict';
    });
  }

  /** What a tenant changed of a built-in agent. */
  async builtIn(tenant: string, agentId: string): Promise<BuiltInChange | undefined> {
    return this.#table.get(BuiltInChangeEntity, { tenant, agentId });
  }

  /** All agents of a tenant. INVALID_ARGUMENT when they are more than an answer can hold. */
  async list(tenant: string): Promise<TenantAgents> {
    const [agents, changes]: [Agent[], Map<string, BuiltInChange>] = [[], new Map()];
    let after: string | undefined;
    let read = 0;
    do {
      const { values, next, bytes } = await this.#table.query(AgentList, { tenant }, { limit: PAGE, after });
      for (const value of values) {
        if ('agent' in value) agents.push(value.agent);
        else changes.set(value.change.agentId, value.change);
      }
      after = next;
      read += bytes;
      if (read > MOST_BYTES)
        throw invalid({
          path: ['groupId'],
          code: 'answer_too_large',
          message: 'groupId is required: all agents together are larger than an answer can be',
        });
    } while (after !== undefined);
    return { agents, changes };
  }

  /** Those agents of a tenant that have these ids. */
  async named(tenant: string, agentIds: readonly string[]): Promise<TenantAgents> {
    const [builtIn, custom] = [agentIds.filter(builtInAgent), agentIds.filter((agentId) => !builtInAgent(agentId))];
    const found = await this.#table.batchGet(
      ...custom.map((agentId) => itemOf(AgentEntity, { tenant, agentId })),
      ...builtIn.map((agentId) => itemOf(BuiltInChangeEntity, { tenant, agentId })),
    );
    const agents = found.slice(0, custom.length).filter((agent) => agent !== undefined) as unknown as Agent[];
    const changes = found.slice(custom.length).filter((change) => change !== undefined) as unknown as BuiltInChange[];
    return { agents, changes: new Map(changes.map((change) => [change.agentId, change])) };
  }

  /** A page of an agent's versions, newest first; undefined when there is no such agent. */
  async versions(
    tenant: string,
    agentId: string,
    page: { limit: number; after: string | undefined },
  ): Promise<{ versions: AgentVersion[]; next: string | undefined } | undefined> {
    const [agent, { values: versions, next }] = await Promise.all([
      this.#table.get(AgentEntity, { tenant, agentId }),
      this.#table.query(AgentVersionEntity, { tenant, agentId }, { ...page, descending: true }),
    ]);
    return agent && { versions, next };
  }
}

export const readAgents: Capability<Pick<AgentReader, 'get' | 'builtIn' | 'list' | 'named'>> =
  /* @__PURE__ */ storeCapability(AgentReader, ['GetItem', 'BatchGetItem', 'Query']);

export const readAgentVersions: Capability<Pick<AgentReader, 'versions'>> = /* @__PURE__ */ storeCapability(
  AgentReader,
  ['GetItem', 'Query'],
);
