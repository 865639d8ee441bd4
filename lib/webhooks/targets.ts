import type { Stored } from '../table/entity.ts';
import { itemOf, type ItemRead } from '../table/table.ts';
import { WebhookEndpointEntity } from './endpoints.ts';
import type { BasicWebhookConfig } from './rules/basicConfig.ts';
import { basicUrl, isBasicTarget } from './rules/matching.ts';
import type { SubscribedEndpoint, Subscriptions } from './subscriptions.ts';
import { BasicWebhookConfigEntity } from './webhookConfigs.ts';

export interface EndpointKey {
  readonly tenant: string;
  readonly endpointId: string;
}

export type Target =
  | {
      readonly kind: 'advanced';
      readonly url: string;
      readonly rateLimit: number | undefined;
      readonly endpoint: SubscribedEndpoint;
    }
  | {
      readonly kind: 'basic';
      readonly url: string;
      readonly rateLimit: undefined;
      readonly config: BasicWebhookConfig;
    };

export function targetOf({ endpoints, basic }: Subscriptions, endpointId: string): Stored<Target> | undefined {
  return isBasicTarget(endpointId) ? basicTarget(basic, endpointId) : advancedTarget(endpoints.get(endpointId));
}

/** For `batchGet`, whose result is undefined if nothing can be sent to the target. */
export function targetItem({ tenant, endpointId }: EndpointKey): ItemRead<Target> {
  if (isBasicTarget(endpointId)) {
    const { key, fromItem } = itemOf(BasicWebhookConfigEntity, { tenant });
    return { key, fromItem: (item, now) => basicTarget(fromItem(item, now), endpointId) };
  }
  const { key, fromItem } = itemOf(WebhookEndpointEntity, { tenant, endpointId });
  return { key, fromItem: (item, now) => advancedTarget(fromItem(item, now)) };
}

function basicTarget(
  config: Stored<BasicWebhookConfig> | undefined,
  endpointId: Parameters<typeof basicUrl>[1],
): Stored<Target> | undefined {
  const url = config && basicUrl(config, endpointId);
  return config && url ? { kind: 'basic', url, rateLimit: undefined, config, _r: config._r } : undefined;
}

function advancedTarget(endpoint: SubscribedEndpoint | undefined): Stored<Target> | undefined {
  if (!endpoint || endpoint.disabled) return undefined;
  const { url, rateLimit, _r } = endpoint;
  return { kind: 'advanced', url, rateLimit, endpoint, _r };
}
