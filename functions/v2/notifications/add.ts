import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { ensureDocument } from '../../../lib/content/documentScope.ts';
import { toLambdaWithTwin } from '../../../lib/http/lambda.ts';
import { defineTwin } from '../../../lib/http/twin.ts';
import { addNotifications } from '../../../lib/notifications/notifications.ts';
import {
  hasRecipients,
  hasTemplates,
  isSmall,
  NewNotification,
  newNotification,
} from '../../../lib/notifications/rules.ts';
import { ApiError } from '../../../lib/shared/errors.ts';
import { Done } from '../../../lib/shared/results.ts';
import { Id, optional } from '../../../lib/shared/schema.ts';

const message = 'Notification added successfully.';

export const endpoint = defineEndpoint(
  {
    path: '/v2/notifications/add',
    summary: 'Notify the given users, or all users who have access to a document',
    description:
      'Adds an entry to the inboxes of users, and sends neither a webhook nor a mail. An event with mails, webhooks and notifications is published with `/v2/events/publish`. ' +
      'Only for API keys. An id that exists in the document changes nothing. An id of another document is ALREADY_EXISTS. Without `createDocument`, an unknown document is NOT_FOUND. ' +
      '`/v2/notifications/get` returns the notifications of a user.',
    auth: 'apiKey',
    kind: 'write',
    input: NewNotification.extend({
      organizationId: Id,
      createOrganization: optional(z.boolean()),
      documentId: Id,
      createDocument: optional(z.boolean()),
      verifyUserPermissions: optional(z.boolean()).describe(
        'Whether `notifyUsers` without access to the document are left out. By default false.',
      ),
    }).check(hasTemplates, hasRecipients, isSmall),
    output: z.object({ data: Done }),
    message,
    errors: ['NOT_FOUND', 'ALREADY_EXISTS', 'FAILED_PRECONDITION', 'ABORTED'],
    uses: { ensureDocument, notifications: addNotifications },
    impact: 'customers cannot notify their users',
    example: {
      data: {
        organizationId: 'acme',
        documentId: 'nda',
        notificationId: 'signature-1',
        actionUser: { userId: 'ada', name: 'Ada Lovelace', email: 'ada@example.com' },
        notifyAll: false,
        notifyUsers: [{ userId: 'grace', name: 'Grace Hopper', email: 'grace@example.com' }],
        displayHeadlineMessageTemplate: '{actionUser} asks {recipientUser} to sign {contract}',
        displayHeadlineMessageTemplateData: {
          actionUser: { userId: 'ada', name: 'Ada Lovelace' },
          recipientUser: { userId: 'grace', name: 'Grace Hopper' },
          contract: 'the NDA',
        },
        displayBodyMessage: 'It is due on Friday.',
        notificationSourceData: { contractId: 'nda-2026' },
      },
      result: { data: { success: true, message } },
    },
  },
  async ({ input, caller, deps, now, repeatableId }) => {
    const [at, actionUser] = await Promise.all([
      deps.ensureDocument(caller.tenant, input, now),
      deps.notifications.completeActor(caller.tenant, input.actionUser),
    ]);
    const [allowed, thread] = await Promise.all([
      input.verifyUserPermissions
        ? deps.notifications.selectUsersWithAccess(
            at,
            input.notifyUsers.map(({ userId }) => userId),
            now,
          )
        : undefined,
      deps.notifications.findThread(at.scope, input.documentId, input),
    ]);
    const notifyUsers = input.notifyUsers.filter(({ userId }) => allowed?.has(userId) ?? true);
    const id = input.notificationId ?? repeatableId('ntf', 0);
    const added = await deps.notifications.add(
      at.scope,
      newNotification({ ...input, actionUser, notifyUsers }, { id, documentId: input.documentId, now, thread }),
    );
    if (added === 'elsewhere')
      throw new ApiError('ALREADY_EXISTS', `notificationId ${id} is that of a notification of another document`);
    return { data: { success: true as const, message } };
  },
);

export const twin = defineTwin(endpoint);

export const handler = toLambdaWithTwin(endpoint, twin);
