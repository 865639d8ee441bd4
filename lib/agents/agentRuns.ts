import { startJob } from '../jobs/jobStore.ts';
import { distinct, distinctBy } from '../shared/collections.ts';
import { ApiError } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import { insert, itemOf, type Table, type WriteOp } from '../table/table.ts';
import { AgentEntity, AgentRunEntity, runStates } from './entities.ts';
import { findBuiltInAgent } from './rules/builtIn.ts';
import { type AgentRun, agentRunKey, type CommentAgent } from './rules/runs.ts';

interface RunOfAgent extends CommentAgent {
  readonly run: AgentRun;
}

/** Says which agents named in comments exist, and which of their executions are recorded as runs. */
export class AgentLookup {
  readonly #tenant: string;
  /** The ids of existing custom agents. */
  readonly #agentIds: ReadonlySet<string>;
  /** The keys of recorded runs, as `agentRunKey` returns them. */
  readonly #recorded: Set<string>;

  constructor(tenant: string, agentIds: ReadonlySet<string>, recorded: Set<string>) {
    this.#tenant = tenant;
    this.#agentIds = agentIds;
    this.#recorded = recorded;
  }

  /** Returns the id of the first agent that does not exist, or undefined if all exist. */
  findMissing(agents: readonly CommentAgent[]): string | undefined {
    return agents.find(({ agentId }) => !findBuiltInAgent(agentId) && !this.#agentIds.has(agentId))?.agentId;
  }

  /** Throws NOT_FOUND if one of the agents does not exist. */
  requireAll(agents: readonly CommentAgent[]): void {
    const missingId = this.findMissing(agents);
    if (missingId !== undefined) throw new ApiError('NOT_FOUND', agentNotFound(missingId));
  }

  /**
   * Returns the writes that record new runs of agents and start the jobs that count them. The caller adds these writes
   * to the transaction that writes the comments. The transaction conflicts if another call records the same run. After
   * it, the caller must call `onWritten`, so that later transactions of the same call skip these runs.
   */
  recordRuns(
    agents: readonly CommentAgent[],
    now: number,
  ): { readonly ops: readonly WriteOp[]; readonly onWritten: () => void } {
    const runs = distinctBy(agents.filter(isRun), agentRunKey).filter((run) => !this.#recorded.has(agentRunKey(run)));
    const agentIds = distinct(runs.map(({ agentId }) => agentId));
    return {
      ops: [
        ...runs.map(({ agentId, run }) =>
          insert(AgentRunEntity, { tenant: this.#tenant, agentId, state: 'NEW', ...run }),
        ),
        // No queue message is sent, so endpoints that add comments need no queue client. The sweep, which runs every
        // minute, starts the job.
        ...agentIds.map((agentId) => {
          const job = { jobId: newId('job', now), kind: 'countAgentRuns', data: { agentId }, dueAt: now } as const;
          return startJob(this.#tenant, job, now);
        }),
      ],
      onWritten: () => {
        for (const run of runs) this.#recorded.add(agentRunKey(run));
      },
    };
  }
}

/** Returns which of these agents exist and which of their runs are recorded. Reads all with one BatchGetItem. */
export async function findAgents(table: Table, tenant: string, agents: readonly CommentAgent[]): Promise<AgentLookup> {
  const custom = distinct(agents.map(({ agentId }) => agentId)).filter((agentId) => !findBuiltInAgent(agentId));
  const runs = distinctBy(agents.filter(isRun), agentRunKey);
  const items = await table.batchGet(
    ...custom.map((agentId) => itemOf(AgentEntity, { tenant, agentId })),
    ...runs.flatMap(({ agentId, run: { executionId } }) =>
      runStates.map((state) => itemOf(AgentRunEntity, { tenant, agentId, state, executionId })),
    ),
  );
  const runItems = items.slice(custom.length);
  const recorded = runs.filter((_run, index) =>
    runStates.some((_state, stateIndex) => runItems[index * runStates.length + stateIndex]),
  );
  return new AgentLookup(
    tenant,
    new Set(custom.filter((_agentId, index) => items[index])),
    new Set(recorded.map(agentRunKey)),
  );
}

export function agentNotFound(agentId: string): string {
  return `Agent ${agentId} not found.`;
}

function isRun(agent: CommentAgent): agent is RunOfAgent {
  return agent.run !== undefined;
}
