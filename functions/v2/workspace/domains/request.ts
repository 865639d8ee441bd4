import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { findDocument } from '../../../../lib/content/documentScope.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { Id } from '../../../../lib/shared/schema.ts';
import { domainRequests } from '../../../../lib/workspaces/domainRequests.ts';
import { Domain } from '../../../../lib/workspaces/rules/domains.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/workspace/domains/request',
    summary: 'Ask for a domain to be allowed, on behalf of a document',
    description:
      'Stores a request, which `/v2/workspace/requested/domains/get` lists and `/v2/workspace/additional-url-request` answers. Nothing is allowed before. The same request again changes nothing while it is pending, and is pending again after an answer. Requests are kept for 90 days. A new one above 500 of an API key is RESOURCE_EXHAUSTED; calls at the same time can store a few more. An unknown organization is INVALID_ARGUMENT, an unknown document NOT_FOUND.',
    auth: 'apiKey',
    kind: 'write',
    input: z.object({
      domain: Domain.describe(
        'A URL, or a host such as `example.com` or `*.example.com`. Scheme, port, path and a leading `www.` are left out. IP addresses are refused.',
      ),
      clientDocumentId: Id.describe('The document for which the domain is needed.'),
      organizationId: Id,
    }),
    output: z.object({ data: z.object({}) }),
    message: 'Domain request created successfully.',
    errors: ['NOT_FOUND', 'RESOURCE_EXHAUSTED', 'ABORTED'],
    uses: { findDocument, domainRequests },
    impact: 'customers cannot ask for further domains',
    example: {
      data: { domain: 'https://partner.example.com/pricing', clientDocumentId: 'nda', organizationId: 'acme' },
      result: { data: {} },
    },
    cost: { calls: 5, roundTrips: 4, readUnits: 4, writeUnits: 1 },
  },
  async ({ input, caller, deps, now }) => {
    const { organizationId, clientDocumentId: documentId } = input;
    await deps.findDocument(caller.tenant, { organizationId, documentId });
    await deps.domainRequests.request(caller.tenant, input, now);
    return { data: {} };
  },
);

export const handler = toLambda(endpoint);
