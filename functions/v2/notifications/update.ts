import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { findWritableSelection } from '../../../lib/content/documentScope.ts';
import { mustVerifyUsers, viewerOf } from '../../../lib/content/viewer.ts';
import { toLambdaWithTwin } from '../../../lib/http/lambda.ts';
import { paging } from '../../../lib/http/paging.ts';
import { defineTwin } from '../../../lib/http/twin.ts';
import { markNotifications } from '../../../lib/notifications/markAllAsRead.ts';
import { notificationReader } from '../../../lib/notifications/notificationReader.ts';
import { isSelected, updateNotifications } from '../../../lib/notifications/notifications.ts';
import { notificationChangesByUsers } from '../../../lib/notifications/rules.ts';
import { NotificationsUpdate } from '../../../lib/notifications/updateRequest.ts';
import { dict, distinctBy } from '../../../lib/shared/collections.ts';
import { invalid } from '../../../lib/shared/errors.ts';
import { batchMessage, byIdOf, ItemOutcome } from '../../../lib/shared/results.ts';
import { limits } from '../../../lib/shared/schema.ts';
import { openToUsers } from '../../../lib/userTokens/openToUsers.ts';

const path = '/v2/notifications/update';

export const endpoint = defineEndpoint(
  {
    path,
    summary: 'Change notifications, or mark them as read',
    description:
      'Fields that are not sent stay. If a call changes a notification several times, only the last change is made. An unknown notification, or one outside the selection, has `success: false` in the answer. So has one whose document is disabled or being migrated to another id; `message` names the reason. ' +
      'With `markAllAsRead`, everything becomes read that `/v2/notifications/get` lists for the user, the latest first. A call marks about 2,000 notifications, or works for 15 s: repeat it with the `pageToken` of the answer while `hasMore` is true. ' +
      'With a user token, users mark their own notifications as read. Other fields than `readByUserIds`, and notifications of others, are PERMISSION_DENIED.',
    auth: 'apiKey',
    user: openToUsers(notificationChangesByUsers),
    kind: 'write',
    work: ({ notifications }) => ({ items: notifications?.length ?? limits.list }),
    input: NotificationsUpdate,
    output: z.object({
      data: z
        .record(z.string(), ItemOutcome)
        .describe(
          'The result for each notification, by its id. With `markAllAsRead`, all that the call marked, about 2,000 at most, and up to 500 that it could not mark.',
        ),
      hasMore: z.boolean().describe('Whether unread notifications can remain after `markAllAsRead`.'),
      pageToken: z.string().nullable().describe('Send the request again with this token while `hasMore` is true.'),
    }),
    message: batchMessage('notification', 'updated', ({ hasMore }) =>
      hasMore
        ? 'Notification(s) updated. There are more: send the request again with this pageToken.'
        : 'Notification(s) updated successfully.',
    ),
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION'],
    uses: {
      findWritableSelection,
      notifications: updateNotifications,
      reader: notificationReader,
      marker: markNotifications,
    },
    impact: 'customers cannot change notifications or mark them as read',
    example: {
      data: {
        organizationId: 'acme',
        notifications: [{ id: 'signature-1', readByUserIds: ['grace'] }],
      },
      result: {
        data: { 'signature-1': { success: true, message: 'Notification updated.' } },
        hasMore: false,
        pageToken: null,
      },
    },
  },
  async ({ input, caller, deps, now }) => {
    const viewer = viewerOf(caller);
    const { locationId, userId = viewer?.userId, markAllAsRead } = input;
    if (markAllAsRead && userId === undefined)
      throw invalid({ path: ['userId'], code: 'required', message: 'userId is required with markAllAsRead' });
    const { organization, document } = await deps.findWritableSelection(caller.tenant, input);
    if (markAllAsRead && userId !== undefined) {
      const selection = JSON.stringify([document?.internalId, locationId, userId]);
      const pages = paging(caller, [path, organization.internalId, selection], input, now);
      const selected = { document, userId, locationId, viewer };
      const { results, next } = await deps.marker.markAll(caller.tenant, organization, selected, pages.after, now);
      return { data: dict(results), hasMore: next !== undefined, pageToken: pages.next(next) };
    }
    // If a request changes a notification several times, only the last change is made.
    const changes = distinctBy(input.notifications?.toReversed() ?? [], ({ id }) => id).reverse();
    const ids = changes.map(({ id }) => id);
    await deps.reader.requireOwn(caller.tenant, organization, viewer, ids, now);
    const results = await deps.notifications.update(caller.tenant, organization, changes, {
      isInSelection: (placed) => isSelected(document, input, placed),
      verifiedAt: mustVerifyUsers(caller, input) ? now : undefined,
    });
    return { data: byIdOf(changes, ({ id }) => id, results), hasMore: false, pageToken: null };
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
