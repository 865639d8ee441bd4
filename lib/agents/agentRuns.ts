import { type CommentAgent, agentRunKey } from '../comments/rules/commentAgents.ts';
import { startJob } from '../jobs/jobStore.ts';
import { distinct, distinctBy } from '../shared/collections.ts';
import { ApiError } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import { insert, itemOf, type Table, type WriteOp } from '../table/table.ts';
import { AgentEntity, AgentRunEntity, runStates } from './entities.ts';
import { findBuiltInAgent } from './rules/builtIn.ts';
import type { AgentRun } from './rules/runs.ts';

interface RunOfAgent extends CommentAgent {
  readonly run: AgentRun;
}

/** The agents that the comments of a call name: which exist, and which of their runs are recorded. */
export class FoundAgents {
  readonly #tenant: string;
  /** Ids of custom agents. */
  readonly #agentIds: ReadonlySet<string>;
  /** Keys of recorded runs. */
  readonly #recorded: Set<string>;

  constructor(tenant: string, agentIds: ReadonlySet<string>, recorded: Set<string>) {
    this.#tenant = tenant;
    this.#agentIds = agentIds;
    this.#recorded = recorded;
  }

  /** Returns the id of the first agent that does not exist. */
  findMissing(agents: readonly CommentAgent[]): string | undefined {
    return agents.find(({ agentId }) => !findBuiltInAgent(agentId) && !this.#agentIds.has(agentId))?.agentId;
  }

  /** Throws NOT_FOUND when one of the agents does not exist. */
  requireAll(agents: readonly CommentAgent[]): void {
    const missing = this.findMissing(agents);
    if (missing !== undefined) throw new ApiError('NOT_FOUND', agentNotFound(missing));
  }

  /**
   * Returns the writes that record the new runs and start the jobs that count them, for the transaction of the comments. The transaction conflicts when
   * another call records the same run. Call `written` after the transaction, so that the next one skips these runs.
   */
  recordRuns(
    agents: readonly CommentAgent[],
    now: number,
  ): { readonly ops: readonly WriteOp[]; readonly onWritten: () => void } {
    const runs = distinctBy(agents.filter(isRun), agentRunKey).filter((one) => !this.#recorded.has(agentRunKey(one)));
    const agentIds = distinct(runs.map(({ agentId }) => agentId));
    return {
      ops: [
        ...runs.map(({ agentId, run }) =>
          insert(AgentRunEntity, { tenant: this.#tenant, agentId, state: 'NEW', ...run }),
        ),
        // No queue message: the sweeper starts the job within a minute, and endpoints that add comments need no queue client.
        ...agentIds.map((agentId) => {
          const job = { jobId: newId('job', now), kind: 'countAgentRuns', data: { agentId }, dueAt: now } as const;
          return startJob(this.#tenant, job, now);
        }),
      ],
      onWritten: () => {
        for (const one of runs) this.#recorded.add(agentRunKey(one));
      },
    };
  }
}

/** Reads which agents exist and which of their runs are recorded, in one BatchGetItem. */
export async function findAgents(table: Table, tenant: string, agents: readonly CommentAgent[]): Promise<FoundAgents> {
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
    runStates.some((_state, at) => runItems[index * runStates.length + at]),
  );
  return new FoundAgents(
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
