import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { readDocuments } from '../../../lib/directory/documents.ts';
import { readFolders } from '../../../lib/directory/folders/folders.ts';
import { findOrganization } from '../../../lib/directory/organizations.ts';
import { organizationScope } from '../../../lib/directory/organizationScope.ts';
import { toLambdaWithTwin } from '../../../lib/http/lambda.ts';
import { paging } from '../../../lib/http/paging.ts';
import { defineUnpagedTwin } from '../../../lib/http/twin.ts';
import { withInternalMessage } from '../../../lib/http/withInternalMessage.ts';
import { limits } from '../../../lib/shared/schema.ts';
import { readInvolvedDocuments } from '../../../lib/userData/involvedDocuments.ts';
import { listUsers } from '../../../lib/userData/userLists.ts';
import { openUserListing, toPublicUsers, UserQuery, UserResponse } from '../../../lib/userData/userQuery.ts';
import { openToUsers } from '../../../lib/userTokens/openToUsers.ts';

const path = '/v2/users/get';

export const endpoint = defineEndpoint(
  {
    path,
    summary: 'Get the users of an organization, a document, a folder, all documents, or some user groups',
    description:
      'Without `documentId`, `folderId`, `allDocuments` and `organizationUserGroupIds`, the answer has the contact list of the organization: the users that `/v2/users/add` added there. With `searchKey`, a page can be short or empty and still have a `nextPageToken`. Calls with user tokens need a `documentId`, and get names and avatars without e-mail addresses. An unknown document, folder or user group is NOT_FOUND.',
    auth: 'apiKey',
    user: openToUsers({
      needs: 'viewer',
      on: 'document',
      refuses: [
        'includeInvolvedDocuments',
        'includeInvolvedDocumentsCount',
        'organizationUserGroupIds',
        'allDocuments',
      ],
    }),
    kind: 'read',
    input: UserQuery,
    output: z.object({
      data: z
        .union([z.array(UserResponse), z.record(z.string(), z.array(UserResponse))])
        .describe('A list of users. With `groupByDocumentId`, a map from document ids to lists.'),
      nextPageToken: z.string().nullable(),
    }),
    message: 'User(s) retrieved successfully.',
    errors: ['FAILED_PRECONDITION', 'NOT_FOUND'],
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
    const { content } = await deps.organizations.readWithin(caller.tenant, input.organizationId, async (keys) => {
      const isPublic = caller.level === 'user';
      const listing = await openUserListing(deps, organizationScope(caller.tenant, keys), input, { isPublic });
      const pages = paging(caller, [path, ...listing.id], input, now);
      return withInternalMessage('Error retrieving user(s).', async () => {
        const { data, next } = await listing.read({ limit: input.pageSize ?? limits.pageSize, after: pages.after });
        return { data: isPublic ? toPublicUsers(data) : data, nextPageToken: pages.next(next) };
      });
    });
    return content;
  },
);

export const twin = defineUnpagedTwin(endpoint, {
  narrowBy: 'userIds',
  ignored: ['groupByDocumentId'],
  row: UserResponse,
});

export const handler = toLambdaWithTwin(endpoint, twin);
