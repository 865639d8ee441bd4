import type { Capability } from '../app/capability.ts';
import { invalid } from '../shared/errors.ts';
import type { Stored } from '../table/entity.ts';
import { type ItemPage, pages } from '../table/pages.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { storeCapability } from '../table/storeCapability.ts';
import type { PageOptions, Table } from '../table/table.ts';
import {
  AgentEntity,
  type AgentListItem,
  AgentListItems,
  AgentVersionEntity,
  BUILT_IN,
  BuiltInChangeEntity,
} from './entities.ts';
import type { Agent, AgentVersion, AgentWithVersion, BuiltInChange } from './rules/agents.ts';
import { findBuiltInAgent } from './rules/builtIn.ts';

const PAGE_AGENTS = 1_000;
/** Bytes of stored agents above which a list fails: its answer would exceed the 5 MB of the endpoint. */
const MAX_BYTES = 6_000_000;

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
   * Returns a custom agent with its current version. If another call changes the version between the two reads, reads
   * both again.
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

  async getBuiltInChange(tenant: string, agentId: string): Promise<BuiltInChange | undefined> {
    return this.#table.get(BuiltInChangeEntity, { tenant, agentId });
  }

  /** With `builtInOnly`, reads no custom agents. Throws INVALID_ARGUMENT if the agents are too large for one answer. */
  async list(tenant: string, { builtInOnly = false } = {}): Promise<TenantAgents> {
    const items: AgentListItem[] = [];
    let remainingBytes = MAX_BYTES;
    const prefix = builtInOnly ? [BUILT_IN] : [];
    const read = (after: string | undefined) =>
      this.#table.query(AgentListItems, { tenant }, { prefix, limit: PAGE_AGENTS, after });
    for await (const { values, bytes } of pages(read)) {
      items.push(...values);
      remainingBytes -= bytes;
      if (remainingBytes < 0)
        throw invalid({
          path: ['groupId'],
          code: 'answer_too_large',
          message: 'groupId is required: all agents together are too large for one answer',
        });
    }
    return toTenantAgents(items);
  }

  async findByIds(tenant: string, agentIds: readonly string[]): Promise<TenantAgents> {
    const items = await this.#table.batchGet(
      ...agentIds.map((agentId) => ({
        key: (findBuiltInAgent(agentId) ? BuiltInChangeEntity : AgentEntity).key({ tenant, agentId }),
        fromItem: (item: Record<string, unknown>, now: number) => AgentListItems.fromItem(item, now),
      })),
    );
    return toTenantAgents(items.filter((item) => item !== undefined));
  }

  /** Returns a page of versions, newest first, or undefined for an unknown agent. */
  async listVersions(tenant: string, agentId: string, page: PageOptions): Promise<ItemPage<AgentVersion> | undefined> {
    const [agent, versions] = await Promise.all([
      this.#table.get(AgentEntity, { tenant, agentId }),
      this.#table.query(AgentVersionEntity, { tenant, agentId }, { ...page, descending: true }),
    ]);
    return agent && versions;
  }
}

function toTenantAgents(items: readonly AgentListItem[]): TenantAgents {
  const changes = items.flatMap((item) => ('change' in item ? [[item.change.agentId, item.change] as const] : []));
  return { agents: items.flatMap((item) => ('agent' in item ? [item.agent] : [])), changes: new Map(changes) };
}

export const readAgents: Capability<Pick<AgentReader, 'get' | 'getBuiltInChange' | 'list' | 'findByIds'>> =
  /* @__PURE__ */ storeCapability(AgentReader, ['GetItem', 'BatchGetItem', 'Query']);

export const readAgentVersions: Capability<Pick<AgentReader, 'listVersions'>> = /* @__PURE__ */ storeCapability(
  AgentReader,
  ['GetItem', 'Query'],
);
