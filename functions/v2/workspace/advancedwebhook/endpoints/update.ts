import * as z from 'zod';
import { defineEndpoint } from '../../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../../lib/http/lambda.ts';
import { addressPolicy } from '../../../../../lib/net/addressPolicy.ts';
import { requireAllowedUrls } from '../../../../../lib/net/allowedUrls.ts';
import { Id, requireChange } from '../../../../../lib/shared/schema.ts';
import { changeWebhookEndpoints } from '../../../../../lib/webhooks/endpoints.ts';
import { requireEnabled } from '../../../../../lib/webhooks/rules/advancedConfig.ts';
import {
  changeEndpoint,
  endpointNotFound,
  FixedUid,
  toEndpointResponse,
  WebhookEndpointChange,
  WebhookEndpointResponse,
} from '../../../../../lib/webhooks/rules/endpoints.ts';
import { readAdvancedWebhooks } from '../../../../../lib/webhooks/webhookConfigs.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/workspace/advancedwebhook/endpoints/update',
    summary: 'Change an advanced webhook endpoint',
    description:
      'Sent fields replace the stored ones, and others stay. A change ends a pause of the endpoint after failures, and applies to messages that wait already. An unknown endpoint is NOT_FOUND. FAILED_PRECONDITION means that advanced webhooks are disabled. After you have enabled an endpoint again, send what it missed with `/v2/workspace/advancedwebhook/endpoints/recover`.',
    auth: 'apiKey',
    kind: 'write',
    input: WebhookEndpointChange.extend({ endpointId: Id, uid: FixedUid }).check(
      requireChange(
        Object.keys(WebhookEndpointChange.shape),
        'At least one endpoint field besides endpointId must be provided.',
      ),
    ),
    output: z.object({ data: WebhookEndpointResponse }),
    message: 'Advanced webhook endpoint updated successfully.',
    errors: ['FAILED_PRECONDITION', 'NOT_FOUND', 'ABORTED'],
    uses: { webhooks: readAdvancedWebhooks, endpoints: changeWebhookEndpoints, addressPolicy },
    impact: 'customers cannot change, disable or enable webhook endpoints',
    example: {
      data: { endpointId: 'ep_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ', disabled: true },
      result: {
        data: {
          id: 'ep_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ',
          url: 'https://hooks.example.com/collaboration',
          description: 'Comments to our CRM',
          filterTypes: ['comment.add', 'comment.update'],
          channels: null,
          disabled: true,
          rateLimit: 50,
          uid: 'crm',
          createdAt: '2026-11-20T09:30:00.000Z',
          updatedAt: '2026-11-20T10:15:00.000Z',
        },
      },
    },
  },
  async ({ input: { endpointId, uid: _, ...change }, caller, deps, now }) => {
    requireAllowedUrls({ url: change.url }, deps.addressPolicy);
    requireEnabled(caller, await deps.webhooks.get(caller.tenant));
    const changed = await deps.endpoints.update(caller.tenant, endpointId, (stored) =>
      changeEndpoint(stored, change, now),
    );
    if (!changed) throw endpointNotFound();
    return { data: toEndpointResponse(changed) };
  },
);

export const handler = toLambda(endpoint);
