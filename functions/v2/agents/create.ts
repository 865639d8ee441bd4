import * as z from 'zod';
import { sealVersion } from '../../../lib/agents/agentSecrets.ts';
import { createAgents } from '../../../lib/agents/agentWriter.ts';
import { MAX_AGENTS } from '../../../lib/agents/rules/agents.ts';
import { behaviourOf, refuseKeys, SentAgent, serverManagedKeys } from '../../../lib/agents/rules/configuration.ts';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { secretBox } from '../../../lib/crypto/secretBox.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { ApiError } from '../../../lib/shared/errors.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/agents/create',
    summary: 'Create a review agent',
    description:
      'Stores a custom agent with its version 1. The service keeps definitions of agents and does not run them yet. ' +
      'Fields that are not listed here are stored and returned too, except those that the service sets, such as `agentId` and `version`: they are ignored. ' +
      '`managedBy` and reserved keys of `metadata` are INVALID_ARGUMENT, with an issue for each field. ' +
      'An API key can have 1,000 custom agents. Above that, the answer is RESOURCE_EXHAUSTED. ' +
      'To change what the agent does, call `/v2/agents/version/update`; to change its name, `/v2/agents/update`. For API keys only.',
    auth: 'apiKey',
    kind: 'write',
    input: SentAgent,
    output: z.object({ data: z.object({ agentId: z.string().describe('The id of the new agent.') }) }),
    message: 'Agent created successfully',
    errors: ['RESOURCE_EXHAUSTED', 'ABORTED'],
    uses: { agents: createAgents, box: secretBox },
    impact: 'customers cannot create review agents',
    example: {
      data: {
        name: 'Tone of voice',
        description: 'Finds sentences that do not sound like us',
        instructions: 'Report every sentence that is not friendly.',
        metadata: { team: 'brand' },
        contextGathering: {
          strategies: ['web-page-text'],
          strategyOptions: { 'web-page-text': { deviceType: 'mobile' } },
        },
        execution: { executionStrategy: 'ai', aiConfig: { provider: 'claude' } },
        postProcess: { guardrails: { enabled: false } },
      },
      result: { data: { agentId: 'agt_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ' } },
    },
  },
  async ({ input, caller: { tenant }, deps, now, repeatableId }) => {
    refuseKeys(serverManagedKeys(input));
    const { name, description, enabled = true, metadata } = input;
    const agentId = repeatableId('agt', 0);
    const content = await sealVersion(deps.box, tenant, agentId, { behaviour: behaviourOf(input), metadata });
    const outcome = await deps.agents.create(tenant, { agentId, name, description, enabled }, content, {
      callId: repeatableId('ver', 1),
      now,
    });
    if (outcome === 'full')
      throw new ApiError('RESOURCE_EXHAUSTED', `The API key has ${MAX_AGENTS} custom agents, as many as it may have.`);
    return { data: { agentId } };
  },
);

export const handler = toLambda(endpoint);
