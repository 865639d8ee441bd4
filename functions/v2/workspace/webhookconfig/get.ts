import * as z from 'zod';
import { secretBox } from '../../../../lib/crypto/secretBox.ts';
import { openBasicConfig, readBasicWebhooks } from '../../../../lib/webhooks/configs.ts';
import { BasicWebhookConfig } from '../../../../lib/webhooks/rules/basic.ts';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/workspace/webhookconfig/get',
    summary: 'Get the basic webhook config',
    auth: 'apiKey',
    kind: 'read',
    // It hands out the auth token.
    freshCredentials: true,
    input: z.object({}),
    body: 'optional',
    output: z.object({ data: BasicWebhookConfig }),
    message: 'Webhook configuration retrieved successfully.',
    errors: [],
    uses: { webhooks: readBasicWebhooks, box: secretBox },
    impact: 'customers cannot see how their basic webhooks are configured',
    example: {
      data: {},
      result: {
        data: {
          useWebhookService: false,
          webhookServiceConfig: { authToken: '', rawNotificationUrl: '', processedNotificationUrl: '' },
        },
      },
    },
  },
  async ({ caller: { tenant }, deps }) => ({
    data: await openBasicConfig(deps.box, tenant, await deps.webhooks.get(tenant)),
  }),
);

export const handler = toLambda(endpoint);
