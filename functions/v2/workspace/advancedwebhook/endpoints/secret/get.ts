import * as z from 'zod';
import { defineEndpoint } from '../../../../../../lib/app/endpoint.ts';
import { secretBox } from '../../../../../../lib/crypto/secretBox.ts';
import { toLambda } from '../../../../../../lib/http/lambda.ts';
import * as logMessages from '../../../../../../lib/observability/logMessages.ts';
import { Id } from '../../../../../../lib/shared/schema.ts';
import { findWebhookEndpoint } from '../../../../../../lib/webhooks/endpoints.ts';
import { requireEnabled } from '../../../../../../lib/webhooks/rules/advancedConfig.ts';
import { endpointNotFound } from '../../../../../../lib/webhooks/rules/endpoints.ts';
import { openSigningSecret } from '../../../../../../lib/webhooks/signingSecrets.ts';
import { readAdvancedWebhooks } from '../../../../../../lib/webhooks/webhookConfigs.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/workspace/advancedwebhook/endpoints/secret/get',
    summary: 'Get the signing secret of an advanced webhook endpoint',
    description:
      'Receivers verify deliveries with this secret (Standard Webhooks). During a rotation, the answer has the new one. An unknown endpoint is NOT_FOUND. FAILED_PRECONDITION means that advanced webhooks are disabled. To replace a leaked secret, call `/v2/workspace/advancedwebhook/endpoints/secret/rotate`.',
    auth: 'apiKey',
    kind: 'read',
    freshCredentials: true,
    input: z.object({ endpointId: Id }),
    output: z.object({
      data: z.object({
        endpointId: z.string(),
        secret: z.string().describe('The signing secret, `whsec_` and base64.'),
      }),
    }),
    message: 'Advanced webhook endpoint secret retrieved successfully.',
    errors: ['FAILED_PRECONDITION', 'NOT_FOUND'],
    uses: { webhooks: readAdvancedWebhooks, endpoints: findWebhookEndpoint, box: secretBox },
    impact: 'customers cannot read the secrets for verifying webhooks',
    example: {
      data: { endpointId: 'ep_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ' },
      result: { data: { endpointId: 'ep_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ', secret: 'whsec_<base64>' } },
    },
  },
  async ({ input: { endpointId }, caller, deps, log }) => {
    const { tenant } = caller;
    requireEnabled(caller, await deps.webhooks.get(tenant));
    const [newest] = (await deps.endpoints.get(tenant, endpointId))?.secrets ?? [];
    if (!newest) throw endpointNotFound();
    const secret = await openSigningSecret(deps.box, tenant, endpointId, newest);
    log.info(logMessages.webhookSecretRead, { endpointId });
    return { data: { endpointId, secret } };
  },
);

export const handler = toLambda(endpoint);
