import * as z from 'zod';
import { readDocuments } from '../../../../lib/data/documents.ts';
import { placeOf, readFolders } from '../../../../lib/data/folders.ts';
import { findOrganization } from '../../../../lib/data/organizations.ts';
import { countUsers, documentResource, folderResource } from '../../../../lib/data/users.ts';
import { dict, distinct } from '../../../../lib/dict.ts';
import { defineEndpoint } from '../../../../lib/endpoint.ts';
import { ApiError } from '../../../../lib/errors.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { Id, limits, list, optional } from '../../../../lib/schema.ts';

const Count = z.object({ count: z.number() });

export const endpoint = defineEndpoint({
  path: '/v2/users/count/get',
  summary: 'Count the users of an organization, of one of its folders, or of each of some documents',
  auth: 'apiKey',
  kind: 'read',
  input: z.object({ organizationId: Id, documentIds: optional(list(Id, limits.readIds)), folderId: optional(Id) })
    .check(z.refine(({ documentIds, folderId }) => documentIds === undefined || folderId === undefined, { path: ['folderId'], error: 'must not be given together with documentIds' })),
  output: z.object({ data: z.union([Count, z.record(z.string(), Count)]) }),
  message: 'User count retrieved successfully.',
  errors: ['NOT_FOUND'],
  uses: { organizations: findOrganization, folders: readFolders, documents: readDocuments, users: countUsers },
  impact: 'customers cannot tell how many users they have',
  example: { data: { organizationId: 'acme' }, result: { data: { count: 42 } } },
}, async ({ input, caller, deps }) => {
  const organization = await deps.organizations.require(caller.tenant, input.organizationId);
  const place = placeOf(caller.tenant, organization);
  if (input.documentIds) {
    const documentIds = distinct(input.documentIds);
    const documents = await deps.documents.named(place, documentIds).then((found) => deps.documents.placed(place, found));
    if (documents.includes(undefined)) throw new ApiError('NOT_FOUND', 'Document does not exist');
    const counts = await Promise.all(documents.map(async (document) => ({ count: await deps.users.count(place, documentResource(document!)) })));
    return { data: dict(documentIds.map((documentId, index) => [documentId, counts[index]!] as const)) };
  }
  const resource = input.folderId === undefined
    ? { resourceType: 'organization' as const, internalId: organization.internalId }
    : folderResource(await deps.folders.require(place, input.folderId));
  return { data: { count: await deps.users.count(place, resource) } };
});

export const handler = toLambda(endpoint);
