import * as z from 'zod';
import { defineEndpoint } from '../../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../../lib/http/lambda.ts';
import { domainRequests, domainRequestStatuses } from '../../../../../lib/workspaces/domainRequests.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/workspace/requested/domains/get',
    summary: 'List the requests to allow domains',
    description:
      'Returns all requests of the last 90 days, the newest first. To answer one, call `/v2/workspace/additional-url-request`.',
    auth: 'apiKey',
    kind: 'read',
    body: 'optional',
    input: z.object({}),
    output: z.object({
      data: z
        .array(
          z.object({
            id: z.string().describe('The request, for its answer.'),
            domain: z.string().describe('The domain, without scheme, port and path.'),
            clientDocumentId: z.string().describe('The id that the document had at the time of the request.'),
            organizationId: z.string().describe('The organization of the document.'),
            requestedAt: z.number().describe('When the domain was requested, in epoch milliseconds.'),
            status: z.enum(domainRequestStatuses).describe('Whether the request was answered, and how.'),
          }),
        )
        .describe('The requests.'),
    }),
    message: 'Requested domains retrieved successfully.',
    errors: [],
    uses: { domainRequests },
    impact: 'customers cannot see which domains were requested',
    example: {
      data: {},
      result: {
        data: [
          {
            id: 'domreq_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ',
            domain: 'partner.example.com',
            clientDocumentId: 'nda',
            organizationId: 'acme',
            requestedAt: 1767225600000,
            status: 'pending',
          },
        ],
      },
    },
    cost: { calls: 1, roundTrips: 1, readUnits: 1, writeUnits: 0 },
  },
  async ({ caller, deps }) => {
    const requests = await deps.domainRequests.list(caller.tenant);
    return { data: requests.map(({ _r, ...request }) => request) };
  },
);

export const handler = toLambda(endpoint);
