import { changeAgentGroups } from '../../../../lib/agents/agentGroups.ts';
import { exampleGroup } from '../../../../lib/agents/example.ts';
import { GroupAnswer, GroupMembers, toGroupAnswer, withoutAgents } from '../../../../lib/agents/rules/groups.ts';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/agents/groups/remove-agents',
    summary: 'Remove review agents from a group',
    description:
      'The other agents of the group keep their order, and the removed agents are not deleted. ' +
      'An id that is not in the group is ignored. An unknown group is NOT_FOUND. For API keys only.',
    auth: 'apiKey',
    kind: 'write',
    input: GroupMembers,
    output: GroupAnswer,
    message: 'Agents removed from group successfully',
    errors: ['NOT_FOUND', 'ABORTED'],
    uses: { groups: changeAgentGroups },
    impact: 'customers cannot remove review agents from groups',
    example: {
      data: { groupId: 'agrp_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ', agentIds: ['broken-links'] },
      result: {
        data: {
          group: { ...exampleGroup, updatedAt: 1795300060000 },
        },
      },
    },
  },
  async ({ input: { groupId, agentIds }, caller: { tenant }, deps, now }) => {
    const group = await deps.groups.change(tenant, groupId, (stored) => withoutAgents(stored, agentIds, now));
    return toGroupAnswer(tenant, group);
  },
);

export const handler = toLambda(endpoint);
