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

/** Which agents named in comments exist, and which of their executions are recorded as runs. */
export class AgentLookup {
  readonly #tenant: string;
  readonly #agentIds: ReadonlySet<string>;
  readonly #recorded: Set<string>;

  constructor(tenant: string, agentIds: ReadonlySet<string>, recorded: Set<string>) {
    this.#tenant = tenant;
    this.#agentIds = agentIds;
    this.#recorded = recorded;
  }

  findMissing(agents: readonly CommentAgent[]): string | undefined {
    return agents.find(({ agentId }) => !findBuiltInAgent(agentId) && !this.#agentIds.has(agentId))?.agentId;
  }

  requireAll(agents: readonly CommentAgent[]): void {
    const missingId = this.findMissing(agents);
    if (missingId !== undefined) throw new ApiError('NOT_FOUND', agentNotFound(missingId));
  }

  /**
   * Returns the writes that record new runs and start the jobs that count them, for the transaction of the comments. It
   * conflicts if another call records the same run. Call `onWritten` after it, so that later transactions of the call
   * skip these runs.
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
        // No queue message, so that endpoints that add comments need no queue client. The sweep starts the job.
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
