import * as z from 'zod';
import { readDocuments } from '../../../lib/data/documents.ts';
import { placeOf, readFolders } from '../../../lib/data/folders.ts';
import { findOrganization } from '../../../lib/data/organizations.ts';
import { type ListedUser, Profile, type Resource, readUsers } from '../../../lib/data/users.ts';
import { distinct } from '../../../lib/dict.ts';
import { defineEndpoint } from '../../../lib/endpoint.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { paging } from '../../../lib/http/paging.ts';
import { documentOrFolder, Id, limits, list, optional, PageSize, PageToken } from '../../../lib/schema.ts';

const path = '/v2/users/get';

const ShownUser = Profile.extend({ userId: z.string() });

export const endpoint = defineEndpoint({
  path,
  summary: 'Get the users of an organization, or of one of its documents or folders',
  auth: 'apiKey',
  kind: 'read',
  input: z.object({
    organizationId: Id,
    documentId: optional(Id),
    folderId: optional(Id),
    userIds: optional(list(Id, limits.readIds)),
    pageSize: optional(PageSize),
    pageToken: optional(PageToken),
  }).check(documentOrFolder),
  output: z.object({ data: z.array(ShownUser), nextPageToken: z.string().nullable() }),
  message: 'User(s) retrieved successfully.',
  errors: ['NOT_FOUND'],
  uses: { organizations: findOrganization, folders: readFolders, documents: readDocuments, users: readUsers },
  narrowBy: 'pageSize',
  impact: 'customers cannot read their users',
  example: {
    data: { organizationId: 'acme', userIds: ['ada'] },
    result: { data: [{ userId: 'ada', name: 'Ada Lovelace', email: 'ada@example.com', initial: 'A' }], nextPageToken: null },
  },
}, async ({ input, caller, deps, now }) => {
  const organization = await deps.organizations.require(caller.tenant, input.organizationId);
  const place = placeOf(caller.tenant, organization);
  const resource = await listed();
  if (input.userIds) {
    const users = await deps.users.contactsNamed(place, resource, distinct(input.userIds));
    return { data: users.map(shown), nextPageToken: null };
  }
  const pages = paging(caller, [path, resource.internalId], input, now);
  const page = await deps.users.contacts(place, resource, { limit: input.pageSize ?? limits.pageSize, after: pages.after });
  return { data: page.values.map(shown), nextPageToken: pages.next(page.next) };

  async function listed(): Promise<Resource> {
    if (input.documentId !== undefined) return { resourceType: 'document', internalId: (await deps.documents.require(place, input.documentId)).internalId };
    if (input.folderId !== undefined) return { resourceType: 'folder', internalId: (await deps.folders.require(place, input.folderId)).internalId };
    return { resourceType: 'organization', internalId: organization.internalId };
  }
});

/** A user without what only the service needs to know. */
function shown(user: ListedUser): z.output<typeof ShownUser> {
  return ShownUser.parse(user);
}

export const handler = toLambda(endpoint);
