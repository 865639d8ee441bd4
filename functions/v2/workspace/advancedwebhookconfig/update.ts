import * as z from 'zod';
import { writeAdvancedWebhooks } from '../../../../lib/webhooks/configs.ts';
import { requireChange } from '../../../../lib/workspaces/rules/mergeConfig.ts';
import {
  AdvancedConfigChange,
  AdvancedWebhookConfig,
  changeAdvancedConfig,
  requireAvailable,
  toAdvancedConfigResponse,
} from '../../../../lib/webhooks/rules/advanced.ts';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/workspace/advancedwebhookconfig/update',
    summary: 'Change the advanced webhook config; the first change enables advanced webhooks',
    auth: 'apiKey',
    kind: 'write',
    input: AdvancedConfigChange,
    output: z.object({ data: AdvancedWebhookConfig }),
    message: 'Advanced webhook configuration updated successfully.',
    errors: ['FAILED_PRECONDITION', 'ABORTED'],
    uses: { webhooks: writeAdvancedWebhooks },
    impact: 'customers cannot enable, disable or configure advanced webhooks',
    example: {
      data: { isEnabled: true, encodeData: false },
      result: {
        data: { isEnabled: true, encryptData: false, encodeData: false, publicKey: '', enableDataProtection: false },
      },
    },
  },
  async ({ input, caller, deps }) => {
    requireChange(
      input,
      Object.keys(AdvancedConfigChange.shape),
      'At least one of isEnabled, encryptData, encodeData, publicKey or enableDataProtection must be provided.',
    );
    requireAvailable(caller);
    const config = await deps.webhooks.update(caller.tenant, (stored) => changeAdvancedConfig(stored, input));
    return { data: toAdvancedConfigResponse(config) };
  },
);

export const handler = toLambda(endpoint);
