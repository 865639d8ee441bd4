import * as z from 'zod';
import { readAgentGroups } from '../../../lib/agents/agentGroups.ts';
import { readAgents, type TenantAgents } from '../../../lib/agents/agentReader.ts';
import {
  AgentResponse,
  AgentRow,
  toAgentResponse,
  toAgentRow,
  toBuiltInResponse,
  toBuiltInRow,
  unknownAgent,
} from '../../../lib/agents/rules/agents.ts';
import { findBuiltInAgent, publicBuiltInAgents } from '../../../lib/agents/rules/builtIn.ts';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { isObject } from '../../../lib/shared/collections.ts';
import { Id, optional } from '../../../lib/shared/schema.ts';

/** The input schema. If `agentId` is set, `filter` and `groupId` are ignored and not validated. */
const Input = z.preprocess(
  (data) => (isObject(data) && typeof data.agentId === 'string' ? { agentId: data.agentId } : data),
  z.object({ agentId: optional(Id), filter: optional(z.enum(['defaultOnly', 'customOnly'])), groupId: optional(Id) }),
);

export const endpoint = defineEndpoint(
  {
    path: '/v2/agents/get',
    summary: 'Get one review agent, or list the review agents',
    auth: 'apiKey',
    kind: 'read',
    input: Input,
    output: z.object({ data: z.union([z.object({ agent: AgentResponse }), z.object({ agents: z.array(AgentRow) })]) }),
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
