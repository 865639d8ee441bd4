import { addAgentsToGroups } from '../../../../lib/agents/agentGroups.ts';
import { exampleGroup } from '../../../../lib/agents/example.ts';
import { GroupAnswer, GroupMembers, toGroupAnswer, withAgents } from '../../../../lib/agents/rules/groups.ts';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/agents/groups/add-agents',
    summary: 'Append review agents to a group',
    description:
      'Agents that are already in the group stay at their place. The call adds all agents or none. ' +
      'An unknown group or custom agent is NOT_FOUND. More than 100 agents in the group are RESOURCE_EXHAUSTED. For API keys only.',
    auth: 'apiKey',
    kind: 'write',
    input: GroupMembers,
    output: GroupAnswer,
    message: 'Agents added to group successfully',
    errors: ['RESOURCE_EXHAUSTED', 'NOT_FOUND', 'ABORTED'],
    uses: { groups: addAgentsToGroups },
    impact: 'customers cannot add review agents to groups',
    example: {
      data: { groupId: 'agrp_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ', agentIds: ['spell-check', 'broken-links'] },
      result: {
        data: {
          group: { ...exampleGroup, agentIds: ['spell-check', 'broken-links'], updatedAt: 1795300060000 },
        },
      },
    },
  },
  async ({ input: { groupId, agentIds }, caller: { tenant }, deps, now }) => {
    await deps.groups.requireAgents(tenant, agentIds);
    const group = await deps.groups.change(tenant, groupId, (stored) => withAgents(stored, agentIds, now));
    return toGroupAnswer(tenant, group);
  },
);

export const handler = toLambda(endpoint);
