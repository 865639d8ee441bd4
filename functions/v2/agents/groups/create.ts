import { createAgentGroups } from '../../../../lib/agents/agentGroups.ts';
import { exampleGroup } from '../../../../lib/agents/example.ts';
import { GroupAnswer, MAX_GROUPS, NewGroup, newGroup, toGroupAnswer } from '../../../../lib/agents/rules/groups.ts';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { ApiError } from '../../../../lib/shared/errors.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/agents/groups/create',
    summary: 'Create a group of review agents',
    description:
      'A group is an ordered list of custom and built-in agents, for your own use. `/v2/agents/get` lists its agents. ' +
      'An unknown custom agent is NOT_FOUND. An API key can have 50 groups. Above that, the answer is RESOURCE_EXHAUSTED. ' +
      'Change the agents with `/v2/agents/groups/add-agents` and `/v2/agents/groups/remove-agents`. For API keys only.',
    auth: 'apiKey',
    kind: 'write',
    input: NewGroup,
    output: GroupAnswer,
    message: 'Agent group created successfully',
    errors: ['RESOURCE_EXHAUSTED', 'NOT_FOUND', 'ABORTED'],
    uses: { groups: createAgentGroups },
    impact: 'customers cannot create groups of review agents',
    example: {
      data: {
        name: 'Website',
        description: 'What runs before a release',
        agentIds: ['spell-check'],
        metadata: { team: 'web' },
      },
      result: {
        data: {
          group: {
            ...exampleGroup,
            description: 'What runs before a release',
            metadata: { team: 'web', ...exampleGroup.metadata },
          },
        },
      },
    },
  },
  async ({ input, caller: { tenant }, deps, now, repeatableId }) => {
    const group = newGroup(input, { groupId: repeatableId('agrp', 0), now });
    await deps.groups.requireAgents(tenant, group.agentIds);
    const outcome = await deps.groups.create(tenant, group);
    if (outcome === 'full')
      throw new ApiError(
        'RESOURCE_EXHAUSTED',
        `The API key has ${MAX_GROUPS} groups of agents, as many as it may have.`,
      );
    return toGroupAnswer(tenant, group);
  },
);

export const handler = toLambda(endpoint);
