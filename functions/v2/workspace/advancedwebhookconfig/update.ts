import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { requireChange } from '../../../../lib/shared/schema.ts';
import {
  AdvancedConfigChange,
  changeAdvancedConfig,
  requireAvailable,
} from '../../../../lib/webhooks/rules/advancedConfig.ts';
import { AdvancedWebhookConfigEntity } from '../../../../lib/webhooks/webhookConfigs.ts';
import { configEndpoints } from '../../../../lib/workspaces/configs/configEndpoints.ts';

export const endpoint = defineEndpoint(
  {
    ...configEndpoints(AdvancedWebhookConfigEntity).update,
    path: '/v2/workspace/advancedwebhookconfig/update',
    summary: 'Change the advanced webhook config. The first change enables advanced webhooks',
    description:
      'The settings hold for all endpoints of the API key. Sent fields replace the stored ones, and others stay. FAILED_PRECONDITION means that the first change has no `isEnabled: true`, or that the operator withholds advanced webhooks from the workspace. Then create receivers: `/v2/workspace/advancedwebhook/endpoints/create`.',
    input: AdvancedConfigChange.check(
      requireChange(
        Object.keys(AdvancedConfigChange.shape),
        'At least one of isEnabled, encryptData, encodeData, publicKey or enableDataProtection must be provided.',
      ),
    ),
    message: 'Advanced webhook configuration updated successfully.',
    errors: ['FAILED_PRECONDITION', 'ABORTED'],
    impact: 'customers cannot enable, disable or configure advanced webhooks',
    example: {
      data: { isEnabled: true, encodeData: false },
      result: {
        data: { isEnabled: true, encryptData: false, encodeData: false, publicKey: '', enableDataProtection: false },
      },
    },
  },
  async ({ input, caller, deps }) => {
    requireAvailable(caller);
    return { data: await deps.config.update(caller.tenant, input, changeAdvancedConfig) };
  },
);

export const handler = toLambda(endpoint);
