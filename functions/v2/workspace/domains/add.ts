import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambdaWithTwin } from '../../../../lib/http/lambda.ts';
import { defineTwin } from '../../../../lib/http/twin.ts';
import { list } from '../../../../lib/shared/schema.ts';
import { AllowedDomainsEntity } from '../../../../lib/workspaces/allowedDomains.ts';
import { configEndpoints } from '../../../../lib/workspaces/configs/configEndpoints.ts';
import { addDomains, Domain, MAX_DOMAINS_PER_CALL } from '../../../../lib/workspaces/rules/domains.ts';

export const endpoint = defineEndpoint(
  {
    ...configEndpoints(AllowedDomainsEntity).update,
    path: '/v2/workspace/domains/add',
    summary: 'Allow domains',
    description:
      'Pages of an allowed domain can read answers to calls with user tokens. A new domain usually counts at once. Domains that are in the list already are skipped. More than 500 domains of an API key are RESOURCE_EXHAUSTED, and none is added.',
    input: z.object({
      domains: list(Domain, MAX_DOMAINS_PER_CALL).describe(
        'Hosts such as `example.com`, or `*.example.com` for all subdomains. Scheme, port and path are left out. IP addresses are refused.',
      ),
    }),
    output: z.object({
      data: z.object({
        domainsAdded: z.array(z.string()).describe('The new domains, as they are stored.'),
        skippedDomains: z.array(z.string()).describe('The domains that were in the list already.'),
      }),
    }),
    message: 'Domain(s) added successfully to allowed domains.',
    errors: ['RESOURCE_EXHAUSTED', 'ABORTED'],
    impact: 'customers cannot allow further domains',
    example: {
      data: { domains: ['https://www.example.com', '*.example.com', 'localhost:3000'] },
      result: { data: { domainsAdded: ['example.com', '*.example.com'], skippedDomains: ['localhost'] } },
    },
  },
  async ({ input, caller, deps }) => {
    const { changed, skipped } = await deps.config.update(caller.tenant, input, (stored, { domains }) =>
      addDomains(stored?.domains ?? [], domains),
    );
    return { data: { domainsAdded: changed, skippedDomains: skipped } };
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
