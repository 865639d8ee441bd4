import * as z from 'zod';
import { countDocuments } from '../../../../../lib/data/documentCounts.ts';
import { placeOf } from '../../../../../lib/data/folders.ts';
import { findOrganization } from '../../../../../lib/data/organizations.ts';
import { defineEndpoint } from '../../../../../lib/endpoint.ts';
import { toLambda } from '../../../../../lib/http/lambda.ts';
import { Id, optional } from '../../../../../lib/schema.ts';

export const endpoint = defineEndpoint({
  path: '/v2/organizations/documents/count/get',
  summary: 'Count the documents of an organization, or those directly in one of its folders',
  auth: 'apiKey',
  kind: 'read',
  input: z.object({ organizationId: Id, folderId: optional(Id) }),
  output: z.object({ data: z.object({ count: z.int() }) }),
  message: 'Document count retrieved successfully.',
  errors: ['NOT_FOUND'],
  uses: { organizations: findOrganization, documents: countDocuments },
  impact: 'customers cannot count their documents',
  example: {
    data: { organizationId: 'acme' },
    result: { data: { count: 42 } },
  },
}, async ({ input, caller, deps }) => {
  const place = placeOf(caller.tenant, await deps.organizations.require(caller.tenant, input.organizationId));
  return { data: { count: input.folderId === undefined ? await deps.documents.all(place) : await deps.documents.inFolder(place, input.folderId) } };
});

export const handler = toLambda(endpoint);
