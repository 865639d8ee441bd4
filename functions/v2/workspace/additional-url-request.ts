import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { Id } from '../../../lib/shared/schema.ts';
import { domainRequests } from '../../../lib/workspaces/domainRequests.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/workspace/additional-url-request',
    summary: 'Accept or reject a request to allow a domain',
    description:
      'Accepting adds the domain to the allowed domains of the API key. The same answer again changes nothing, another one is FAILED_PRECONDITION, and `details.status` has the answer. An unknown request, or one for another document, is NOT_FOUND. If the API key allows 500 domains, the answer is RESOURCE_EXHAUSTED, and the request stays pending. For the requests, call `/v2/workspace/requested/domains/get`.',
    auth: 'apiKey',
    kind: 'write',
    input: z.object({
      action: z.enum(['accept', 'reject']).describe('Whether the domain is allowed.'),
      id: Id.describe('The request, by the `id` of `/v2/workspace/requested/domains/get`.'),
      clientDocId: Id.describe('The `clientDocumentId` of the request.'),
    }),
    output: z.object({ data: z.object({}) }),
    message: 'Additional URL request updated successfully.',
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION', 'RESOURCE_EXHAUSTED', 'ABORTED'],
    uses: { domainRequests },
    impact: 'customers cannot answer requests for domains',
    example: {
      data: { action: 'accept', id: 'domreq_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ', clientDocId: 'nda' },
      result: { data: {} },
    },
    cost: { calls: 3, roundTrips: 2, readUnits: 2, writeUnits: 4 },
  },
  async ({ input: { action, id, clientDocId: clientDocumentId }, caller, deps }) => {
    await deps.domainRequests.answer(caller.tenant, { action, id, clientDocumentId });
    return { data: {} };
  },
);

export const handler = toLambda(endpoint);
