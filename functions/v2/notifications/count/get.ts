import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { viewerOf } from '../../../../lib/content/viewer.ts';
import { findOrganization } from '../../../../lib/directory/organizations.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { notificationReader } from '../../../../lib/notifications/notificationReader.ts';
import { ownNotifications } from '../../../../lib/notifications/rules.ts';
import { Id, limits, list, optional } from '../../../../lib/shared/schema.ts';
import { openToUsers } from '../../../../lib/userTokens/openToUsers.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/notifications/count/get',
    summary: 'Count the unread notifications of a user, for a badge',
    description:
      'Counts the notifications that are for the user, that the user may see now and has not read. What the user caused does not count. Each number is exact up to 99. ' +
      'A call reads the notifications that name the user, and those for everybody, each from the latest on, until 100 are unread. Each of the two lists ends after 1,000 notifications, 32 MB, or 7,100 entries of which most are outside `documentIds` or caused by the user. Then `more` is true, and the numbers are those of the latest notifications. ' +
      'With a user token, `userId` is the user of the token.',
    auth: 'apiKey',
    user: openToUsers(ownNotifications),
    kind: 'read',
    input: z.object({
      organizationId: Id,
      userId: Id.describe('The user whose notifications are counted.'),
      documentIds: optional(list(Id, limits.readIds)).describe(
        'Only notifications of these documents. A document that does not exist has none. One that the user may not open has only those that name the user and are about no thread. With a user token, both make the whole call PERMISSION_DENIED.',
      ),
    }),
    output: z.object({
      data: z.object({
        unread: z
          .object({
            forYou: z.int().describe('How many unread notifications name the user, at most 99.'),
            all: z.int().describe('How many unread notifications the user may see, at most 99.'),
          })
          .describe('The numbers of unread notifications.'),
        more: z.boolean().describe('Whether there are more than 99, or the call did not look through all of them.'),
      }),
    }),
    message: 'Notification count retrieved successfully.',
    errors: [],
    uses: { organizations: findOrganization, notifications: notificationReader },
    impact: 'the badges of unread notifications are missing or old',
    example: {
      data: { organizationId: 'acme', userId: 'grace' },
      result: { data: { unread: { forYou: 2, all: 5 }, more: false } },
    },
    cost: { calls: 6, roundTrips: 3, readUnits: 6, writeUnits: 0 },
  },
  async ({ input, caller, deps, now }) => {
    const { content } = await deps.organizations.readWithin(caller.tenant, input.organizationId, (organization) =>
      deps.notifications.countUnread(caller.tenant, organization, input, { now, viewer: viewerOf(caller) }),
    );
    return { data: content };
  },
);

export const handler = toLambda(endpoint);
