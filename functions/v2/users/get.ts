import * as z from 'zod';
import { readDocuments } from '../../../lib/data/documents.ts';
import { placeOf, readFolders } from '../../../lib/data/folders.ts';
import { findOrganization } from '../../../lib/data/organizations.ts';
import { byDocument, listUsers } from '../../../lib/data/userLists.ts';
import { documentResource, folderResource, type ListedUser, Profile, readUsers, type Resource } from '../../../lib/data/users.ts';
import { dict, distinct } from '../../../lib/dict.ts';
import { defineEndpoint } from '../../../lib/endpoint.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { paging } from '../../../lib/http/paging.ts';
import { documentOrFolder, Id, limits, list, optional, PageSize, PageToken } from '../../../lib/schema.ts';

const path = '/v2/users/get';

const ShownUser = Profile.extend({ userId: z.string() });

export const endpoint = defineEndpoint({
  path,
  summary: 'Get the users of an organization, of one of its documents or folders, of all its documents, or of some groups',
  auth: 'apiKey',
  kind: 'read',
  input: z.object({
    organizationId: Id,
    documentId: optional(Id),
    folderId: optional(Id),
    userIds: optional(list(Id, limits.readIds)),
    organizationUserGroupIds: optional(list(Id, limits.readIds)),
    allDocuments: optional(z.boolean()),
    groupByDocumentId: optional(z.boolean()),
    pageSize: optional(PageSize),
    pageToken: optional(PageToken),
  }).check(
    documentOrFolder,
    notTogether('organizationUserGroupIds', 'documentId', 'folderId', 'userIds', 'allDocuments', 'groupByDocumentId'),
    notTogether('allDocuments', 'documentId', 'folderId', 'userIds'),
    z.refine(({ groupByDocumentId, documentId, allDocuments }) => !groupByDocumentId || documentId !== undefined || allDocuments === true,
      { path: ['groupByDocumentId'], error: 'must be given together with documentId or allDocuments: true' }),
  ),
  output: z.object({ data: z.union([z.array(ShownUser), z.record(z.string(), z.array(ShownUser))]), nextPageToken: z.string().nullable() }),
  message: 'User(s) retrieved successfully.',
  errors: ['NOT_FOUND'],
  uses: { organizations: findOrganization, folders: readFolders, documents: readDocuments, users: readUsers, lists: listUsers },
  narrowBy: 'pageSize',
  impact: 'customers cannot read their users',
  example: {
    data: { organizationId: 'acme', userIds: ['ada'] },
    result: { data: [{ userId: 'ada', name: 'Ada Lovelace', email: 'ada@example.com', initial: 'A' }], nextPageToken: null },
  },
}, async ({ input, caller, deps, now }) => {
  const { documentId, groupByDocumentId = false } = input;
  const organization = await deps.organizations.require(caller.tenant, input.organizationId);
  const place = placeOf(caller.tenant, organization);
  const groupIds = input.organizationUserGroupIds && distinct(input.organizationUserGroupIds);
  const from = groupIds || input.allDocuments ? undefined : await listed();
  const pages = paging(caller, [path, ...(from ? [from.internalId] : [place.organization, ...(groupIds ? ['groups', ...groupIds] : ['documents'])])], input, now);
  const options = { limit: input.pageSize ?? limits.pageSize, after: pages.after };

  if (!from && !groupIds) {
    const { values, next } = await deps.lists.ofDocuments(place, options);
    const users = values.map((one) => ({ ...one, user: shown(one.user) }));
    return { data: groupByDocumentId ? byDocument(users) : users.map(({ user }) => user), nextPageToken: pages.next(next) };
  }
  const page = await usersOfOne();
  const users = page.values.map(shown);
  return { data: groupByDocumentId && documentId !== undefined ? dict([[documentId, users]]) : users, nextPageToken: pages.next(page.next) };

  async function usersOfOne(): Promise<{ values: readonly ListedUser[]; next: string | undefined }> {
    if (!from) return deps.lists.ofGroups(place, groupIds ?? [], options);
    if (input.userIds) return { values: await deps.users.contactsNamed(place, from, distinct(input.userIds)), next: undefined };
    return deps.users.contacts(place, from, options);
  }

  async function listed(): Promise<Resource> {
    if (documentId !== undefined) return documentResource(await deps.documents.require(place, documentId));
    if (input.folderId !== undefined) return folderResource(await deps.folders.require(place, input.folderId));
    return { resourceType: 'organization', internalId: organization.internalId };
  }
});

/** Refuses one parameter beside any of the others; what is `false` counts as left out. */
function notTogether(one: string, ...others: readonly string[]) {
  const given = (input: Record<string, unknown>, name: string) => input[name] !== undefined && input[name] !== false;
  return z.refine<Record<string, unknown>>((input) => !given(input, one) || !others.some((other) => given(input, other)),
    { path: [one], error: `must not be given together with ${others.join(', ')}` });
}

/** A user without what only the service needs to know. */
function shown(user: ListedUser): z.output<typeof ShownUser> {
  return ShownUser.parse(user);
}

export const handler = toLambda(endpoint);
