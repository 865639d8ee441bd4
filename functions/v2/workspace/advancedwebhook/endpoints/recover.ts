import * as z from 'zod';
import { defineEndpoint } from '../../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../../lib/http/lambda.ts';
import * as logMessages from '../../../../../lib/observability/logMessages.ts';
import { Id } from '../../../../../lib/shared/schema.ts';
import { Instant } from '../../../../../lib/shared/times.ts';
import { requireRecoverable, startRecoveries, startRecovery } from '../../../../../lib/webhooks/recover.ts';
import { requireOperable } from '../../../../../lib/webhooks/requireOperable.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/workspace/advancedwebhook/endpoints/recover',
    summary: 'Send failed messages to an endpoint again, if their events are of a given time or later',
    description:
      'A job sends up to 10,000 messages, 50 per second, each with the whole retry schedule. The same call while the job runs starts no second one. More messages are INVALID_ARGUMENT. An unknown endpoint is NOT_FOUND. A disabled endpoint, or disabled advanced webhooks, are FAILED_PRECONDITION.',
    auth: 'apiKey',
    kind: 'write',
    input: z.object({
      endpointId: Id,
      since: Instant.describe(
        'Messages of events from this time on are sent again, in ISO 8601 or epoch milliseconds. At most 14 days ago. A message fails up to 30 hours after its event.',
      ),
    }),
    output: z.object({ data: z.object({ messages: z.number().describe('How many messages are sent again.') }) }),
    message: 'Messages queued again successfully.',
    errors: ['FAILED_PRECONDITION', 'NOT_FOUND', 'ABORTED'],
    uses: { requireOperable, recoveries: startRecoveries },
    impact: 'customers cannot recover the messages that their webhook endpoints missed',
    example: {
      data: { endpointId: 'ep_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ', since: '2026-11-20T09:30:00Z' },
      result: { data: { messages: 42 } },
    },
  },
  async ({ input: { endpointId, since }, caller, deps, now, log }) => {
    requireRecoverable(since, now);
    await deps.requireOperable(caller, endpointId);
    const messages = await startRecovery(
      deps.recoveries,
      { tenant: caller.tenant, endpointId, since: Math.min(since, now) },
      now,
      log,
    );
    log.info(logMessages.webhookMessagesRecovered, { endpointId, messages });
    return { data: { messages } };
  },
);

export const handler = toLambda(endpoint);
