import * as z from 'zod';
import { readAdvancedWebhooks } from '../../../../lib/webhooks/configs.ts';
import {
  AdvancedWebhookConfig,
  requireAvailable,
  toAdvancedConfigResponse,
} from '../../../../lib/webhooks/rules/advanced.ts';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/workspace/advancedwebhookconfig/get',
    summary: 'Get the advanced webhook config',
    auth: 'apiKey',
    kind: 'read',
    input: z.object({}),
    body: 'optional',
    output: z.object({ data: AdvancedWebhookConfig }),
    message: 'Advanced webhook configuration retrieved successfully.',
    errors: ['FAILED_PRECONDITION'],
    uses: { webhooks: readAdvancedWebhooks },
    impact: 'customers cannot see how their advanced webhooks are configured',
    example: {
      data: {},
      result: {
        data: { isEnabled: true, encryptData: false, encodeData: false, publicKey: '', enableDataProtection: false },
      },
    },
  },
  async ({ caller, deps }) => {
    requireAvailable(caller);
    return { data: toAdvancedConfigResponse(await deps.webhooks.get(caller.tenant)) };
  },
);

export const handler = toLambda(endpoint);
