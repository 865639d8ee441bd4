import { distinct, distinctBy } from '../shared/collections.ts';
import { builtInAgent } from './rules/builtIn.ts';
import type { AgentRun } from './rules/runs.ts';
import { type CommentAgent, agentRunKey } from '../comments/rules/commentAgents.ts';
import { ApiError } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';
import { beginJob } from '../jobs/jobStore.ts';
import { insert, type Table, itemOf, type WriteOp } from '../table/table.ts';
import { AgentEntity, AgentRunEntity, runStates } from './entities.ts';

interface Run extends CommentAgent {
  readonly run: AgentRun;
}

/** What is stored of the agents that a call names. */
export class FoundAgents {
  readonly #tenant: string;
  readonly #agentIds: ReadonlySet<string>;
  readonly #noted: Set<string>;

  constructor(tenant: string, agentIds: ReadonlySet<string>, noted: Set<string>) {
    this.#tenant = tenant;
    this.#agentIds = agentIds;
    this.#noted = noted;
  }

  /** The first of these agents that there is not. */
  missing(agents: readonly CommentAgent[]): string | undefined {
    return agents.find(({ agentId }) => !builtInAgent(agentId) && !this.#agentIds.has(agentId))?.agentId;
  }

  /** NOT_FOUND when one of these agents does not exist. */
  require(agents: readonly CommentAgent[]): void {
    const missing = this.missing(agents);
    if (missing !== undefined) throw new ApiError('NOT_FOUND', missingAgent(missing));
  }

  /**
   * Notes the executions that are not noted yet, each with the job that counts it. For the transaction of the comments that came from them: whoever
   * else notes one meanwhile makes it conflict, and it finds that one noted when it reads anew. `written` is called when it is written.
   */
  note(
    agents: readonly CommentAgent[],
    now: number,
  ): { readonly ops: readonly WriteOp[]; readonly written: () => void } {
    const runs = distinctBy(agents.filter(isRun), agentRunKey).filter((one) => !this.#noted.has(agentRunKey(one)));
    return {
      ops: [
        ...runs.map(({ agentId, run }) =>
          insert(AgentRunEntity, { tenant: this.#tenant, agentId, state: 'NEW', ...run }),
        ),
        // No message: the sweeper finds it within a minute, so that who adds comments needs no client of the queue.
        ...distinct(runs.map(({ agentId }) => agentId)).map((agentId) =>
          beginJob(
            this.#tenant,
            { jobId: newId('job', now), kind: 'countAgentRuns', data: { agentId }, dueAt: now },
            now,
          ),
        ),
      ],
      written: () => {
        for (const one of runs) this.#noted.add(agentRunKey(one));
      },
    };
  }
}

/** Reads which of these agents there are, and which of their executions are noted. One BatchGet, none when there is nothing to look for. */
export async function findAgents(table: Table, tenant: string, agents: readonly CommentAgent[]): Promise<FoundAgents> {
  const custom = distinct(agents.map(({ agentId }) => agentId)).filter((agentId) => !builtInAgent(agentId));
  const runs = distinctBy(agents.filter(isRun), agentRunKey);
  const found = await table.batchGet(
    ...custom.map((agentId) => itemOf(AgentEntity, { tenant, agentId })),
    ...runs.flatMap(({ agentId, run: { executionId } }) =>
      runStates.map((state) => itemOf(AgentRunEntity, { tenant, agentId, state, executionId })),
    ),
  );
  const notes = found.slice(custom.length);
  const noted = runs.filter((_run, index) => runStates.some((_state, at) => notes[index * runStates.length + at]));
  return new FoundAgents(
    tenant,
    new Set(custom.filter((_agentId, index) => found[index])),
    new Set(noted.map(agentRunKey)),
  );
}

/** What is said of an agent that comments are to be of and that does not exist. */
export function missingAgent(agentId: string): string {
  return `Agent ${agentId} not found.`;
}

function isRun(agent: CommentAgent): agent is Run {
  return agent.run !== undefined;
}
