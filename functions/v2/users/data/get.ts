import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { serviceName } from '../../../../lib/app/serviceName.ts';
import { findOrganization } from '../../../../lib/directory/organizations.ts';
import { toLambdaWithTwin } from '../../../../lib/http/lambda.ts';
import { paging } from '../../../../lib/http/paging.ts';
import { defineTwin } from '../../../../lib/http/twin.ts';
import { requireUser, UserDataRequest } from '../../../../lib/userData/rules/userDataRequest.ts';
import { readUserData, type UserDataCursor, userDataFields } from '../../../../lib/userData/userData.ts';
import { type EverywhereCursor, readUserDataEverywhere } from '../../../../lib/userData/userDataEverywhere.ts';

const path = '/v2/users/data/get';

export const endpoint = defineEndpoint(
  {
    path,
    summary: 'Get the data that a user made or that involves the user, in one organization or in all',
    description:
      'Returns comments, reactions, recordings and notifications: those of the user, and those that address or mention the user. A page can be empty and still have a `nextPageToken`, in both versions of the API. Content from before a removal of the user is left out. To delete the data, call `/v2/users/data/delete`.',
    auth: 'apiKey',
    kind: 'read',
    limitClass: 'expensive',
    input: UserDataRequest,
    output: z.object({
      data: z.object(userDataFields()),
      nextPageToken: z.string().nullable(),
      uniqueId: z.string().optional().describe('The `uniqueId` of the request.'),
    }),
    message: 'Data fetched successfully.',
    errors: [],
    uses: { organizations: findOrganization, data: readUserData, everywhere: readUserDataEverywhere, serviceName },
    impact: 'customers cannot export the data of their users',
    example: {
      data: { organizationId: 'acme', userId: 'ada' },
      result: {
        data: {
          comments: [
            {
              annotationId: 'ann-7f3c',
              documentId: 'nda',
              commentId: 153783,
              type: 'text',
              status: 'added',
              commentText: 'Shall we say "engine" here?',
              from: { userId: 'ada', name: 'Ada Lovelace', email: 'ada@example.com' },
              isEdited: false,
              reactionAnnotationIds: [],
              createdAt: 1767225600000,
              lastUpdated: '2026-01-01T00:00:00.000Z',
              metadata: { apiKey: 'key_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ', organizationId: 'acme', documentId: 'nda' },
            },
          ],
          reactions: [],
          recordings: [],
          notifications: [],
        },
        nextPageToken: null,
      },
    },
  },
  async ({ input, caller, deps, now }) => {
    const { organizationId, uniqueId } = input;
    const { userId, isEverywhere } = requireUser(input, deps.serviceName);
    const echo = uniqueId === undefined ? {} : { uniqueId };
    if (isEverywhere || organizationId === undefined) {
      const pages = paging(caller, [path, 'everywhere', userId], input, now);
      const cursor = pages.after === undefined ? {} : (JSON.parse(pages.after) as EverywhereCursor);
      const { next, ...data } = await deps.everywhere.page(caller.tenant, userId, cursor, now);
      return { data, nextPageToken: pages.next(next && JSON.stringify(next)), ...echo };
    }
    const { content } = await deps.organizations.readWithin(caller.tenant, organizationId, async (organization) => {
      const pages = paging(caller, [path, organization.internalId, userId], input, now);
      const cursor = pages.after === undefined ? {} : (JSON.parse(pages.after) as UserDataCursor);
      const { next, ...data } = await deps.data.page(caller.tenant, organization, userId, cursor, now);
      return { data, nextPageToken: pages.next(next && JSON.stringify(next)), ...echo };
    });
    return content;
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
