import * as z from 'zod';
import { readAgentVersions } from '../../../../lib/agents/agentReader.ts';
import {
  onlyCustomAgents,
  toVersionResponse,
  unknownAgent,
  VersionResponse,
} from '../../../../lib/agents/rules/agents.ts';
import { findBuiltInAgent } from '../../../../lib/agents/rules/builtIn.ts';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { paging } from '../../../../lib/http/paging.ts';
import { Id, limits, optional, PageSize, PageToken } from '../../../../lib/shared/schema.ts';

const path = '/v2/agents/versions/list';

export const endpoint = defineEndpoint(
  {
    path,
    summary: 'List the versions of a review agent, newest first',
    description:
      'Each version has all that the agent did in it. Secrets are `__redacted__`. ' +
      'A built-in agent has no versions and is INVALID_ARGUMENT. An unknown agent is NOT_FOUND. If an answer is too large, send a smaller `pageSize`. For API keys only.',
    auth: 'apiKey',
    kind: 'read',
    input: z.object({ agentId: Id, pageSize: optional(PageSize), pageToken: optional(PageToken) }),
    output: z.object({
      data: z.object({ versions: z.array(VersionResponse).describe('The versions, newest first.') }),
      nextPageToken: z.string().nullable().describe('The `pageToken` of the next page. Null on the last page.'),
    }),
    message: 'Versions listed successfully',
    errors: ['NOT_FOUND'],
    uses: { agents: readAgentVersions },
    narrowBy: 'pageSize',
    impact: 'customers cannot see the versions of their review agents',
    example: {
      data: { agentId: 'agt_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ' },
      result: {
        data: {
          versions: [
            {
              id: 'v1',
              version: 1,
              createdAt: 1795300000000,
              metadata: { team: 'brand', apiKey: 'key_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ' },
              instructions: 'Report every sentence that is not friendly.',
              contextGathering: { strategies: ['web-page-text'] },
            },
          ],
        },
        nextPageToken: null,
      },
    },
  },
  async ({ input, caller, deps, now }) => {
    const { agentId, pageSize = limits.pageSize } = input;
    if (findBuiltInAgent(agentId)) throw onlyCustomAgents();
    const pages = paging(caller, [path, agentId], input, now);
    const page = await deps.agents.listVersions(caller.tenant, agentId, { limit: pageSize, after: pages.after });
    if (!page) throw unknownAgent();
    return {
      data: { versions: page.values.map((version) => toVersionResponse(caller.tenant, version)) },
      nextPageToken: pages.next(page.next),
    };
  },
);

export const handler = toLambda(endpoint);
