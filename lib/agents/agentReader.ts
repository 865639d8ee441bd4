import type { Capability } from '../app/capability.ts';
import { invalid } from '../shared/errors.ts';
import type { Stored } from '../table/entity.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { pages } from '../table/pages.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { Table } from '../table/table.ts';
import {
  AgentEntity,
  AgentVersionEntity,
  BuiltInChangeEntity,
  type AgentListItem,
  AgentListItems,
} from './entities.ts';
import type { Agent, AgentVersion, BuiltInChange, AgentWithVersion } from './rules/agents.ts';
import { findBuiltInAgent } from './rules/builtIn.ts';

const PAGE_AGENTS = 1_000;
/** More than a response can hold. */
const MAX_BYTES = 6_000_000;

/** Custom agents, oldest first, and the changes of built-in agents by agent id. */
export interface TenantAgents {
  readonly agents: readonly Agent[];
  readonly changes: ReadonlyMap<string, BuiltInChange>;
}

export class AgentReader {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Returns a custom agent with its current version; undefined for an unknown agent. Reads again when the version
   * changes between the two reads.
   */
  async get(
    tenant: string,
    agentId: string,
  ): Promise<(AgentWithVersion & { readonly agent: Stored<Agent> }) | undefined> {
    return retryOnConflict(async () => {
      const agent = await this.#table.get(AgentEntity, { tenant, agentId });
      if (!agent) return undefined;
      const current = await this.#table.get(AgentVersionEntity, { tenant, agentId, version: agent.version });
      return current?.versionId === agent.versionId ? { agent, current } : 'conflict';
    });
  }

  /** Returns the tenant's change of a built-in agent. */
  async getBuiltInChange(tenant: string, agentId: string): Promise<BuiltInChange | undefined> {
    return this.#table.get(BuiltInChangeEntity, { tenant, agentId });
  }

  /** Returns all agents of a tenant. Throws INVALID_ARGUMENT when they are larger than a response. */
  async list(tenant: string): Promise<TenantAgents> {
    const listed: AgentListItem[] = [];
    let bytesLeft = MAX_BYTES;
    const read = (after: string | undefined) =>
      this.#table.query(AgentListItems, { tenant }, { limit: PAGE_AGENTS, after });
    for await (const { values, bytes } of pages(read)) {
      listed.push(...values);
      bytesLeft -= bytes;
      if (bytesLeft < 0)
        throw invalid({
          path: ['groupId'],
          code: 'answer_too_large',
          message: 'groupId is required: all agents together are too large for one answer',
        });
    }
    return toTenantAgents(listed);
  }

  /** Returns those agents of a tenant that have the given ids. */
  async findByIds(tenant: string, agentIds: readonly string[]): Promise<TenantAgents> {
    const items = await this.#table.batchGet(
      ...agentIds.map((agentId) => ({
        key: (findBuiltInAgent(agentId) ? BuiltInChangeEntity : AgentEntity).key({ tenant, agentId }),
        fromItem: (item: Record<string, unknown>, now: number) => AgentListItems.fromItem(item, now),
      })),
    );
    return toTenantAgents(items.filter((item) => item !== undefined));
  }

  /** Returns a page of an agent's versions, newest first; undefined for an unknown agent. */
  async listVersions(
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

function toTenantAgents(listed: readonly AgentListItem[]): TenantAgents {
  const changes = listed.flatMap((one) => ('change' in one ? [[one.change.agentId, one.change] as const] : []));
  return { agents: listed.flatMap((one) => ('agent' in one ? [one.agent] : [])), changes: new Map(changes) };
}

export const readAgents: Capability<Pick<AgentReader, 'get' | 'getBuiltInChange' | 'list' | 'findByIds'>> =
  /* @__PURE__ */ storeCapability(AgentReader, ['GetItem', 'BatchGetItem', 'Query']);

export const readAgentVersions: Capability<Pick<AgentReader, 'listVersions'>> = /* @__PURE__ */ storeCapability(
  AgentReader,
  ['GetItem', 'Query'],
);
