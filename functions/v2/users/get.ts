import * as z from 'zod';
import {
  limitInvolvedUsers,
  InvolvedFields,
  readInvolvedDocuments,
  toInvolvedFields,
} from '../../../lib/content/involvedDocuments.ts';
import { readDocuments } from '../../../lib/directory/documents.ts';
import { organizationScope, readFolders } from '../../../lib/directory/folders/folders.ts';
import { findOrganization } from '../../../lib/directory/organizations.ts';
import { byDocument, listUsers } from '../../../lib/directory/userLists.ts';
import {
  documentResource,
  folderResource,
  type ListedUser,
  Profile,
  type Resource,
} from '../../../lib/directory/users.ts';
import { dict, distinct } from '../../../lib/shared/collections.ts';
import { matchesUser } from '../../../lib/directory/rules/users.ts';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { withInternalMessage } from '../../../lib/http/withInternalMessage.ts';
import { toLambdaWithTwin } from '../../../lib/http/lambda.ts';
import { defineUnpagedTwin } from '../../../lib/http/twin.ts';
import { paging } from '../../../lib/http/paging.ts';
import {
  documentOrFolder,
  Id,
  limits,
  list,
  Name,
  notTogether,
  optional,
  PageSize,
  PageToken,
} from '../../../lib/shared/schema.ts';

const path = '/v2/users/get';

const UserResponse = Profile.extend({ userId: z.string(), ...InvolvedFields });

export const endpoint = defineEndpoint(
  {
    path,
    summary:
      'Get the users of an organization, of one of its documents or folders, of all its documents, or of some groups',
    auth: 'apiKey',
    kind: 'read',
    input: z
      .object({
        organizationId: Id,
        documentId: optional(Id),
        folderId: optional(Id),
        userIds: optional(list(Id, limits.readIds)),
        organizationUserGroupIds: optional(list(Id, limits.readIds)),
        allDocuments: optional(z.boolean()),
        groupByDocumentId: optional(z.boolean()),
        searchKey: optional(Name.check(z.refine((text) => text.trim() !== '', { error: 'must not be blank' }))),
        includeInvolvedDocuments: optional(z.boolean()),
        includeInvolvedDocumentsCount: optional(z.boolean()),
        pageSize: optional(PageSize),
        pageToken: optional(PageToken),
      })
      .check(
        documentOrFolder,
        notTogether('organizationUserGroupIds', 'documentId', 'folderId', 'allDocuments', 'groupByDocumentId'),
        notTogether('allDocuments', 'documentId', 'folderId', 'userIds'),
        limitInvolvedUsers,
        z.refine(
          ({ groupByDocumentId, documentId, allDocuments }) =>
            !groupByDocumentId || documentId !== undefined || allDocuments === true,
          { path: ['groupByDocumentId'], error: 'must be given together with documentId or allDocuments: true' },
        ),
      ),
    output: z.object({
      data: z.union([z.array(UserResponse), z.record(z.string(), z.array(UserResponse))]),
      nextPageToken: z.string().nullable(),
    }),
    message: 'User(s) retrieved successfully.',
    errors: ['NOT_FOUND'],
    uses: {
      organizations: findOrganization,
      folders: readFolders,
      documents: readDocuments,
      lists: listUsers,
      involved: readInvolvedDocuments,
    },
    narrowBy: 'pageSize',
    impact: 'customers cannot read their users',
    example: {
      data: { organizationId: 'acme', userIds: ['ada'] },
      result: {
        data: [{ userId: 'ada', name: 'Ada Lovelace', email: 'ada@example.com', initial: 'A' }],
        nextPageToken: null,
      },
    },
  },
  async ({ input, caller, deps, now }) => {
    const { documentId, groupByDocumentId = false, searchKey } = input;
    const organization = await deps.organizations.require(caller.tenant, input.organizationId);
    const scope = organizationScope(caller.tenant, organization);
    const groupIds = input.organizationUserGroupIds && distinct(input.organizationUserGroupIds);
    const userIds = input.userIds && distinct(input.userIds);
    const from = groupIds || input.allDocuments ? undefined : await listed();
    const listing = from
      ? [from.internalId]
      : [scope.organizationKey, ...(groupIds ? ['groups', ...groupIds] : ['documents'])];
    const pages = paging(
      caller,
      [path, ...listing, ...(searchKey === undefined ? [] : ['search', searchKey])],
      input,
      now,
    );
    const options = {
      limit: input.pageSize ?? limits.pageSize,
      after: pages.after,
      isWanted: searchKey === undefined ? undefined : matchesUser(searchKey),
    };
    return withInternalMessage('Error retrieving user(s).', answer);

    async function answer() {
      if (!from && !groupIds) {
        const { values, next } = await deps.lists.ofDocuments(scope, options);
        const users = values.map((one) => ({ ...one, user: shown(one.user) }));
        return {
          data: groupByDocumentId ? byDocument(users) : users.map(({ user }) => user),
          nextPageToken: pages.next(next),
        };
      }
      const page = await deps.lists.page(scope, { from, groupIds, userIds }, options);
      const users = await withDocuments(page.values);
      return {
        data: groupByDocumentId && documentId !== undefined ? dict([[documentId, users]]) : users,
        nextPageToken: pages.next(page.next),
      };
    }

    async function withDocuments(users: readonly ListedUser[]): Promise<z.output<typeof UserResponse>[]> {
      const { includeInvolvedDocuments: withIds, includeInvolvedDocumentsCount: withCount } = input;
      if (!withIds && !withCount) return users.map(shown);
      const involved = await deps.involved.read(
        scope,
        users.map(({ userId }) => userId),
      );
      return users.map((user, index) => ({
        ...shown(user),
        ...toInvolvedFields(involved[index], { withIds, withCount }),
      }));
    }

    async function listed(): Promise<Resource> {
      if (documentId !== undefined) return documentResource(await deps.documents.require(scope, documentId));
      if (input.folderId !== undefined) return folderResource(await deps.folders.require(scope, input.folderId));
      return { resourceType: 'organization', internalId: organization.internalId };
    }
  },
);

/** A user without what only the service needs to know. */
const shown = (user: ListedUser): z.output<typeof UserResponse> => UserResponse.parse(user);

export const twin = defineUnpagedTwin(endpoint, {
  narrowBy: 'userIds',
  ignored: ['groupByDocumentId'],
  row: UserResponse,
});

export const handler = toLambdaWithTwin(endpoint, twin);
