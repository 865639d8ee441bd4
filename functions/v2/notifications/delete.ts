import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { findWritableSelection } from '../../../lib/content/documentScope.ts';
import { toLambdaWithTwin } from '../../../lib/http/lambda.ts';
import { paging } from '../../../lib/http/paging.ts';
import { defineTwin } from '../../../lib/http/twin.ts';
import { deleteNotifications } from '../../../lib/notifications/deleteNotifications.ts';
import { NotificationId, selectorFields } from '../../../lib/notifications/rules.ts';
import { dict } from '../../../lib/shared/collections.ts';
import { batchMessage, ItemOutcome } from '../../../lib/shared/results.ts';
import { limits, list, notTogether, optional, PageToken, requireAnyOf } from '../../../lib/shared/schema.ts';

const selectors = ['documentId', 'locationId', 'userId', 'notificationIds'] as const;

const path = '/v2/notifications/delete';

export const endpoint = defineEndpoint(
  {
    path,
    summary: 'Delete notifications by id, or all notifications of a document, a location or a user',
    description:
      'A notification must match every field that is sent. It disappears for all its users. By document, location or user, a call deletes about 2,000 notifications: repeat it with the `pageToken` of the answer while `hasMore` is true. A notification whose document is disabled or being migrated to another id has `success: false` in the answer, and `message` names the reason. ' +
      'Only for API keys. `/v2/notifications/update` marks a notification as read instead.',
    auth: 'apiKey',
    kind: 'write',
    work: ({ notificationIds }) => ({ items: notificationIds?.length ?? limits.list }),
    input: z
      .object({
        ...selectorFields,
        notificationIds: optional(list(NotificationId, limits.list)).describe('Only the notifications with these ids.'),
        pageToken: optional(PageToken),
      })
      .check(
        notTogether('pageToken', 'notificationIds'),
        requireAnyOf(selectors, {
          error: 'must have at least one of documentId, locationId, userId and notificationIds',
        }),
      ),
    output: z.object({
      data: z
        .record(z.string(), ItemOutcome)
        .describe('The result for each notification, by its id. At most 500 failures.'),
      hasMore: z.boolean().describe('Whether notifications can remain.'),
      pageToken: z.string().nullable().describe('Send the request again with this token while `hasMore` is true.'),
    }),
    message: batchMessage('notification', 'deleted', ({ hasMore }) =>
      hasMore
        ? 'Notification(s) deleted. There are more: send the request again with this pageToken.'
        : 'Notification(s) deleted successfully.',
    ),
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION'],
    uses: { findWritableSelection, notifications: deleteNotifications },
    impact: 'customers cannot delete notifications',
    example: {
      data: { organizationId: 'acme', notificationIds: ['signature-1'] },
      result: {
        data: { 'signature-1': { success: true, message: 'Notification deleted.' } },
        hasMore: false,
        pageToken: null,
      },
    },
  },
  async ({ input, caller, deps, now }) => {
    const { organization, document } = await deps.findWritableSelection(caller.tenant, input);
    const { locationId, userId } = input;
    const selection = JSON.stringify([document?.internalId, locationId, userId]);
    const pages = paging(caller, [path, organization.internalId, selection], input, now);
    const { results, next } = await deps.notifications.delete(
      caller.tenant,
      organization,
      document,
      input,
      pages.after,
    );
    return { data: dict(results), hasMore: next !== undefined, pageToken: pages.next(next) };
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
