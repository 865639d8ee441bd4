import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { secretBox } from '../../../../lib/crypto/secretBox.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { addressPolicy } from '../../../../lib/net/addressPolicy.ts';
import { requireAllowedUrls } from '../../../../lib/net/allowedUrls.ts';
import { requireChange } from '../../../../lib/shared/schema.ts';
import { BasicConfigChange, changeBasicConfig } from '../../../../lib/webhooks/rules/basicConfig.ts';
import { BasicWebhookConfigEntity } from '../../../../lib/webhooks/webhookConfigs.ts';
import { configEndpoints } from '../../../../lib/workspaces/configs/configEndpoints.ts';

const { update } = configEndpoints(BasicWebhookConfigEntity, secretBox);

export const endpoint = defineEndpoint(
  {
    ...update,
    path: '/v2/workspace/webhookconfig/update',
    summary: 'Change the basic webhook config. Enabling basic webhooks for the first time sets the default triggers',
    description:
      'Sent fields replace the stored ones at every depth, and others stay. An empty text removes a value. Each event whose trigger is on is sent to both URLs, with retries. Each update ends a pause of the URLs after failures. For several receivers with filters and a signing secret each, call `/v2/workspace/advancedwebhook/endpoints/create`.',
    // A revoked auth token must not get the token that webhooks send.
    freshCredentials: true,
    input: BasicConfigChange.check(
      requireChange(Object.keys(BasicConfigChange.shape), 'Invalid webhook service configuration.'),
    ),
    message: 'Webhook configuration updated successfully.',
    fixedMessages: { type: 'Invalid webhook service configuration.' },
    uses: { ...update.uses, addressPolicy },
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
  async ({ input, caller, deps }) => {
    const { rawNotificationUrl, processedNotificationUrl } = input.webhookServiceConfig ?? {};
    requireAllowedUrls({ rawNotificationUrl, processedNotificationUrl }, deps.addressPolicy, ['webhookServiceConfig']);
    return { data: await deps.config.update(caller.tenant, input, changeBasicConfig) };
  },
);

export const handler = toLambda(endpoint);
