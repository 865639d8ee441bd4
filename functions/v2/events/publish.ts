import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { ContentUser } from '../../../lib/content/rules/contentUser.ts';
import { publishEvents } from '../../../lib/fanOut/publishEvents.ts';
import { PublishableType } from '../../../lib/fanOut/rules/publishedEvent.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { Id, list, OpenObject, optional } from '../../../lib/shared/schema.ts';

/** The channels of a webhook endpoint have the same limit. */
const MAX_CHANNELS = 100;

export const endpoint = defineEndpoint(
  {
    path: '/v2/events/publish',
    summary: 'Publish an event. The configuration decides whether webhooks, mails and notifications are sent for it',
    description:
      'For events of your own, such as huddles and steps of workflows. Threads and comments that you write through the API send their own events with `triggerNotification`. An event with an `eventId` that was published before is not published again, even with other content: the answer has the id of the first. An unknown organization is INVALID_ARGUMENT, and an unknown document is NOT_FOUND. Receivers and triggers are set by `/v2/workspace/advancedwebhook/endpoints/create`, `/v2/workspace/webhookconfig/update`, `/v2/workspace/emailconfig/update` and `/v2/workspace/notificationconfig/update`.',
    auth: 'apiKey',
    kind: 'write',
    input: z.object({
      event: PublishableType.describe('The kind of event. It decides which triggers and filters apply.'),
      organizationId: Id,
      documentId: optional(Id).describe('The document that the event is about. In-app notifications need it.'),
      channels: optional(list(Id, MAX_CHANNELS, 0)).describe(
        'Advanced webhook endpoints with channels get the event only if they have one of these.',
      ),
      actionUser: optional(ContentUser).describe(
        'The user who acted. This user gets no mail, and in-app notifications need the field.',
      ),
      data: optional(OpenObject).describe(
        'The payload for webhooks. Users in `notifyUsers`, `commentAnnotation.assignedTo`, `targetComment.to` and `targetComment.taggedUserContacts` are notified of comments and huddles, at most 50.',
      ),
      eventId: optional(Id).describe(
        'Your own id of the event, which makes repeated calls safe. It becomes the id of the message if it has at most 64 letters, digits, `-` and `_` and does not begin with `msg_`; otherwise the answer has a new one.',
      ),
    }),
    output: z.object({
      data: z.object({ eventId: z.string().describe('The id of the message, which deliveries have as `webhook-id`.') }),
    }),
    message: 'Event published successfully.',
    errors: ['FAILED_PRECONDITION', 'NOT_FOUND', 'ABORTED'],
    uses: { publisher: publishEvents },
    impact: "customers' services cannot publish events about huddles, recordings and workflows",
    example: {
      data: {
        event: 'huddle.create',
        organizationId: 'acme',
        documentId: 'nda',
        actionUser: { userId: 'ada', name: 'Ada Lovelace' },
        data: { notifyUsers: [{ userId: 'grace' }] },
        eventId: 'huddle-41d',
      },
      result: { data: { eventId: 'huddle-41d' } },
    },
  },
  async ({ input: { data = {}, ...sent }, caller, deps, now, repeatableId }) => {
    const eventId = await deps.publisher.publish(caller.tenant, { ...sent, data }, repeatableId('evt', 0), now);
    return { data: { eventId } };
  },
);

export const handler = toLambda(endpoint);
