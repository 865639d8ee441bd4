import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { findWritableSelection } from '../../../lib/content/documentScope.ts';
import { mustVerifyUsers, viewerOf } from '../../../lib/content/viewer.ts';
import { toLambdaWithTwin } from '../../../lib/http/lambda.ts';
import { defineTwin } from '../../../lib/http/twin.ts';
import { notificationReader } from '../../../lib/notifications/notificationReader.ts';
import { isSelected, updateNotifications } from '../../../lib/notifications/notifications.ts';
import { NotificationChange, notificationChangesByUsers, selectorFields } from '../../../lib/notifications/rules.ts';
import { distinctBy } from '../../../lib/shared/collections.ts';
import { batchMessage, byIdOf, ItemOutcome } from '../../../lib/shared/results.ts';
import { limits, list, optional } from '../../../lib/shared/schema.ts';
import { openToUsers } from '../../../lib/userTokens/openToUsers.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/notifications/update',
    summary: 'Change notifications, or mark them as read',
    description:
      'Fields that are not sent stay. If a call changes a notification several times, only the last change is made. An unknown notification, or one outside the selection, has `success: false` in the answer. So has one whose document is disabled or being migrated to another id; `message` names the reason. ' +
      'With a user token, users mark their own notifications as read. Other fields than `readByUserIds`, and notifications of others, are PERMISSION_DENIED.',
    auth: 'apiKey',
    user: openToUsers(notificationChangesByUsers),
    kind: 'write',
    input: z.object({
      ...selectorFields,
      verifyUserPermissions: optional(z.boolean()).describe(
        'Whether new readers without access to the document are left out. By default false. Without effect with a user token.',
      ),
      notifications: list(NotificationChange, limits.list).describe(
        'The changes, each with the id of its notification.',
      ),
    }),
    output: z.object({
      data: z.record(z.string(), ItemOutcome).describe('The result for each notification, by its id.'),
    }),
    message: batchMessage('notification', 'updated'),
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION'],
    uses: { findWritableSelection, notifications: updateNotifications, reader: notificationReader },
    impact: 'customers cannot change notifications or mark them as read',
    example: {
      data: {
        organizationId: 'acme',
        notifications: [{ id: 'signature-1', readByUserIds: ['grace'] }],
      },
      result: { data: { 'signature-1': { success: true, message: 'Notification updated.' } } },
    },
  },
  async ({ input, caller, deps, now }) => {
    const { organization, document } = await deps.findWritableSelection(caller.tenant, input);
    // If a request changes a notification several times, only the last change is made.
    const changes = distinctBy(input.notifications.toReversed(), ({ id }) => id).reverse();
    const ids = changes.map(({ id }) => id);
    await deps.reader.requireOwn(caller.tenant, organization, viewerOf(caller), ids, now);
    const results = await deps.notifications.update(caller.tenant, organization, changes, {
      isInSelection: (placed) => isSelected(document, input, placed),
      verifiedAt: mustVerifyUsers(caller, input) ? now : undefined,
    });
    return { data: byIdOf(changes, ({ id }) => id, results) };
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
