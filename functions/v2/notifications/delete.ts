import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { findWritableSelection } from '../../../lib/content/documentScope.ts';
import { toLambdaWithTwin } from '../../../lib/http/lambda.ts';
import { defineTwin } from '../../../lib/http/twin.ts';
import { deleteNotifications } from '../../../lib/notifications/deleteNotifications.ts';
import { NotificationId, selectorFields } from '../../../lib/notifications/rules.ts';
import { dict } from '../../../lib/shared/collections.ts';
import { ItemOutcome } from '../../../lib/shared/results.ts';
import { closedObject, limits, list, optional, requireAnyOf } from '../../../lib/shared/schema.ts';

const selectors = ['documentId', 'locationId', 'userId', 'notificationIds'] as const;

export const endpoint = defineEndpoint(
  {
    path: '/v2/notifications/delete',
    summary: 'Delete notifications by id, or all notifications of a document, a location or a user',
    auth: 'apiKey',
    kind: 'write',
    input: closedObject({
      ...selectorFields,
      notificationIds: optional(list(NotificationId, limits.list)),
    }).check(
      requireAnyOf(selectors, {
        error: 'must have at least one of documentId, locationId, userId and notificationIds',
      }),
    ),
    output: z.object({
      data: z.record(z.string(), ItemOutcome),
      /** If true, notifications remain. Send the same request again to delete the next ones. */
      hasMore: z.boolean(),
    }),
    message: ({ hasMore }) =>
      hasMore
        ? 'Notification(s) deleted. There are more: send the request again.'
        : 'Notification(s) deleted successfully.',
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION'],
    uses: { findWritableSelection, notifications: deleteNotifications },
    impact: 'customers cannot delete notifications',
    example: {
      data: { organizationId: 'acme', notificationIds: ['signature-1'] },
      result: { data: { 'signature-1': { success: true, message: 'Notification deleted.' } }, hasMore: false },
    },
  },
  async ({ input, caller, deps }) => {
    const { organization, document } = await deps.findWritableSelection(caller.tenant, input);
    const { results, hasMore } = await deps.notifications.delete(caller.tenant, organization, document, input);
    return { data: dict(results), hasMore };
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
