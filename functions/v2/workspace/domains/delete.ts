import * as z from 'zod';
import { writeDomains } from '../../../../lib/workspaces/allowedDomains.ts';
import { MOST_DOMAINS_PER_CALL, RemovedDomain } from '../../../../lib/workspaces/rules/domains.ts';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambdaWithTwin } from '../../../../lib/http/lambda.ts';
import { defineTwin } from '../../../../lib/http/twin.ts';
import { closedObject, list } from '../../../../lib/shared/schema.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/workspace/domains/delete',
    summary: 'Allow domains no longer',
    auth: 'apiKey',
    kind: 'write',
    input: closedObject({ domains: list(RemovedDomain, MOST_DOMAINS_PER_CALL) }),
    output: z.object({ data: z.object({ domainsRemoved: z.array(z.string()), skippedDomains: z.array(z.string()) }) }),
    message: 'Domain(s) removed successfully from allowed domains.',
    errors: ['ABORTED'],
    uses: { domains: writeDomains },
    impact: 'customers cannot take back the permission of a domain',
    example: {
      data: { domains: ['example.com', 'elsewhere.example'] },
      result: { data: { domainsRemoved: ['example.com'], skippedDomains: ['elsewhere.example'] } },
    },
  },
  async ({ input, caller, deps }) => {
    const { changed, skipped } = await deps.domains.remove(caller.tenant, input.domains);
    return { data: { domainsRemoved: changed, skippedDomains: skipped } };
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
