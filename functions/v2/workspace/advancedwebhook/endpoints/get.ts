import * as z from 'zod';
import { defineEndpoint } from '../../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../../lib/http/lambda.ts';
import { iterators } from '../../../../../lib/http/paging.ts';
import { optional, PageToken } from '../../../../../lib/shared/schema.ts';
import { listWebhookEndpoints } from '../../../../../lib/webhooks/endpoints.ts';
import { requireEnabledToList } from '../../../../../lib/webhooks/rules/advancedConfig.ts';
import { toEndpointResponse, WebhookEndpointResponse } from '../../../../../lib/webhooks/rules/endpoints.ts';
import { readAdvancedWebhooks } from '../../../../../lib/webhooks/webhookConfigs.ts';

const path = '/v2/workspace/advancedwebhook/endpoints/get';
const MOST = 250;
const USUAL = 50;

export const endpoint = defineEndpoint(
  {
    path,
    summary: 'List the advanced webhook endpoints',
    description:
      'Pages go both ways: send `iterator` or `prevIterator` of the answer as `iterator`. FAILED_PRECONDITION means that advanced webhooks are disabled. For the deliveries of an endpoint, call `/v2/workspace/advancedwebhook/messages/get` with `endpointId`.',
    auth: 'apiKey',
    kind: 'read',
    input: z.object({
      limit: optional(z.int().min(1).max(MOST)).describe(
        `The largest number of endpoints in the answer. By default ${USUAL}.`,
      ),
      iterator: optional(PageToken).describe(
        'Continues a listing: `iterator` or `prevIterator` of another page. Leave it out for the first page.',
      ),
    }),
    output: z.object({
      data: z.object({
        endpoints: z.array(WebhookEndpointResponse),
        iterator: z.string().nullable().describe('Leads to the next page. Null on the last page.'),
        prevIterator: z.string().nullable().describe('Leads to the page before. Null on the first page.'),
        done: z.boolean().describe('Whether this is the last page.'),
      }),
    }),
    message: 'Advanced webhook endpoints retrieved successfully.',
    errors: ['FAILED_PRECONDITION'],
    uses: { webhooks: readAdvancedWebhooks, endpoints: listWebhookEndpoints },
    narrowBy: 'limit',
    impact: 'customers cannot see their webhook endpoints',
    example: {
      data: { limit: 10 },
      result: {
        data: {
          endpoints: [
            {
              id: 'ep_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ',
              url: 'https://hooks.example.com/collaboration',
              description: null,
              filterTypes: null,
              channels: null,
              disabled: false,
              rateLimit: null,
              uid: null,
              createdAt: '2026-11-20T09:30:00.000Z',
              updatedAt: '2026-11-20T09:30:00.000Z',
            },
          ],
          iterator: null,
          prevIterator: null,
          done: true,
        },
      },
    },
  },
  async ({ input, caller, deps, now }) => {
    const pages = iterators(caller, [path], input, now);
    const [config, page] = await Promise.all([
      deps.webhooks.get(caller.tenant),
      deps.endpoints.list(caller.tenant, { limit: input.limit ?? USUAL, from: pages.from }),
    ]);
    requireEnabledToList(caller, config);
    return {
      data: {
        endpoints: page.endpoints.map(toEndpointResponse),
        iterator: pages.toIterator(page.next),
        prevIterator: pages.toIterator(page.previous),
        done: !page.next,
      },
    };
  },
);

export const handler = toLambda(endpoint);
