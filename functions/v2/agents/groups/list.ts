import * as z from 'zod';
import { listAgentGroups } from '../../../../lib/agents/agentGroups.ts';
import { GroupRow, toGroupRow } from '../../../../lib/agents/rules/groups.ts';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/agents/groups/list',
    summary: 'List the groups of review agents',
    description:
      'Returns all groups of the API key, oldest first, each with the number of its agents. There are no pages. ' +
      'The agents of a group are in `/v2/agents/groups/get`. For API keys only.',
    auth: 'apiKey',
    kind: 'read',
    input: z.object({}),
    body: 'optional',
    output: z.object({ data: z.object({ groups: z.array(GroupRow).describe('The groups, oldest first.') }) }),
    message: 'Agent groups listed successfully',
    errors: [],
    uses: { groups: listAgentGroups },
    impact: 'customers cannot see their groups of review agents',
    example: {
      data: {},
      result: {
        data: {
          groups: [
            {
              id: 'agrp_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ',
              name: 'Website',
              agentCount: 2,
              metadata: { apiKey: 'key_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ' },
              createdAt: 1795300000000,
              updatedAt: 1795300000000,
            },
          ],
        },
      },
    },
  },
  async ({ caller: { tenant }, deps }) => {
    const groups = await deps.groups.list(tenant);
    return { data: { groups: groups.map((group) => toGroupRow(tenant, group)) } };
  },
);

export const handler = toLambda(endpoint);
