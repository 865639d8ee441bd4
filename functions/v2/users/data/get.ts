import * as z from 'zod';
import { readUserData, type UserDataCursor } from '../../../../lib/data/content/userData.ts';
import { findOrganization } from '../../../../lib/data/organizations.ts';
import { ShownComment } from '../../../../lib/domain/content/comments.ts';
import { ShownNotification } from '../../../../lib/domain/content/notifications.ts';
import { ShownReaction } from '../../../../lib/domain/content/reactions.ts';
import { ShownRecording } from '../../../../lib/domain/content/recordings.ts';
import { defineEndpoint } from '../../../../lib/endpoint.ts';
import { toLambdaWithTwin } from '../../../../lib/http/lambda.ts';
import { paging } from '../../../../lib/http/paging.ts';
import { defineTwin } from '../../../../lib/http/twin.ts';
import { Id, optional, PageToken } from '../../../../lib/schema.ts';

const path = '/v2/users/data/get';

export const endpoint = defineEndpoint({
  path,
  summary: 'Get what a user wrote and made in an organization, and is involved in',
  auth: 'apiKey',
  kind: 'read',
  input: z.object({ organizationId: Id, userId: Id, pageToken: optional(PageToken) }),
  output: z.object({
    data: z.object({
      comments: z.array(ShownComment.extend({ annotationId: z.string(), documentId: z.string() })),
      reactions: z.array(ShownReaction),
      recordings: z.array(ShownRecording),
      notifications: z.array(ShownNotification),
    }),
    nextPageToken: z.string().nullable(),
  }),
  message: 'Data fetched successfully.',
  errors: [],
  uses: { organizations: findOrganization, data: readUserData },
  impact: 'customers cannot answer their users who ask for their data',
  example: {
    data: { organizationId: 'acme', userId: 'ada' },
    result: {
      data: {
        comments: [{
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
        }],
        reactions: [],
        recordings: [],
        notifications: [],
      },
      nextPageToken: null,
    },
  },
}, async ({ input: { organizationId, userId, pageToken }, caller, deps, now }) => {
  const organization = await deps.organizations.require(caller.tenant, organizationId);
  const pages = paging(caller, [path, organization.internalId, userId], { pageToken }, now);
  const cursor = pages.after === undefined ? {} : (JSON.parse(pages.after) as UserDataCursor);
  const { next, ...data } = await deps.data.page(caller.tenant, organization, userId, cursor, now);
  return { data, nextPageToken: pages.next(next && JSON.stringify(next)) };
});

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
