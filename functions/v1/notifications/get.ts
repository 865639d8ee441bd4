import * as z from 'zod';
import { readNotificationLists } from '../../../lib/notifications/notificationLists.ts';
import { findOrganization } from '../../../lib/directory/organizations.ts';
import { distinct } from '../../../lib/shared/collections.ts';
import { LocationKey } from '../../../lib/content/rules/location.ts';
import { NotificationId, NotificationResponse } from '../../../lib/notifications/rules.ts';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { Id, limits, list, optional } from '../../../lib/shared/schema.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v1/notifications/get',
    summary: 'Get the most recent notifications, for clients that do not page',
    auth: 'apiKey',
    kind: 'read',
    input: z.object({
      organizationId: Id,
      documentId: optional(Id),
      locationId: optional(LocationKey),
      userId: optional(Id),
      notificationIds: optional(list(NotificationId, limits.readIds)),
    }),
    output: z.object({ data: z.array(NotificationResponse) }),
    message: 'Notification(s) retrieved successfully.',
    errors: ['NOT_FOUND'],
    uses: { organizations: findOrganization, notifications: readNotificationLists },
    narrowBy: 'notificationIds',
    impact: 'customers with older clients cannot show their users what they are notified of',
    example: {
      data: { organizationId: 'acme', documentId: 'nda' },
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
      },
    },
  },
  async ({ input, caller, deps, now }) => {
    const organization = await deps.organizations.require(caller.tenant, input.organizationId);
    return {
      data: await deps.notifications.recent(
        caller.tenant,
        organization,
        { ...input, notificationIds: input.notificationIds && distinct(input.notificationIds) },
        now,
      ),
    };
  },
);

export const handler = toLambda(endpoint);
