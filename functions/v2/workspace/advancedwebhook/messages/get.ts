import * as z from 'zod';
import { defineEndpoint } from '../../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../../lib/http/lambda.ts';
import { iterators } from '../../../../../lib/http/paging.ts';
import { distinct } from '../../../../../lib/shared/collections.ts';
import { readMessages } from '../../../../../lib/webhooks/messages.ts';
import { requireEnabled } from '../../../../../lib/webhooks/rules/advancedConfig.ts';
import {
  MessageQuery,
  MessageResponse,
  toMessageResponse,
  USUAL_MESSAGES,
} from '../../../../../lib/webhooks/rules/messageView.ts';
import { readAdvancedWebhooks } from '../../../../../lib/webhooks/webhookConfigs.ts';

const path = '/v2/workspace/advancedwebhook/messages/get';

export const endpoint = defineEndpoint(
  {
    path,
    summary: 'List messages with their deliveries, newest first',
    description:
      'A message is one event with its deliveries to endpoints. It is kept for 30 days. Events from before advanced webhooks were enabled are listed too. A delivery is listed when its first attempt has ended or is delayed. All filters must match. A page with `endpointId`, `status` or `events` examines about 1,000 messages, so it can be short or empty with `done: false`: continue with `iterator`. `since` and `until` cost nothing: only this time is read. FAILED_PRECONDITION means that advanced webhooks are disabled.',
    auth: 'apiKey',
    kind: 'read',
    input: MessageQuery,
    output: z.object({
      data: z.object({
        messages: z.array(MessageResponse),
        iterator: z.string().nullable().describe('Continues the listing. Null on the last page.'),
        done: z.boolean().describe('Whether this is the last page.'),
      }),
    }),
    message: 'Messages retrieved successfully.',
    errors: ['FAILED_PRECONDITION'],
    uses: { webhooks: readAdvancedWebhooks, messages: readMessages },
    narrowBy: 'limit',
    impact: 'customers cannot see the state of their messages',
    example: {
      data: { limit: 10, status: 'pending', events: ['comment.add'], since: '2026-11-20T09:00:00Z' },
      result: {
        data: {
          messages: [
            {
              id: 'msg_a1FhK9wQz7uXbV3nRt5LcY2dSe8',
              event: 'comment.add',
              channels: null,
              createdAt: '2026-11-20T09:30:00.000Z',
              deliveries: [
                {
                  endpointId: 'ep_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ',
                  status: 'pending',
                  attempts: 2,
                  nextAttemptAt: '2026-11-20T09:35:07.000Z',
                },
              ],
            },
          ],
          iterator: null,
          done: true,
        },
      },
    },
  },
  async ({ input: { limit = USUAL_MESSAGES, iterator, ...filter }, caller, deps, now }) => {
    const { endpointId = '', status = '', events = [], since = '', until = '' } = filter;
    const bound = [path, endpointId, status, String(since), String(until), ...distinct(events).toSorted()];
    const pages = iterators(caller, bound, { iterator }, now);
    const [config, { values, next }] = await Promise.all([
      deps.webhooks.get(caller.tenant),
      deps.messages.list(caller.tenant, filter, { limit, after: pages.from?.key, now }),
    ]);
    requireEnabled(caller, config);
    return {
      data: {
        messages: values.map(({ event, deliveries }) => toMessageResponse(event, deliveries)),
        iterator: pages.toIterator(next === undefined ? undefined : { direction: 'after', key: next }),
        done: next === undefined,
      },
    };
  },
);

export const handler = toLambda(endpoint);
