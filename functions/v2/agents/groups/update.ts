import { changeAgentGroups } from '../../../../lib/agents/agentGroups.ts';
import { exampleGroup } from '../../../../lib/agents/example.ts';
import { changeGroup, GroupAnswer, GroupChange, toGroupAnswer } from '../../../../lib/agents/rules/groups.ts';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { requireChange } from '../../../../lib/shared/schema.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/agents/groups/update',
    summary: 'Change the name or the description of a group of review agents',
    description:
      'Send at least one of both. The other stays. `metadata` cannot be changed, and agents are changed by `/v2/agents/groups/add-agents` and `/v2/agents/groups/remove-agents`. ' +
      'An unknown group is NOT_FOUND. For API keys only.',
    auth: 'apiKey',
    kind: 'write',
    input: GroupChange.check(
      requireChange(['name', 'description'], 'At least one of these must be given: name, description.'),
    ),
    output: GroupAnswer,
    message: 'Agent group updated successfully',
    errors: ['NOT_FOUND', 'ABORTED'],
    uses: { groups: changeAgentGroups },
    impact: 'customers cannot rename groups of review agents',
    example: {
      data: { groupId: 'agrp_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ', name: 'Website, released' },
      result: {
        data: {
          group: { ...exampleGroup, name: 'Website, released', updatedAt: 1795300060000 },
        },
      },
    },
  },
  async ({ input: { groupId, ...change }, caller: { tenant }, deps, now }) => {
    const group = await deps.groups.change(tenant, groupId, (stored) => changeGroup(stored, change, now));
    return toGroupAnswer(tenant, group);
  },
);

export const handler = toLambda(endpoint);
