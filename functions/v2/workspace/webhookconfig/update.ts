import * as z from 'zod';
import { secretBox } from '../../../../lib/crypto/secretBox.ts';
import { openBasicConfig, sealAuthToken, writeBasicWebhooks } from '../../../../lib/webhooks/configs.ts';
import { requireChange } from '../../../../lib/workspaces/rules/mergeConfig.ts';
import { BasicConfigChange, BasicWebhookConfig, changeBasicConfig } from '../../../../lib/webhooks/rules/basic.ts';
import { requireAllowedUrls } from '../../../../lib/net/allowedUrls.ts';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { addressPolicy } from '../../../../lib/net/addressPolicy.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/workspace/webhookconfig/update',
    summary: 'Change the basic webhook config; the first enabling seeds the triggers',
    auth: 'apiKey',
    kind: 'write',
    // It hands out the auth token.
    freshCredentials: true,
    input: BasicConfigChange,
    output: z.object({ data: BasicWebhookConfig }),
    message: 'Webhook configuration updated successfully.',
    knownMessages: { type: 'Invalid webhook service configuration.' },
    errors: ['ABORTED'],
    uses: { webhooks: writeBasicWebhooks, box: secretBox, addressPolicy },
    impact: 'customers cannot enable, disable or configure basic webhooks',
    example: {
      data: {
        webhookServiceConfig: {
          rawNotificationUrl: 'https://hooks.example.com/raw',
          triggers: { 'comment.add': true },
        },
      },
      result: {
        data: {
          useWebhookService: false,
          webhookServiceConfig: {
            authToken: '',
            rawNotificationUrl: 'https://hooks.example.com/raw',
            processedNotificationUrl: '',
            triggers: { 'comment.add': true },
          },
        },
      },
    },
  },
  async ({ input, caller: { tenant }, deps }) => {
    requireChange(input, Object.keys(BasicConfigChange.shape), 'Invalid webhook service configuration.');
    const { rawNotificationUrl, processedNotificationUrl } = input.webhookServiceConfig ?? {};
    requireAllowedUrls({ rawNotificationUrl, processedNotificationUrl }, deps.addressPolicy, ['webhookServiceConfig']);
    const sent = await sealAuthToken(deps.box, tenant, input);
    const config = await deps.webhooks.update(tenant, (stored) => changeBasicConfig(stored, sent));
    return { data: await openBasicConfig(deps.box, tenant, config) };
  },
);

export const handler = toLambda(endpoint);
