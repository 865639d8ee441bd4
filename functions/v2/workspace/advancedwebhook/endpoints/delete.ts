import * as z from 'zod';
import { defineEndpoint } from '../../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../../lib/http/lambda.ts';
import { Id } from '../../../../../lib/shared/schema.ts';
import { deleteWebhookEndpoints } from '../../../../../lib/webhooks/endpoints.ts';
import { requireEnabled } from '../../../../../lib/webhooks/rules/advancedConfig.ts';
import { endpointNotFound } from '../../../../../lib/webhooks/rules/endpoints.ts';
import { readAdvancedWebhooks } from '../../../../../lib/webhooks/webhookConfigs.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/workspace/advancedwebhook/endpoints/delete',
    summary: 'Delete an advanced webhook endpoint',
    description:
      'No attempt begins after the deletion; waiting deliveries are cancelled when their next attempt is due. An unknown endpoint is NOT_FOUND. FAILED_PRECONDITION means that advanced webhooks are disabled. To stop deliveries for a while, set `disabled` with `/v2/workspace/advancedwebhook/endpoints/update`.',
    auth: 'apiKey',
    kind: 'write',
    freshCredentials: true,
    input: z.object({ endpointId: Id }),
    output: z.object({ data: z.object({ endpointId: z.string(), deleted: z.literal(true).describe('Always true.') }) }),
    message: 'Advanced webhook endpoint deleted successfully.',
    errors: ['FAILED_PRECONDITION', 'NOT_FOUND', 'ABORTED'],
    uses: { webhooks: readAdvancedWebhooks, endpoints: deleteWebhookEndpoints },
    impact: 'customers cannot delete webhook endpoints',
    example: {
      data: { endpointId: 'ep_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ' },
      result: { data: { endpointId: 'ep_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ', deleted: true } },
    },
  },
  async ({ input, caller, deps }) => {
    requireEnabled(caller, await deps.webhooks.get(caller.tenant));
    const deleted = await deps.endpoints.delete(caller.tenant, input.endpointId);
    if (deleted === 'unknown') throw endpointNotFound();
    return { data: { endpointId: input.endpointId, deleted: true as const } };
  },
);

export const handler = toLambda(endpoint);
