import * as z from 'zod';
import { readNotificationLists } from '../../../lib/notifications/notificationLists.ts';
import { findOrganization } from '../../../lib/directory/organizations.ts';
import { distinct } from '../../../lib/shared/collections.ts';
import { LocationKey } from '../../../lib/content/rules/location.ts';
import { NotificationId, NotificationResponse } from '../../../lib/notifications/rules.ts';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { paging } from '../../../lib/http/paging.ts';
import { Id, limits, list, optional, PageSize, PageToken } from '../../../lib/shared/schema.ts';

const path = '/v2/notifications/get';

export const endpoint = defineEndpoint(
  {
    path,
    summary: "Get notifications by id, or a page of a document's, a user's or an organization's",
    auth: 'apiKey',
    kind: 'read',
    input: z.object({
      organizationId: Id,
      documentId: optional(Id),
      locationId: optional(LocationKey),
      userId: optional(Id),
      notificationIds: optional(list(NotificationId, limits.readIds)),
      order: optional(z.enum(['asc', 'desc'])),
      pageSize: optional(PageSize),
      pageToken: optional(PageToken),
    }),
    output: z.object({ data: z.array(NotificationResponse), pageToken: z.string().nullable() }),
    message: 'Notification(s) retrieved successfully.',
    errors: ['NOT_FOUND'],
    uses: { organizations: findOrganization, notifications: readNotificationLists },
    narrowBy: 'pageSize',
    impact: 'customers cannot show their users what they are notified of',
    example: {
      data: { organizationId: 'acme', userId: 'grace', pageSize: 20 },
      result: {
        data: [
          {
            id: 'signature-1',
            notificationSource: 'custom',
            notificationSourceData: { contractId: 'nda-2026' },
            actionUser: { userId: 'ada', name: 'Ada Lovelace', email: 'ada@example.com' },
            displayHeadlineMessageTemplate: '{actionUser} asks {recipientUser} to sign {contract}',
            displayHeadlineMessageTemplateData: {
              actionUser: { userId: 'ada', name: 'Ada Lovelace' },
              recipientUser: { userId: 'grace', name: 'Grace Hopper' },
              contract: 'the NDA',
            },
            displayBodyMessage: 'It is due on Friday.',
            metadata: { apiKey: 'key_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ', organizationId: 'acme', documentId: 'nda' },
            notifyUsers: { '9f528ceb410182ebd9d490172948f11f': true },
            notifyUsersByUserId: { '15e5c87b18c1289d45bb4a72961b58e8': true },
            notifyAll: false,
            timestamp: 1767225600000,
          },
        ],
        pageToken: null,
      },
    },
  },
  async ({ input, caller, deps, now }) => {
    const { organizationId, documentId, locationId, userId, order = 'desc', pageSize = limits.pageSize } = input;
    const organization = await deps.organizations.require(caller.tenant, organizationId);
    const filter = {
      documentId,
      locationId,
      userId,
      notificationIds: input.notificationIds && distinct(input.notificationIds).sort(),
    };
    const pages = paging(
      caller,
      [path, organization.internalId, JSON.stringify([documentId, locationId, userId, filter.notificationIds, order])],
      input,
      now,
    );
    const page = await deps.notifications.page(caller.tenant, organization, filter, {
      limit: pageSize,
      after: pages.after,
      ascending: order === 'asc',
      now,
    });
    return { data: page.values, pageToken: pages.next(page.next) };
  },
);

export const handler = toLambda(endpoint);
