import * as z from 'zod';
import { readAgentGroups } from '../../../lib/agents/agentGroups.ts';
import { readAgents, type TenantAgents } from '../../../lib/agents/agentReader.ts';
import {
  type AgentRow,
  AgentsOrAgent,
  toAgentResponse,
  toAgentRow,
  toBuiltInResponse,
  toBuiltInRow,
  unknownAgent,
} from '../../../lib/agents/rules/agents.ts';
import { findBuiltInAgent, publicBuiltInAgents } from '../../../lib/agents/rules/builtIn.ts';
import { GroupId } from '../../../lib/agents/rules/groups.ts';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { isObject } from '../../../lib/shared/collections.ts';
import { Id, optional } from '../../../lib/shared/schema.ts';

const Input = z.preprocess(
  (data) => (isObject(data) && typeof data.agentId === 'string' ? { agentId: data.agentId } : data),
  z.object({
    agentId: optional(Id).describe('The agent to return alone. The other fields are then ignored.'),
    filter: optional(z.enum(['defaultOnly', 'customOnly'])).describe('Only built-in agents, or only your own.'),
    groupId: optional(GroupId),
  }),
);

export const endpoint = defineEndpoint(
  {
    path: '/v2/agents/get',
    summary: 'Get one review agent, or list the review agents',
    description:
      'With `agentId`, returns one agent with all that it does. Check `managedBy` first: only an agent of `customer` has the fields of its version. ' +
      'Without `agentId`, returns rows: custom agents in the order of their creation, then built-in agents. `groupId` returns the agents of a group in its order, and `filter` applies to both. There are no pages. ' +
      'The built-in agents `crawler` and `screenshot`, which only serve other agents, are in no list. ' +
      'An unknown agent or group is NOT_FOUND. Older versions are in `/v2/agents/versions/list`. For API keys only.',
    auth: 'apiKey',
    kind: 'read',
    input: Input,
    output: z.object({ data: AgentsOrAgent }),
    message: ({ data }) => ('agent' in data ? 'Agent fetched successfully' : 'Agents fetched successfully'),
    errors: ['NOT_FOUND', 'ABORTED'],
    uses: { agents: readAgents, groups: readAgentGroups },
    narrowBy: ({ groupId }) => (groupId === undefined ? 'groupId' : 'agentId'),
    impact: 'customers cannot see their review agents',
    example: {
      data: { filter: 'customOnly' },
      result: {
        data: {
          agents: [
            {
              id: 'agt_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ',
              name: 'Tone of voice',
              description: 'Finds sentences that do not sound like us',
              enabled: true,
              version: 2,
              managedBy: 'customer',
              metadata: { team: 'brand', apiKey: 'key_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ' },
              executionCount: 0,
              lastExecutedAt: null,
            },
          ],
        },
      },
    },
  },
  async ({ input: { agentId, filter, groupId }, caller: { tenant }, deps }) => {
    if (agentId !== undefined) {
      const builtIn = findBuiltInAgent(agentId);
      if (builtIn)
        return { data: { agent: toBuiltInResponse(builtIn, await deps.agents.getBuiltInChange(tenant, agentId)) } };
      const agent = await deps.agents.get(tenant, agentId);
      if (!agent) throw unknownAgent();
      return { data: { agent: toAgentResponse(tenant, agent) } };
    }
    const builtInOnly = filter === 'defaultOnly';
    const rows =
      groupId === undefined ? toRows(await deps.agents.list(tenant, { builtInOnly })) : await rowsOfGroup(groupId);
    const agents = rows.filter(({ system = false }) => filter === undefined || system === builtInOnly);
    return { data: { agents } };

    function toRows({ agents, changes }: TenantAgents): AgentRow[] {
      return [
        ...agents.map((agent) => toAgentRow(tenant, agent)),
        ...publicBuiltInAgents.map((agent) => toBuiltInRow(agent, changes.get(agent.id))),
      ];
    }

    async function rowsOfGroup(id: string): Promise<AgentRow[]> {
      const { agentIds } = await deps.groups.require(tenant, id);
      const rowById = new Map(toRows(await deps.agents.findByIds(tenant, agentIds)).map((row) => [row.id, row]));
      return agentIds.flatMap((agentId) => rowById.get(agentId) ?? []);
    }
  },
);

export const handler = toLambda(endpoint);
