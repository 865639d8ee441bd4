import * as z from 'zod';
import { readDomains } from '../../../../lib/workspaces/allowedDomains.ts';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/workspace/domains/get',
    summary: 'List the allowed domains',
    auth: 'apiKey',
    kind: 'read',
    body: 'optional',
    input: z.object({}),
    output: z.object({ data: z.object({ allowedDomains: z.array(z.string()) }) }),
    message: 'Allowed domains retrieved successfully.',
    errors: [],
    uses: { domains: readDomains },
    impact: 'customers cannot see on which domains their product may run',
    example: {
      data: {},
      result: { data: { allowedDomains: ['example.com', '*.example.com', 'localhost'] } },
    },
  },
  async ({ caller, deps }) => ({ data: { allowedDomains: await deps.domains.list(caller.tenant) } }),
);

export const handler = toLambda(endpoint);
