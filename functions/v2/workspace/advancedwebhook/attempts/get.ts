import * as z from 'zod';
import { defineEndpoint } from '../../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../../lib/http/lambda.ts';
import { invalid } from '../../../../../lib/shared/errors.ts';
import { Id, optional } from '../../../../../lib/shared/schema.ts';
import { readAttempts } from '../../../../../lib/webhooks/deliveries.ts';
import { readMessage } from '../../../../../lib/webhooks/messages.ts';
import { requireEnabled } from '../../../../../lib/webhooks/rules/advancedConfig.ts';
import { AttemptResponse, messageNotFound, toAttemptResponse } from '../../../../../lib/webhooks/rules/messageView.ts';
import { readAdvancedWebhooks } from '../../../../../lib/webhooks/webhookConfigs.ts';

/** A message has fewer attempts to one endpoint, unless it was resent or recovered very often. */
const MAX_ATTEMPTS = 1_000;

export const endpoint = defineEndpoint(
  {
    path: '/v2/workspace/advancedwebhook/attempts/get',
    summary: 'List the attempts to deliver a message, oldest first',
    description:
      'Returns at most the newest 1,000 attempts. A message with more needs an `endpointId`, otherwise it is INVALID_ARGUMENT. A message that is unknown or older than 30 days is NOT_FOUND. FAILED_PRECONDITION means that advanced webhooks are disabled. To try once more, call `/v2/workspace/advancedwebhook/messages/resend`.',
    auth: 'apiKey',
    kind: 'read',
    input: z.object({
      messageId: Id.describe('The message, by its id in `/v2/workspace/advancedwebhook/messages/get`.'),
      endpointId: optional(Id).describe('Selects the attempts to this endpoint. By default those to all endpoints.'),
    }),
    output: z.object({ data: z.object({ attempts: z.array(AttemptResponse) }) }),
    message: 'Attempts retrieved successfully.',
    errors: ['FAILED_PRECONDITION', 'NOT_FOUND'],
    uses: { webhooks: readAdvancedWebhooks, messages: readMessage, deliveries: readAttempts },
    narrowBy: 'endpointId',
    impact: 'customers cannot see how their webhook endpoints answered',
    example: {
      data: { messageId: 'msg_a1FhK9wQz7uXbV3nRt5LcY2dSe8' },
      result: {
        data: {
          attempts: [
            {
              endpointId: 'ep_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ',
              attempt: 1,
              at: '2026-11-20T09:30:00.120Z',
              outcome: 'failed',
              responseStatus: 503,
              responseBody: 'Down for maintenance',
              durationMs: 84,
            },
          ],
        },
      },
    },
  },
  async ({ input: { messageId, endpointId }, caller, deps }) => {
    const { tenant } = caller;
    const [config, event, { attempts, isComplete }] = await Promise.all([
      deps.webhooks.get(tenant),
      deps.messages.event(tenant, messageId),
      deps.deliveries.listAttempts(tenant, messageId, { endpointId, limit: MAX_ATTEMPTS }),
    ]);
    requireEnabled(caller, config);
    if (!event) throw messageNotFound();
    if (!isComplete && endpointId === undefined) {
      throw invalid({
        path: ['endpointId'],
        code: 'required',
        message: `endpointId is required for this message, which has more than ${MAX_ATTEMPTS} attempts`,
      });
    }
    return { data: { attempts: attempts.sort((a, b) => a.at - b.at).map(toAttemptResponse) } };
  },
);

export const handler = toLambda(endpoint);
