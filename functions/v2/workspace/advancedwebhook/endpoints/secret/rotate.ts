import * as z from 'zod';
import { defineEndpoint } from '../../../../../../lib/app/endpoint.ts';
import { secretBox } from '../../../../../../lib/crypto/secretBox.ts';
import { toLambda } from '../../../../../../lib/http/lambda.ts';
import * as logMessages from '../../../../../../lib/observability/logMessages.ts';
import { ApiError } from '../../../../../../lib/shared/errors.ts';
import { Id, optional } from '../../../../../../lib/shared/schema.ts';
import { changeWebhookEndpoints } from '../../../../../../lib/webhooks/endpoints.ts';
import { requireEnabled } from '../../../../../../lib/webhooks/rules/advancedConfig.ts';
import { endpointNotFound } from '../../../../../../lib/webhooks/rules/endpoints.ts';
import {
  defaultOverlapSeconds,
  longestOverlapSeconds,
  rotateSecrets,
} from '../../../../../../lib/webhooks/rules/secrets.ts';
import { createSigningSecret, openSigningSecret } from '../../../../../../lib/webhooks/signingSecrets.ts';
import { readAdvancedWebhooks } from '../../../../../../lib/webhooks/webhookConfigs.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/workspace/advancedwebhook/endpoints/secret/rotate',
    summary: 'Replace the signing secret of an advanced webhook endpoint',
    description:
      'While both secrets are valid, deliveries have a signature of each, so the receiver can change over without a gap. FAILED_PRECONDITION means that the overlap of an earlier rotation has not ended, or that advanced webhooks are disabled. An unknown endpoint is NOT_FOUND.',
    auth: 'apiKey',
    kind: 'write',
    freshCredentials: true,
    input: z.object({
      endpointId: Id,
      overlapSeconds: optional(z.int().min(0).max(longestOverlapSeconds)).describe(
        `How long the old secret stays valid, in seconds. 0 ends it at once. By default ${defaultOverlapSeconds}, a day.`,
      ),
    }),
    output: z.object({
      data: z.object({
        endpointId: z.string(),
        secret: z.string().describe('The new signing secret, `whsec_` and base64.'),
      }),
    }),
    message: 'Advanced webhook endpoint secret rotated successfully.',
    errors: ['FAILED_PRECONDITION', 'NOT_FOUND', 'ABORTED'],
    uses: { webhooks: readAdvancedWebhooks, endpoints: changeWebhookEndpoints, box: secretBox },
    impact: 'customers cannot replace a leaked webhook secret',
    example: {
      data: { endpointId: 'ep_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ', overlapSeconds: 3600 },
      result: { data: { endpointId: 'ep_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ', secret: 'whsec_<base64>' } },
    },
  },
  async ({ input: { endpointId, overlapSeconds = defaultOverlapSeconds }, caller, deps, now, repeatableId, log }) => {
    const { tenant } = caller;
    requireEnabled(caller, await deps.webhooks.get(tenant));
    const created = await createSigningSecret(deps.box, tenant, endpointId, now);
    const next = { ...created.stored, rotationId: repeatableId('rot', 0) };
    const rotated = await deps.endpoints.update(tenant, endpointId, (stored) => {
      const secrets = rotateSecrets(stored.secrets, next, overlapSeconds, now);
      if (secrets === 'overlapping')
        throw new ApiError(
          'FAILED_PRECONDITION',
          'The previous secret is still valid. Wait for its overlap to end, or end it at once with overlapSeconds: 0.',
        );
      return { ...stored, secrets, updatedAt: now };
    });
    const [newest] = rotated?.secrets ?? [];
    if (!newest) throw endpointNotFound();
    const secret = await openSigningSecret(deps.box, tenant, endpointId, newest);
    log.info(logMessages.webhookSecretRotated, { endpointId });
    return { data: { endpointId, secret } };
  },
);

export const handler = toLambda(endpoint);
