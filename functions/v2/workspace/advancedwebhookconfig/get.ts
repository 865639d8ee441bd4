import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { initialAdvancedConfig, requireAvailable } from '../../../../lib/webhooks/rules/advancedConfig.ts';
import { AdvancedWebhookConfigEntity } from '../../../../lib/webhooks/webhookConfigs.ts';
import { configEndpoints } from '../../../../lib/workspaces/configs/configEndpoints.ts';

export const endpoint = defineEndpoint(
  {
    ...configEndpoints(AdvancedWebhookConfigEntity).get,
    path: '/v2/workspace/advancedwebhookconfig/get',
    summary: 'Get the advanced webhook config',
    description:
      'Before the first change, the answer has the defaults. FAILED_PRECONDITION means that the operator withholds advanced webhooks from the workspace. To enable them, call `/v2/workspace/advancedwebhookconfig/update`.',
    message: 'Advanced webhook configuration retrieved successfully.',
    errors: ['FAILED_PRECONDITION'],
    impact: 'customers cannot see how their advanced webhooks are configured',
    example: { data: {}, result: { data: { ...initialAdvancedConfig, isEnabled: true } } },
  },
  async ({ caller, deps }) => {
    requireAvailable(caller);
    return { data: await deps.config.getOrInitial(caller.tenant) };
  },
);

export const handler = toLambda(endpoint);
