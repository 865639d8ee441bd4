import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { findOrganization } from '../../../../lib/directory/organizations.ts';
import { organizationScope } from '../../../../lib/directory/organizationScope.ts';
import { limitInvolvedUsers, toInvolvedFields } from '../../../../lib/directory/rules/involvedDocuments.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { paging } from '../../../../lib/http/paging.ts';
import { distinct } from '../../../../lib/shared/collections.ts';
import { Id, limits, list, NextToken, optional, pagesOrIds } from '../../../../lib/shared/schema.ts';
import { listDocumentUsers } from '../../../../lib/userData/documentUsers.ts';
import { readInvolvedDocuments } from '../../../../lib/userData/involvedDocuments.ts';
import { toUserResponse, UserResponse } from '../../../../lib/userData/userQuery.ts';

const path = '/v2/users/doc/get';
const MAX_USERS = 20;

export const endpoint = defineEndpoint(
  {
    path,
    summary: 'Get the users of all documents of an organization, each user once',
    description:
      'Lists users with a grant on a document, or in the contact list of a document, in the order of their ids. Only ids of more than 200 bytes, or with `#`, `%` or `~`, stand elsewhere in this order. Members of the organization and users of folders without either are not listed, nor are grants that only a user token has. Expired grants and removed users do not count. Changes of the last moments can be missing: while a user is removed from a folder, only access from after the removal counts, and access to a deleted document counts until its content is purged, some minutes later. A page can be short and still have a `nextPageToken`.',
    auth: 'apiKey',
    kind: 'read',
    input: pagesOrIds('userIds', {
      organizationId: Id,
      userIds: optional(list(Id, MAX_USERS)).describe('Selects these users of the list, in this order.'),
      includeInvolvedDocuments: optional(z.boolean()).describe(
        'Adds the ids of the documents where each user wrote, is mentioned, reacted, recorded or is notified. Needs 1 to 5 `userIds`.',
      ),
    }).check(limitInvolvedUsers('includeInvolvedDocuments')),
    output: z.object({ data: z.array(UserResponse), nextPageToken: NextToken }),
    message: 'Document users retrieved successfully.',
    errors: [],
    uses: { organizations: findOrganization, users: listDocumentUsers, involved: readInvolvedDocuments },
    narrowBy: 'pageSize',
    impact: 'customers cannot list the users of all documents',
    cost: { calls: 4, roundTrips: 3, readUnits: 3.5, writeUnits: 0 },
    example: {
      data: { organizationId: 'acme', pageSize: 100 },
      result: {
        data: [{ userId: 'ada', name: 'Ada Lovelace', email: 'ada@example.com', initial: 'A' }],
        nextPageToken: null,
      },
    },
  },
  async ({ input, caller, deps, now }) => {
    const { organizationId, includeInvolvedDocuments = false, pageSize = limits.pageSize } = input;
    const userIds = input.userIds && distinct(input.userIds);
    const { content } = await deps.organizations.readWithin(caller.tenant, organizationId, async (keys) => {
      const scope = organizationScope(caller.tenant, keys);
      const pages = paging(caller, [path, scope.organizationKey], input, now);
      const { values, next } = userIds
        ? { values: await deps.users.named(scope, userIds, now), next: undefined }
        : await deps.users.page(scope, { limit: pageSize, after: pages.after, now });
      const users = values.map(toUserResponse);
      if (!includeInvolvedDocuments) return { data: users, nextPageToken: pages.next(next) };
      const involved = await deps.involved.read(
        scope,
        values.map(({ userId }) => userId),
      );
      const data = users.map((user, index) => ({ ...user, ...toInvolvedFields(involved[index], { withIds: true }) }));
      return { data, nextPageToken: null };
    });
    return content;
  },
);

export const handler = toLambda(endpoint);
