import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambdaWithTwin } from '../../../../lib/http/lambda.ts';
import { defineTwin } from '../../../../lib/http/twin.ts';
import { list } from '../../../../lib/shared/schema.ts';
import { AllowedDomainsEntity } from '../../../../lib/workspaces/allowedDomains.ts';
import { configEndpoints } from '../../../../lib/workspaces/configs/configEndpoints.ts';
import { MAX_DOMAINS_PER_CALL, RemovedDomain, removeDomains } from '../../../../lib/workspaces/rules/domains.ts';

export const endpoint = defineEndpoint(
  {
    ...configEndpoints(AllowedDomainsEntity).update,
    path: '/v2/workspace/domains/delete',
    summary: 'Remove allowed domains',
    description:
      'Domains that are not in the list are skipped. Pages of a removed domain can still read answers for 10 seconds.',
    input: z.object({
      domains: list(RemovedDomain, MAX_DOMAINS_PER_CALL).describe(
        'The hosts to remove, in the form that `/v2/workspace/domains/add` takes.',
      ),
    }),
    output: z.object({
      data: z.object({
        domainsRemoved: z.array(z.string()).describe('The domains that were removed.'),
        skippedDomains: z.array(z.string()).describe('The domains that were not in the list.'),
      }),
    }),
    message: 'Domain(s) removed successfully from allowed domains.',
    impact: 'customers cannot remove allowed domains',
    example: {
      data: { domains: ['example.com', 'elsewhere.example'] },
      result: { data: { domainsRemoved: ['example.com'], skippedDomains: ['elsewhere.example'] } },
    },
  },
  async ({ input, caller, deps }) => {
    const { changed, skipped } = await deps.config.update(caller.tenant, input, (stored, { domains }) =>
      removeDomains(stored?.domains ?? [], domains),
    );
    return { data: { domainsRemoved: changed, skippedDomains: skipped } };
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
