import type { Capability } from '../app/capability.ts';
import {
  type Agent,
  type AgentVersion,
  type BuiltInChange,
  changeIdentity,
  type IdentityChange,
  MOST_AGENTS,
  type WholeAgent,
  withRestored,
  withVersion,
} from './rules/agents.ts';
import { ApiError } from '../shared/errors.ts';
import type { Stored } from '../table/entity.ts';
import { beginJob, type JobMessage, READS_SETTLED_MS } from '../jobs/jobStore.ts';
import { retryOnConflict } from '../table/retryOnConflict.ts';
import { insert, remove, replace, type Table, type WriteOp } from '../table/table.ts';
import { countChange } from './counts.ts';
import { AgentEntity, AgentVersionEntity, BuiltInChangeEntity } from './entities.ts';
import { AgentReader } from './agentReader.ts';
import { storeCapability } from '../table/storeCapability.ts';

/** When the sweeper begins a removal whose message was lost: later than the message. */
const TIME_TO_BEGIN = READS_SETTLED_MS + 30_000;

/** What a new version says, as it is stored. */
type Content = Pick<AgentVersion, 'behaviour' | 'metadata' | 'secrets'>;
/** The call that writes; the same one again has the same id. */
interface Call {
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

  /** Stores a new agent with its version 1 and the count of all agents in one transaction; `full` when there are as many as there may be. */
  async create(
    tenant: string,
    agent: Pick<Agent, 'agentId' | 'name' | 'description' | 'enabled'>,
    content: Content,
    { callId, now }: Call,
  ): Promise<'done' | 'full'> {
    const first: AgentVersion = { ...content, version: 1, versionId: callId, createdAt: now };
    const created = withVersion({ ...agent, version: 1, versionId: callId, createdAt: now, updatedAt: now }, first);
    const { agentId } = agent;
    return retryOnConflict(async () => {
      const count = await countChange(this.#table, tenant, 'AGENTS', { by: 1, most: MOST_AGENTS });
      const outcome =
        count === 'full'
          ? 'full'
          : await this.#table.write([
              insert(AgentEntity, { tenant, ...created }),
              insert(AgentVersionEntity, { tenant, agentId, ...first }),
              count,
            ]);
      // An agent under an id as new as this call was created by this call, before it was repeated.
      if (outcome === 'done' || (await this.#table.get(AgentEntity, { tenant, agentId }))) return 'done';
      return outcome === 'full' ? 'full' : 'conflict';
    });
  }

  /** Changes an agent itself and no version of it; `unknown` when there is none. */
  async update(tenant: string, agentId: string, change: IdentityChange, now: number): Promise<'done' | 'unknown'> {
    return retryOnConflict(async () => {
      const agent = await this.#table.get(AgentEntity, { tenant, agentId });
      if (!agent) return 'unknown';
      return this.#write(
        [replace(AgentEntity, { tenant, ...changeIdentity(agent, change, now) }, agent._r)],
        'done' as const,
      );
    });
  }

  /** Changes a built-in agent for a tenant. */
  async updateBuiltIn(tenant: string, change: Pick<BuiltInChange, 'agentId' | 'enabled' | 'updatedAt'>): Promise<void> {
    const { agentId } = change;
    await retryOnConflict(async () => {
      const stored = await this.#table.get(BuiltInChangeEntity, { tenant, agentId });
      const changed = { tenant, ...stored, ...change };
      return this.#write(
        [stored ? replace(BuiltInChangeEntity, changed, stored._r) : insert(BuiltInChangeEntity, changed)],
        'done' as const,
      );
    });
  }

  /**
   * Writes the version after the current one, with the content that `change` makes of the current one, and returns its number; undefined when the
   * agent does not exist. If another writer is first, `change` runs again on the new current version: the calls then act one after the other.
   */
  async addVersion(
    tenant: string,
    agentId: string,
    change: (current: AgentVersion) => Promise<Content>,
    { callId, now }: Call,
  ): Promise<number | undefined> {
    return this.#fromCurrent<never>(tenant, agentId, { anyVersion: true }, async ({ agent, current }) => {
      if (current.versionId === callId) return { version: current.version, ops: [] };
      const next: AgentVersion = {
        ...(await change(current)),
        version: current.version + 1,
        versionId: callId,
        createdAt: now,
      };
      return {
        version: next.version,
        ops: [
          replace(AgentEntity, { tenant, ...withVersion(agent, next) }, agent._r),
          insert(AgentVersionEntity, { tenant, agentId, ...next }),
        ],
      };
    });
  }

  /**
   * Removes the current version and makes the one before it current again, and returns its number; `first` when there is none before it. ABORTED when
   * another request changes the version meanwhile: the caller did not mean to remove that one.
   */
  async restore(tenant: string, agentId: string, call: Call): Promise<number | 'first' | undefined> {
    return this.#fromCurrent<'first'>(tenant, agentId, { anyVersion: false }, async ({ agent, current }) => {
      if (agent.restoredBy === call.callId) return { version: current.version, ops: [] };
      if (current.version === 1) return 'first';
      const before = await this.#table.get(AgentVersionEntity, { tenant, agentId, version: current.version - 1 });
      // Gone meanwhile, and the agent with it or its current version: the transaction would not be written.
      if (!before) return 'conflict';
      return {
        version: before.version,
        ops: [
          replace(AgentEntity, { tenant, ...withRestored(agent, before, call) }, agent._r),
          remove(AgentVersionEntity, { tenant, agentId, version: current.version }),
        ],
      };
    });
  }

  /**
   * Removes an agent: nobody sees it from then on. Gives the job that removes its versions, and its id from the groups, when nobody reads or writes
   * beneath it any more; undefined when there is no such agent.
   */
  async delete(tenant: string, agentId: string, { callId, now }: Call): Promise<JobMessage | undefined> {
    return retryOnConflict(async () => {
      const [agent, count] = await Promise.all([
        this.#table.get(AgentEntity, { tenant, agentId }),
        countChange(this.#table, tenant, 'AGENTS', { by: -1 }),
      ]);
      if (!agent) return undefined;
      const job = beginJob(
        tenant,
        { jobId: callId, kind: 'removeAgent', data: { agentId }, dueAt: now + TIME_TO_BEGIN },
        now,
      );
      return this.#write([remove(AgentEntity, { tenant, agentId }, agent._r), count, job], { tenant, jobId: callId });
    });
  }

  /** Decides on the current version and writes; on a conflict again, with `anyVersion` also when the current version is another one by then. */
  async #fromCurrent<O extends string = never>(
    tenant: string,
    agentId: string,
    { anyVersion }: { readonly anyVersion: boolean },
    decide: (
      stored: WholeAgent & { readonly agent: Stored<Agent> },
    ) => Promise<{ readonly version: number; readonly ops: readonly WriteOp[] } | O | 'conflict'>,
  ): Promise<number | O | undefined> {
    let decidedOn: string | undefined;
    return retryOnConflict<number | O | undefined>(async () => {
      const stored = await this.#reader.get(tenant, agentId);
      if (!stored) return undefined;
      const { versionId } = stored.agent;
      if (!anyVersion && decidedOn !== undefined && decidedOn !== versionId)
        throw new ApiError(
          'ABORTED',
          "Another request changed the agent's version. Read it again before you change it.",
        );
      decidedOn = versionId;
      const decided = await decide(stored);
      return typeof decided === 'string' ? decided : this.#write(decided.ops, decided.version);
    });
  }

  async #write<R>(ops: readonly WriteOp[], result: R): Promise<R | 'conflict'> {
    return (await this.#table.write(ops)) === 'done' ? result : 'conflict';
  }
}

export const createAgents: Capability<Pick<AgentWriter, 'create'>> = /* @__PURE__ */ storeCapability(AgentWriter, [
  'GetItem',
  'Query',
  'PutItem',
]);

export const changeAgents: Capability<Pick<AgentWriter, 'update' | 'updateBuiltIn' | 'addVersion'>> =
  /* @__PURE__ */ storeCapability(AgentWriter, ['GetItem', 'PutItem']);

export const removeAgents: Capability<Pick<AgentWriter, 'restore' | 'delete'>> = /* @__PURE__ */ storeCapability(
  AgentWriter,
  ['GetItem', 'Query', 'PutItem', 'DeleteItem'],
);
