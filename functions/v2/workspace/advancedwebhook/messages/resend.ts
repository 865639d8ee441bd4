import * as z from 'zod';
import { defineEndpoint } from '../../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../../lib/http/lambda.ts';
import { Id } from '../../../../../lib/shared/schema.ts';
import { resendDeliveries } from '../../../../../lib/webhooks/deliveries.ts';
import { deliveryTiming, nextAttemptMessages } from '../../../../../lib/webhooks/deliveryMessage.ts';
import { requireOperable } from '../../../../../lib/webhooks/requireOperable.ts';
import { messageNotFound } from '../../../../../lib/webhooks/rules/messageView.ts';
import { notifyQueue } from '../../../../../lib/workers/notifyQueue.ts';
import * as sendTo from '../../../../../lib/workers/sendTo.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/workspace/advancedwebhook/messages/resend',
    summary: 'Send a message to an endpoint once more, immediately',
    description:
      'Makes one attempt, in any state of the delivery. Calls before the end of this attempt make no further one, and a failed attempt does not change the delivery. An unknown message or endpoint is NOT_FOUND. A disabled endpoint, or disabled advanced webhooks, are FAILED_PRECONDITION. To send all failed messages again, call `/v2/workspace/advancedwebhook/endpoints/recover`.',
    auth: 'apiKey',
    kind: 'write',
    input: z.object({
      messageId: Id.describe('The message, by its id in `/v2/workspace/advancedwebhook/messages/get`.'),
      endpointId: Id,
    }),
    output: z.object({ data: z.object({ messageId: z.string().describe('The id of the request, repeated.') }) }),
    message: 'Message queued again successfully.',
    errors: ['FAILED_PRECONDITION', 'NOT_FOUND', 'ABORTED'],
    uses: { requireOperable, deliveries: resendDeliveries, timing: deliveryTiming, queue: sendTo.deliverSlow },
    impact: 'customers cannot resend a message',
    example: {
      data: { messageId: 'msg_a1FhK9wQz7uXbV3nRt5LcY2dSe8', endpointId: 'ep_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ' },
      result: { data: { messageId: 'msg_a1FhK9wQz7uXbV3nRt5LcY2dSe8' } },
    },
  },
  async ({ input: { messageId, endpointId }, caller, deps, now, repeatableId, log }) => {
    await deps.requireOperable(caller, endpointId);
    const due = await deps.deliveries.resend(
      { tenant: caller.tenant, eventId: messageId, endpointId, resendId: repeatableId('rsd', 0) },
      now,
      deps.timing,
    );
    if (!due) throw messageNotFound();
    await notifyQueue(
      deps.queue,
      due.flatMap((delivery) => nextAttemptMessages(delivery, now)),
      log,
    );
    return { data: { messageId } };
  },
);

export const handler = toLambda(endpoint);
