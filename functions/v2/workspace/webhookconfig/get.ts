import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { secretBox } from '../../../../lib/crypto/secretBox.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { BasicWebhookConfigEntity } from '../../../../lib/webhooks/webhookConfigs.ts';
import { configEndpoints } from '../../../../lib/workspaces/configs/configEndpoints.ts';

export const endpoint = defineEndpoint(
  {
    ...configEndpoints(BasicWebhookConfigEntity, secretBox).get,
    path: '/v2/workspace/webhookconfig/get',
    summary: 'Get the basic webhook config',
    description:
      'The answer has the auth token of the webhooks as plain text. Before the first change, it has the defaults. For webhooks with filters, a signing secret and a history, see `/v2/workspace/advancedwebhook/endpoints/create`.',
    // A revoked auth token must not get the token that webhooks send.
    freshCredentials: true,
    message: 'Webhook configuration retrieved successfully.',
    impact: 'customers cannot see how their basic webhooks are configured',
  },
  async ({ caller, deps }) => ({ data: await deps.config.getOrInitial(caller.tenant) }),
);

export const handler = toLambda(endpoint);
