import * as z from 'zod';
import { defineEndpoint } from '../../../../../lib/app/endpoint.ts';
import { EventTypeName } from '../../../../../lib/events/rules/triggers.ts';
import { toLambda } from '../../../../../lib/http/lambda.ts';
import { Id, optional } from '../../../../../lib/shared/schema.ts';
import { createDeliveries } from '../../../../../lib/webhooks/deliveries.ts';
import { deliveryTiming, firstAttemptMessage } from '../../../../../lib/webhooks/deliveryMessage.ts';
import { requireOperable } from '../../../../../lib/webhooks/requireOperable.ts';
import { sampleEvent } from '../../../../../lib/webhooks/rules/samples.ts';
import { notifyQueue } from '../../../../../lib/workers/notifyQueue.ts';
import * as sendTo from '../../../../../lib/workers/sendTo.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/workspace/advancedwebhook/endpoints/test',
    summary: 'Send a sample event to one advanced webhook endpoint',
    description:
      'The sample ignores the filters of the endpoint, and its first attempt does not wait for a pause. An unknown endpoint is NOT_FOUND. A disabled endpoint, or disabled advanced webhooks, are FAILED_PRECONDITION. For the answer of the receiver, call `/v2/workspace/advancedwebhook/attempts/get` with the `messageId`.',
    auth: 'apiKey',
    kind: 'write',
    input: z.object({
      endpointId: Id,
      event: optional(EventTypeName).describe('The type of the sample. By default `comment.add`.'),
    }),
    output: z.object({
      data: z.object({
        messageId: z.string().describe('The message of the sample, for `/v2/workspace/advancedwebhook/attempts/get`.'),
      }),
    }),
    message: 'Test event sent successfully.',
    errors: ['FAILED_PRECONDITION', 'NOT_FOUND'],
    uses: { requireOperable, deliveries: createDeliveries, timing: deliveryTiming, queue: sendTo.deliver },
    impact: 'customers cannot test webhook endpoints',
    example: {
      data: { endpointId: 'ep_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ', event: 'comment.add' },
      result: { data: { messageId: 'msg_a1FhK9wQz7uXbV3nRt5LcY2dSe8' } },
    },
  },
  async ({ input: { endpointId, event: type = 'comment.add' }, caller, deps, now, repeatableId, log }) => {
    const { tenant } = caller;
    await deps.requireOperable(caller, endpointId);
    const cause = { type: 'EndpointTest', id: repeatableId('test', 0), revision: 1 };
    const event = { ...sampleEvent(type, tenant), cause };
    const first = await deps.deliveries.createFor({ tenant, endpointId }, event, now, deps.timing);
    await notifyQueue(deps.queue, [firstAttemptMessage(first, 0)], log);
    return { data: { messageId: first.eventId } };
  },
);

export const handler = toLambda(endpoint);
