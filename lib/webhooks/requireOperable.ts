import { type Capability, combine } from '../app/capability.ts';
import type { ApiKeyCaller } from '../app/endpoint.ts';
import { ApiError } from '../shared/errors.ts';
import { tableWith } from '../table/storeCapability.ts';
import { itemOf, type Table } from '../table/table.ts';
import { WebhookEndpointEntity } from './endpoints.ts';
import { requireEnabled } from './rules/advancedConfig.ts';
import { endpointNotFound } from './rules/endpoints.ts';
import { basicUrl, isBasicTarget } from './rules/matching.ts';
import { AdvancedWebhookConfigEntity, BasicWebhookConfigEntity } from './webhookConfigs.ts';

/**
 * FAILED_PRECONDITION if advanced webhooks are off or withheld, or the endpoint is disabled. NOT_FOUND if the endpoint
 * does not exist, or a basic target has no URL or is off.
 */
export type RequireOperable = (caller: Pick<ApiKeyCaller, 'tenant' | 'withheld'>, endpointId: string) => Promise<void>;

function operableIn(table: Table): RequireOperable {
  return async (caller, endpointId) => {
    const { tenant } = caller;
    const [config, basic, endpoint] = await table.batchGet(
      itemOf(AdvancedWebhookConfigEntity, { tenant }),
      itemOf(BasicWebhookConfigEntity, { tenant }),
      itemOf(WebhookEndpointEntity, { tenant, endpointId }),
    );
    requireEnabled(caller, config);
    if (isBasicTarget(endpointId) && basic && basicUrl(basic, endpointId)) return;
    if (!endpoint) throw endpointNotFound();
    if (endpoint.disabled)
      throw new ApiError(
        'FAILED_PRECONDITION',
        'The endpoint is disabled. Enable it with POST /v2/workspace/advancedwebhook/endpoints/update with { "disabled": false }.',
      );
  };
}

export const requireOperable: Capability<RequireOperable> = /* @__PURE__ */ combine(
  { table: /* @__PURE__ */ tableWith(['BatchGetItem']) },
  ({ table }) => operableIn(table),
);
