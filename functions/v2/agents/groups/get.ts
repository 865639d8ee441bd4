import * as z from 'zod';
import { readAgentGroups } from '../../../../lib/agents/agentGroups.ts';
import { exampleGroup } from '../../../../lib/agents/example.ts';
import { GroupAnswer, GroupId, toGroupAnswer } from '../../../../lib/agents/rules/groups.ts';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/agents/groups/get',
    summary: 'Get a group of review agents',
    description:
      'Returns the ids of its agents. To get the agents themselves, send the `groupId` to `/v2/agents/get`. ' +
      'An unknown group is NOT_FOUND. For API keys only.',
    auth: 'apiKey',
    kind: 'read',
    input: z.object({ groupId: GroupId }),
    output: GroupAnswer,
    message: 'Agent group fetched successfully',
    errors: ['NOT_FOUND'],
    uses: { groups: readAgentGroups },
    impact: 'customers cannot see a group of review agents',
    example: {
      data: { groupId: 'agrp_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ' },
      result: {
        data: {
          group: { ...exampleGroup, agentIds: ['agt_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ', 'spell-check'] },
        },
      },
    },
  },
  async ({ input: { groupId }, caller: { tenant }, deps }) => {
    const group = await deps.groups.require(tenant, groupId);
    return toGroupAnswer(tenant, group);
  },
);

export const handler = toLambda(endpoint);
