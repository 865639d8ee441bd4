import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { viewerOf } from '../../../lib/content/viewer.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import {
  exampleNotification,
  filterFields,
  filterOf,
  getNotifications,
} from '../../../lib/notifications/getNotifications.ts';
import { NotificationResponse, ownNotifications } from '../../../lib/notifications/rules.ts';
import { openToUsers } from '../../../lib/userTokens/openToUsers.ts';

export const endpoint = defineEndpoint(
  {
    ...getNotifications,
    user: openToUsers(ownNotifications),
    path: '/v1/notifications/get',
    summary: 'Get the latest notifications in one answer, for clients that cannot read pages',
    description:
      'Returns at most the latest 1,000 notifications, about 4 MB. `/v2/notifications/get` returns all of them in pages.',
    input: z.object(filterFields),
    output: z.object({ data: z.array(NotificationResponse).describe('The notifications.') }),
    narrowBy: 'notificationIds',
    impact: 'users of older clients do not see their notifications',
    example: { data: { organizationId: 'acme', documentId: 'nda' }, result: { data: [exampleNotification] } },
  },
  async ({ input, caller, deps, now }) => {
    const options = { now, viewer: viewerOf(caller) };
    const { content } = await deps.organizations.readWithin(caller.tenant, input.organizationId, (organization) =>
      deps.notifications.listRecent(caller.tenant, organization, filterOf(input), options),
    );
    return { data: content };
  },
);

export const handler = toLambda(endpoint);
