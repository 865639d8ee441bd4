import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { ContentUser } from '../../../lib/content/rules/contentUser.ts';
import { publishEvents } from '../../../lib/events/publishEvents.ts';
import { PublishableType } from '../../../lib/events/rules/publishedEvent.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { Id, list, OpenObject, optional } from '../../../lib/shared/schema.ts';

/** The largest number of channels of an event. It is also the largest number of channels of a webhook endpoint. */
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
      event: PublishableType,
      organizationId: Id,
      documentId: optional(Id),
      channels: optional(list(Id, MAX_CHANNELS, 0)),
      actionUser: optional(ContentUser),
      data: optional(OpenObject),
      eventId: optional(Id),
    }),
    output: z.object({ data: z.object({ eventId: z.string() }) }),
    message: 'Event published successfully.',
    errors: ['NOT_FOUND', 'ABORTED'],
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
