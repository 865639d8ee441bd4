import type { Capability } from '../app/capability.ts';
import { type JobMessage, REQUESTS_ENDED_MS, startJob } from '../jobs/jobStore.ts';
import { ApiError } from '../shared/errors.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { storeCapability } from '../table/storeCapability.ts';
import { insert, insertOrReplace, remove, replace, type Table } from '../table/table.ts';
import { createCounted, readCount } from './agentCounts.ts';
import { AgentReader } from './agentReader.ts';
import { AgentEntity, AgentVersionEntity, BuiltInChangeEntity } from './entities.ts';
import {
  type Agent,
  type AgentVersion,
  type BuiltInChange,
  changeIdentity,
  type IdentityChange,
  MAX_AGENTS,
  withVersion,
} from './rules/agents.ts';

const SWEEP_DELAY_MS = REQUESTS_ENDED_MS + 30_000;

type VersionContent = Pick<AgentVersion, 'behaviour' | 'metadata' | 'secrets'>;
interface AgentCall {
  /** A repeated call with the same Idempotency-Key has the same id. */
  readonly callId: string;
  readonly now: number;
}

export class AgentWriter {
  readonly #table: Table;
  readonly #reader: AgentReader;

  constructor(table: Table) {
    this.#table = table;
    this.#reader = new AgentReader(table);
  }

  async create(
    tenant: string,
    agent: Pick<Agent, 'agentId' | 'name' | 'description' | 'enabled'>,
    content: VersionContent,
    { callId, now }: AgentCall,
  ): Promise<'done' | 'full'> {
    const key = { tenant, agentId: agent.agentId };
    const version = { version: 1, versionId: callId, createdAt: now };
    const first: AgentVersion = { ...content, ...version };
    return createCounted(this.#table, tenant, {
      of: 'AGENTS',
      limit: MAX_AGENTS,
      ops: [
        insert(AgentEntity, { tenant, ...withVersion({ ...agent, ...version, updatedAt: now }, first) }),
        insert(AgentVersionEntity, { ...key, ...first }),
      ],
      exists: async () => (await this.#table.get(AgentEntity, key)) !== undefined,
    });
  }

  async update(tenant: string, agentId: string, change: IdentityChange, now: number): Promise<'done' | 'unknown'> {
    return retryOnConflict(async () => {
      const agent = await this.#table.get(AgentEntity, { tenant, agentId });
      if (!agent) return 'unknown';
      return this.#table.tryWrite([replace(AgentEntity, { tenant, ...changeIdentity(agent, change, now) }, agent._r)]);
    });
  }

  async updateBuiltIn(tenant: string, change: Pick<BuiltInChange, 'agentId' | 'enabled' | 'updatedAt'>): Promise<void> {
    await retryOnConflict(async () => {
      const stored = await this.#table.get(BuiltInChangeEntity, { tenant, agentId: change.agentId });
      const value = { tenant, ...stored, ...change };
      const op = insertOrReplace(BuiltInChangeEntity, value, stored);
      return this.#table.tryWrite([op]);
    });
  }

  /**
   * Writes the next version and returns its number, or undefined for an unknown agent. After a conflict, `change` runs
   * again with the new current version.
   */
  async addVersion(
    tenant: string,
    agentId: string,
    change: (current: AgentVersion) => Promise<VersionContent>,
    { callId, now }: AgentCall,
  ): Promise<number | undefined> {
    return retryOnConflict(async () => {
      const stored = await this.#reader.get(tenant, agentId);
      if (!stored) return undefined;
      const { agent, current } = stored;
      if (current.versionId === callId) return current.version;
      const version = current.version + 1;
      const next: AgentVersion = { ...(await change(current)), version, versionId: callId, createdAt: now };
      return this.#table.tryWrite(
        [
          replace(AgentEntity, { tenant, ...withVersion(agent, next) }, agent._r),
          insert(AgentVersionEntity, { tenant, agentId, ...next }),
        ],
        version,
      );
    });
  }

  /**
   * Removes the current version and returns the number of the previous one. Returns `first` if there is none, and
   * undefined for an unknown agent. Throws ABORTED if another call changed the current version since the first read:
   * the caller did not ask to remove that version.
   */
  async restore(tenant: string, agentId: string, { callId, now }: AgentCall): Promise<number | 'first' | undefined> {
    let versionToRemove: string | undefined;
    return retryOnConflict(async () => {
      const stored = await this.#reader.get(tenant, agentId);
      if (!stored) return undefined;
      const { agent, current } = stored;
      versionToRemove ??= agent.versionId;
      if (agent.versionId !== versionToRemove)
        throw new ApiError(
          'ABORTED',
          "Another request changed the agent's version. Read it again before you change it.",
        );
      if (agent.restoredBy === callId) return current.version;
      if (current.version === 1) return 'first';
      const version = current.version - 1;
      const before = await this.#table.get(AgentVersionEntity, { tenant, agentId, version });
      // Another call removed the previous version after this call had read the agent.
      if (!before) return 'conflict';
      const restored = { ...withVersion(agent, before), updatedAt: now, restoredBy: callId };
      return this.#table.tryWrite(
        [
          replace(AgentEntity, { tenant, ...restored }, agent._r),
          remove(AgentVersionEntity, { tenant, agentId, version: current.version }),
        ],
        version,
      );
    });
  }

  /** Deletes an agent and starts its purge. Returns the job's queue message, or undefined for an unknown agent. */
  async delete(tenant: string, agentId: string, { callId, now }: AgentCall): Promise<JobMessage | undefined> {
    return retryOnConflict(async () => {
      const [agent, agents] = await Promise.all([
        this.#table.get(AgentEntity, { tenant, agentId }),
        readCount(this.#table, tenant, 'AGENTS'),
      ]);
      if (!agent) return undefined;
      const job = startJob(
        tenant,
        { jobId: callId, kind: 'purgeAgent', data: { agentId }, dueAt: now + SWEEP_DELAY_MS },
        now,
      );
      return this.#table.tryWrite([remove(AgentEntity, { tenant, agentId }, agent._r), agents.add(-1), job], {
        tenant,
        jobId: callId,
      });
    });
  }
}

export const createAgents: Capability<Pick<AgentWriter, 'create'>> = /* @__PURE__ */ storeCapability(AgentWriter, [
  'GetItem',
  'Query',
  'PutItem',
]);

export const changeAgents: Capability<Pick<AgentWriter, 'update' | 'updateBuiltIn' | 'addVersion'>> =
  /* @__PURE__ */ storeCapability(AgentWriter, ['GetItem', 'PutItem']);

export const restoreAgents: Capability<Pick<AgentWriter, 'restore'>> = /* @__PURE__ */ storeCapability(AgentWriter, [
  'GetItem',
  'PutItem',
  'DeleteItem',
]);

export const deleteAgents: Capability<Pick<AgentWriter, 'delete'>> = /* @__PURE__ */ storeCapability(AgentWriter, [
  'GetItem',
  'Query',
  'PutItem',
  'DeleteItem',
]);
