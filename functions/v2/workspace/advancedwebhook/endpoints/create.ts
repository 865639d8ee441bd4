import * as z from 'zod';
import { defineEndpoint } from '../../../../../lib/app/endpoint.ts';
import { secretBox } from '../../../../../lib/crypto/secretBox.ts';
import { toLambda } from '../../../../../lib/http/lambda.ts';
import { addressPolicy } from '../../../../../lib/net/addressPolicy.ts';
import { requireAllowedUrls } from '../../../../../lib/net/allowedUrls.ts';
import { ApiError } from '../../../../../lib/shared/errors.ts';
import { createWebhookEndpoints } from '../../../../../lib/webhooks/endpoints.ts';
import { requireEnabled } from '../../../../../lib/webhooks/rules/advancedConfig.ts';
import {
  newEndpoint,
  NewWebhookEndpoint,
  toEndpointResponse,
  WebhookEndpointResponse,
} from '../../../../../lib/webhooks/rules/endpoints.ts';
import { createSigningSecret } from '../../../../../lib/webhooks/signingSecrets.ts';
import { readAdvancedWebhooks } from '../../../../../lib/webhooks/webhookConfigs.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/workspace/advancedwebhook/endpoints/create',
    summary: 'Create an advanced webhook endpoint',
    description:
      'An endpoint gets each later event that its filters select, as a signed POST of JSON with retries for about 28 hours by default. FAILED_PRECONDITION means that advanced webhooks are disabled (`/v2/workspace/advancedwebhookconfig/update`), ALREADY_EXISTS that another endpoint has the `uid`, and RESOURCE_EXHAUSTED that the API key has 200 endpoints. To read the signing secret, call `/v2/workspace/advancedwebhook/endpoints/secret/get`. To try the receiver, call `/v2/workspace/advancedwebhook/endpoints/test`.',
    auth: 'apiKey',
    kind: 'write',
    input: NewWebhookEndpoint,
    output: z.object({ data: WebhookEndpointResponse }),
    message: 'Advanced webhook endpoint created successfully.',
    errors: ['FAILED_PRECONDITION', 'ALREADY_EXISTS', 'RESOURCE_EXHAUSTED', 'ABORTED'],
    uses: { webhooks: readAdvancedWebhooks, endpoints: createWebhookEndpoints, box: secretBox, addressPolicy },
    impact: 'customers cannot add webhook endpoints',
    example: {
      data: {
        url: 'https://hooks.example.com/collaboration',
        description: 'Comments to our CRM',
        filterTypes: ['comment.add', 'comment.update'],
        rateLimit: 50,
        uid: 'crm',
        metadata: { team: 'sales' },
      },
      result: {
        data: {
          id: 'ep_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ',
          url: 'https://hooks.example.com/collaboration',
          description: 'Comments to our CRM',
          filterTypes: ['comment.add', 'comment.update'],
          channels: null,
          disabled: false,
          rateLimit: 50,
          uid: 'crm',
          createdAt: '2026-11-20T09:30:00.000Z',
          updatedAt: '2026-11-20T09:30:00.000Z',
        },
      },
    },
  },
  async ({ input, caller, deps, now, repeatableId }) => {
    requireAllowedUrls({ url: input.url }, deps.addressPolicy);
    const { tenant } = caller;
    requireEnabled(caller, await deps.webhooks.get(tenant));
    const endpointId = repeatableId('ep', 0);
    const secret = await createSigningSecret(deps.box, tenant, endpointId, now);
    const endpoint = newEndpoint(input, { endpointId, secret: secret.stored, now });
    const created = await deps.endpoints.create(tenant, endpoint);
    if (created === 'taken')
      throw new ApiError('ALREADY_EXISTS', 'An advanced webhook endpoint with this uid already exists.');
    if (created === 'full')
      throw new ApiError('RESOURCE_EXHAUSTED', 'The API key has as many advanced webhook endpoints as it may have.');
    return { data: toEndpointResponse(created) };
  },
);

export const handler = toLambda(endpoint);
