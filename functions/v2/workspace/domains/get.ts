import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { AllowedDomainsEntity } from '../../../../lib/workspaces/allowedDomains.ts';
import { configEndpoints } from '../../../../lib/workspaces/configs/configEndpoints.ts';

export const endpoint = defineEndpoint(
  {
    ...configEndpoints(AllowedDomainsEntity).get,
    path: '/v2/workspace/domains/get',
    summary: 'List the allowed domains',
    description:
      'Only pages of these domains can read answers to calls with user tokens. Pictures from users, and links from users in mails and notifications, are shown only if they lead to these domains. To change the list, call `/v2/workspace/domains/add` and `/v2/workspace/domains/delete`.',
    output: z.object({
      data: z.object({ allowedDomains: z.array(z.string()).describe('The hosts, as they are stored.') }),
    }),
    message: 'Allowed domains retrieved successfully.',
    impact: 'customers cannot see on which domains their product may run',
    example: {
      data: {},
      result: { data: { allowedDomains: ['example.com', '*.example.com', 'localhost'] } },
    },
  },
  async ({ caller, deps }) => {
    const { domains } = await deps.config.getOrInitial(caller.tenant);
    return { data: { allowedDomains: domains } };
  },
);

export const handler = toLambda(endpoint);
