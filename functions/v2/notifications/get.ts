import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { viewerOf } from '../../../lib/content/viewer.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { paging } from '../../../lib/http/paging.ts';
import {
  exampleNotification,
  filterFields,
  filterOf,
  getNotifications,
} from '../../../lib/notifications/getNotifications.ts';
import { NotificationResponse, ownNotifications } from '../../../lib/notifications/rules.ts';
import { limits, NextToken, optional, PageSize, PageToken } from '../../../lib/shared/schema.ts';
import { openToUsers } from '../../../lib/userTokens/openToUsers.ts';

const path = '/v2/notifications/get';

export const endpoint = defineEndpoint(
  {
    ...getNotifications,
    user: openToUsers(ownNotifications),
    path,
    summary: 'Get notifications by id, or the notifications of a document, a user or an organization in pages',
    description:
      'With `userId`, the answer has the notifications that are for this user and that the user may see now. Without it, the answer has all notifications. Listings of a document or a user are ordered by time, others go document by document. ' +
      'A page can be short or empty: continue with the `pageToken` of the answer while it is not null. With a user token, users read their own notifications. A listing of the whole organization then needs a grant in the organization. ' +
      '`/v2/notifications/update` marks notifications as read.',
    input: z.object({
      ...filterFields,
      order: optional(z.enum(['asc', 'desc'])).describe('The order of the times. By default `desc`, the latest first.'),
      pageSize: optional(PageSize),
      pageToken: optional(PageToken),
    }),
    output: z.object({ data: z.array(NotificationResponse).describe('The notifications.'), pageToken: NextToken }),
    narrowBy: 'pageSize',
    impact: 'users do not see their notifications',
    example: {
      data: { organizationId: 'acme', userId: 'grace', pageSize: 20 },
      result: { data: [exampleNotification], pageToken: null },
    },
  },
  async ({ input, caller, deps, now }) => {
    const { organizationId, order = 'desc', pageSize = limits.pageSize } = input;
    const filter = filterOf(input);
    const { documentId, locationId, userId, notificationIds } = filter;
    const listing = JSON.stringify([documentId, locationId, userId, notificationIds, order]);
    const { content } = await deps.organizations.readWithin(caller.tenant, organizationId, async (organization) => {
      const pages = paging(caller, [path, organization.internalId, listing], input, now);
      const page = await deps.notifications.list(caller.tenant, organization, filter, {
        limit: pageSize,
        after: pages.after,
        ascending: order === 'asc',
        now,
        viewer: viewerOf(caller),
      });
      return { data: page.values, pageToken: pages.next(page.next) };
    });
    return content;
  },
);

export const handler = toLambda(endpoint);
