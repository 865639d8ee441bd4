import * as z from 'zod';
import { deleteAgentGroups } from '../../../../lib/agents/agentGroups.ts';
import { GroupId } from '../../../../lib/agents/rules/groups.ts';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/agents/groups/delete',
    summary: 'Delete a group of review agents, but not its agents',
    description:
      'The agents of the group stay as they are. An unknown group is NOT_FOUND, also if an earlier call has deleted it. For API keys only.',
    auth: 'apiKey',
    kind: 'write',
    input: z.object({ groupId: GroupId }),
    output: z.object({ data: z.object({ groupId: z.string().describe('The id of the request.') }) }),
    message: 'Agent group deleted successfully',
    errors: ['NOT_FOUND', 'ABORTED'],
    uses: { groups: deleteAgentGroups },
    impact: 'customers cannot delete groups of review agents',
    example: {
      data: { groupId: 'agrp_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ' },
      result: { data: { groupId: 'agrp_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ' } },
    },
  },
  async ({ input: { groupId }, caller: { tenant }, deps }) => {
    await deps.groups.delete(tenant, groupId);
    return { data: { groupId } };
  },
);

export const handler = toLambda(endpoint);
