import * as z from 'zod';
import { changeAgents } from '../../../lib/agents/agentWriter.ts';
import { onlyCustomAgents, unknownAgent } from '../../../lib/agents/rules/agents.ts';
import { identityTexts } from '../../../lib/agents/rules/behaviourShape.ts';
import { findBuiltInAgent } from '../../../lib/agents/rules/builtIn.ts';
import { refuseKeys } from '../../../lib/agents/rules/configuration.ts';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { Id, Name, optional, requireChange, Text, withOpenKeys } from '../../../lib/shared/schema.ts';

const fields = ['name', 'description', 'enabled'];
const serverManaged = ['id', 'apiKey', 'managedBy', 'metadata', 'version', 'createdAt', 'updatedAt'];
const isServerManaged = (key: string) => serverManaged.includes(key);
const serverManagedIn = (open: object) => serverManaged.filter((key) => Object.hasOwn(open, key));

export const endpoint = defineEndpoint(
  {
    path: '/v2/agents/update',
    summary: 'Rename, describe, enable or disable a review agent. This creates no new version',
    description:
      'Send at least one of `name`, `description` and `enabled`. ' +
      'A built-in agent accepts only `enabled`, which changes it for your API key alone. Its name or description is INVALID_ARGUMENT, and so is a field that only the service sets, such as `metadata` or `version`. ' +
      'An unknown agent is NOT_FOUND. What the agent does is changed by `/v2/agents/version/update`. For API keys only.',
    auth: 'apiKey',
    kind: 'write',
    input: withOpenKeys(
      {
        agentId: Id.describe('The agent, by the id that `/v2/agents/create` returned, or the id of a built-in agent.'),
        name: optional(Name).describe(identityTexts.name),
        description: optional(Text).describe(identityTexts.description),
        enabled: optional(z.boolean()).describe(identityTexts.enabled),
      },
      undefined,
      isServerManaged,
    ).check(
      requireChange(
        fields,
        `At least one of these must be given: ${fields.join(', ')}.`,
        // A request with only server-managed fields gets only the error of these fields.
        (sent) => fields.some((field) => sent[field] !== undefined) || serverManagedIn(sent.open as object).length > 0,
      ),
    ),
    output: z.object({ data: z.object({ agentId: z.string().describe('The id of the request.') }) }),
    message: 'Agent updated successfully',
    errors: ['NOT_FOUND', 'ABORTED'],
    uses: { agents: changeAgents },
    impact: 'customers cannot rename, enable or disable review agents',
    example: {
      data: { agentId: 'agt_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ', enabled: false },
      result: { data: { agentId: 'agt_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ' } },
    },
  },
  async ({ input: { agentId, open, ...change }, caller: { tenant }, deps, now }) => {
    refuseKeys(serverManagedIn(open).map((key) => [key]));
    const isBuiltIn = findBuiltInAgent(agentId) !== undefined;
    if (isBuiltIn && (change.name !== undefined || change.description !== undefined)) throw onlyCustomAgents();
    if (isBuiltIn)
      await deps.agents.updateBuiltIn(tenant, { agentId, enabled: change.enabled === true, updatedAt: now });
    else if ((await deps.agents.update(tenant, agentId, change, now)) === 'unknown') throw unknownAgent();
    return { data: { agentId } };
  },
);

export const handler = toLambda(endpoint);
