import * as z from 'zod';
import { removeAgentFromGroups } from '../../../lib/agents/agentGroups.ts';
import { deleteAgents } from '../../../lib/agents/agentWriter.ts';
import { onlyCustomAgents } from '../../../lib/agents/rules/agents.ts';
import { findBuiltInAgent } from '../../../lib/agents/rules/builtIn.ts';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { PURGE_DELAY_SECONDS } from '../../../lib/deletion/startPurge.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { notifyJobs } from '../../../lib/jobs/jobStore.ts';
import { Id } from '../../../lib/shared/schema.ts';
import * as sendTo from '../../../lib/workers/sendTo.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/agents/delete',
    summary: 'Delete a review agent with all of its versions',
    description:
      'Removes the agent from all lists and groups at once. Its versions are purged later and cannot be restored. ' +
      'An agent that does not exist is a success. A built-in agent is INVALID_ARGUMENT: disable it with `/v2/agents/update`. ' +
      'Comments that name the agent stay. For API keys only.',
    auth: 'apiKey',
    kind: 'write',
    input: z.object({ agentId: Id }),
    output: z.object({ data: z.object({ agentId: z.string().describe('The id of the request.') }) }),
    message: 'Agent deleted successfully',
    errors: ['ABORTED'],
    uses: { agents: deleteAgents, groups: removeAgentFromGroups, queue: sendTo.jobs },
    impact: 'customers cannot delete review agents',
    example: {
      data: { agentId: 'agt_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ' },
      result: { data: { agentId: 'agt_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ' } },
    },
  },
  async ({ input: { agentId }, caller: { tenant }, deps, now, repeatableId, log }) => {
    if (findBuiltInAgent(agentId)) throw onlyCustomAgents();
    const job = await deps.agents.delete(tenant, agentId, { callId: repeatableId('job', 0), now });
    if (job) await notifyJobs(deps.queue, [job], log, PURGE_DELAY_SECONDS);
    // An earlier call may have deleted the agent and then failed. So the agent is also removed from its groups if it is
    // already deleted.
    await deps.groups.removeAgent(tenant, agentId, now);
    return { data: { agentId } };
  },
);

export const handler = toLambda(endpoint);
