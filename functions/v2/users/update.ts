import * as z from 'zod';
import { requireWritable } from '../../../lib/data/content/places.ts';
import { readDocuments } from '../../../lib/data/documents.ts';
import { placeOf, readFolders } from '../../../lib/data/folders.ts';
import { findOrganization } from '../../../lib/data/organizations.ts';
import { updateUsers } from '../../../lib/data/users.ts';
import { distinctBy } from '../../../lib/dict.ts';
import { defineEndpoint } from '../../../lib/endpoint.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { byId, ItemResults } from '../../../lib/results.ts';
import { documentOrFolder, Id, limits, list, optional, UserProfile } from '../../../lib/schema.ts';

export const endpoint = defineEndpoint({
  path: '/v2/users/update',
  summary: 'Change profiles of users; a profile is the same in every organization',
  auth: 'apiKey',
  kind: 'write',
  input: z.object({
    organizationId: Id,
    documentId: optional(Id),
    folderId: optional(Id),
    users: list(UserProfile.extend({ userId: Id }), limits.list),
  }).check(documentOrFolder),
  output: ItemResults,
  message: 'User(s) updated successfully.',
  errors: ['NOT_FOUND', 'FAILED_PRECONDITION'],
  uses: { organizations: findOrganization, folders: readFolders, documents: readDocuments, users: updateUsers },
  impact: 'customers cannot change names, addresses and pictures of their users',
  example: {
    data: { organizationId: 'acme', users: [{ userId: 'ada', name: 'Ada King' }] },
    result: { data: { ada: { success: true, id: 'usr_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ', message: 'User updated.' } } },
  },
}, async ({ input, caller, deps, now }) => {
  const organization = await deps.organizations.require(caller.tenant, input.organizationId);
  requireWritable({ organization });
  const place = placeOf(caller.tenant, organization);
  if (input.documentId !== undefined) requireWritable({ organization, document: await deps.documents.require(place, input.documentId) });
  if (input.folderId !== undefined) await deps.folders.require(place, input.folderId);
  const users = distinctBy(input.users, ({ userId }) => userId).map(({ userId, ...profile }) => ({ userId, profile }));
  return { data: byId(users.map(({ userId }) => userId), await deps.users.update(caller.tenant, users, now)) };
});

export const handler = toLambda(endpoint);
