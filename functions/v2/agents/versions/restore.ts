import * as z from 'zod';
import { restoreAgents } from '../../../../lib/agents/agentWriter.ts';
import { onlyCustomAgents, unknownAgent } from '../../../../lib/agents/rules/agents.ts';
import { findBuiltInAgent } from '../../../../lib/agents/rules/builtIn.ts';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { ApiError } from '../../../../lib/shared/errors.ts';
import { Id } from '../../../../lib/shared/schema.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/agents/versions/restore',
    summary: 'Remove the newest version of a review agent and restore the previous version',
    description:
      'Removes one version per call. The removed version is lost, and the next change gets its number again. Name, description and `enabled` stay. ' +
      'An agent with version 1 is FAILED_PRECONDITION. If another call changes the version at the same time, the answer is ABORTED: read the agent before you repeat the call. ' +
      'A built-in agent is INVALID_ARGUMENT, an unknown one NOT_FOUND. For API keys only.',
    auth: 'apiKey',
    kind: 'write',
    input: z.object({ agentId: Id }),
    output: z.object({
      data: z.object({ version: z.number().describe('The number of the version that is current again.') }),
    }),
    message: 'Version restored successfully',
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION', 'ABORTED'],
    uses: { agents: restoreAgents },
    impact: 'customers cannot restore versions of their review agents',
    example: {
      data: { agentId: 'agt_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ' },
      result: { data: { version: 1 } },
    },
  },
  async ({ input: { agentId }, caller: { tenant }, deps, now, repeatableId }) => {
    if (findBuiltInAgent(agentId)) throw onlyCustomAgents();
    const version = await deps.agents.restore(tenant, agentId, { callId: repeatableId('ver', 0), now });
    if (version === undefined) throw unknownAgent();
    if (version === 'first') throw new ApiError('FAILED_PRECONDITION', 'The agent has no version before this one.');
    return { data: { version } };
  },
);

export const handler = toLambda(endpoint);
