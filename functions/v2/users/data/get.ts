import * as z from 'zod';
import { readUserData, type UserDataCursor } from '../../../../lib/content/userData.ts';
import { type EverywhereCursor, readUserDataEverywhere } from '../../../../lib/content/userDataEverywhere.ts';
import { findOrganization } from '../../../../lib/directory/organizations.ts';
import { CommentResponse } from '../../../../lib/comments/rules/comments.ts';
import { NotificationResponse } from '../../../../lib/notifications/rules.ts';
import { ReactionResponse } from '../../../../lib/reactions/rules.ts';
import { RecordingResponse } from '../../../../lib/recordings/rules.ts';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { invalid } from '../../../../lib/shared/errors.ts';
import { toLambdaWithTwin } from '../../../../lib/http/lambda.ts';
import { paging } from '../../../../lib/http/paging.ts';
import { defineTwin } from '../../../../lib/http/twin.ts';
import { serviceName } from '../../../../lib/app/serviceName.ts';
import { Id, optional, PageToken } from '../../../../lib/shared/schema.ts';

const path = '/v2/users/data/get';

export const endpoint = defineEndpoint(
  {
    path,
    summary: 'Get what a user wrote and made, and is involved in, in one organization or in all',
    auth: 'apiKey',
    kind: 'read',
    limitClass: 'expensive',
    // Two fields of the interface are named after the service, a setting that is not known here: they are among the other keys.
    input: z.looseObject({
      organizationId: optional(Id),
      userId: optional(Id),
      uniqueId: optional(Id),
      pageToken: optional(PageToken),
    }),
    output: z.object({
      data: z.object({
        comments: z.array(CommentResponse.extend({ annotationId: z.string(), documentId: z.string() })),
        reactions: z.array(ReactionResponse),
        recordings: z.array(RecordingResponse),
        notifications: z.array(NotificationResponse),
      }),
      nextPageToken: z.string().nullable(),
      uniqueId: z.string().optional(),
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
    const { userId, isEverywhere } = named(input, deps.serviceName);
    const echo = uniqueId === undefined ? {} : { uniqueId };
    if (isEverywhere || organizationId === undefined) {
      const pages = paging(caller, [path, 'everywhere', userId], input, now);
      const cursor = pages.after === undefined ? {} : (JSON.parse(pages.after) as EverywhereCursor);
      const { next, ...data } = await deps.everywhere.page(caller.tenant, userId, cursor, now);
      return { data, nextPageToken: pages.next(next && JSON.stringify(next)), ...echo };
    }
    const organization = await deps.organizations.require(caller.tenant, organizationId);
    const pages = paging(caller, [path, organization.internalId, userId], input, now);
    const cursor = pages.after === undefined ? {} : (JSON.parse(pages.after) as UserDataCursor);
    const { next, ...data } = await deps.data.page(caller.tenant, organization, userId, cursor, now);
    return { data, nextPageToken: pages.next(next && JSON.stringify(next)), ...echo };
  },
);

/** Whose data are asked for, and whether of all organizations. INVALID_ARGUMENT for what is missing, contradictory or has no effect. */
function named(
  input: {
    readonly organizationId?: string | undefined;
    readonly userId?: string | undefined;
    readonly [key: string]: unknown;
  },
  service: string,
): { userId: string; isEverywhere: boolean } {
  const [userIds, all] = [`${service}UserIds`, `${service}AllOrganizations`];
  const refuse = (field: string, code: string, message: string) =>
    invalid({ path: [field], code, message: `${field} ${message}` });
  if ((input[userIds] ?? undefined) !== undefined)
    throw refuse(
      userIds,
      'no_effect',
      'must be left out: users have no ids of the service by which they are found; send userId',
    );
  const isEverywhere = input[all] ?? false;
  if (typeof isEverywhere !== 'boolean') throw refuse(all, 'invalid_type', 'must be a boolean');
  if (isEverywhere && input.organizationId !== undefined)
    throw refuse(all, 'custom', 'must not be given together with organizationId');
  if (!isEverywhere && input.organizationId === undefined)
    throw refuse('organizationId', 'invalid_type', 'is required');
  if (input.userId === undefined) throw refuse('userId', 'invalid_type', 'is required');
  return { userId: input.userId, isEverywhere };
}

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
