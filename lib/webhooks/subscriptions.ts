import type { BasicWebhookConfig } from './rules/basic.ts';
import { MOST_ENDPOINTS, type WebhookEndpoint } from './rules/endpoints.ts';
import { ApiKeyEntity } from '../workspaces/entities.ts';
import { type Table, itemOf } from '../table/table.ts';
import { AdvancedWebhookConfigEntity, BasicWebhookConfigEntity } from './configs.ts';
import { WebhookEndpointEntity } from './endpoints.ts';
import { pages } from '../table/pages.ts';
import { storeCapability } from '../table/storeCapability.ts';

/** The receivers of a tenant's events. */
export interface Subscriptions {
  /** Empty while advanced webhooks are disabled, or withheld by the operator. */
  readonly endpoints: readonly WebhookEndpoint[];
  readonly basic: BasicWebhookConfig | undefined;
}

export class SubscriptionReader {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Reads the current subscriptions of a tenant: one BatchGet, and in parallel one Query per 4 MB of endpoints. */
  async read(tenant: string): Promise<Subscriptions> {
    const [[key, advanced, basic], endpoints] = await Promise.all([
      this.#table.batchGet(
        itemOf(ApiKeyEntity, { apiKey: tenant }),
        itemOf(AdvancedWebhookConfigEntity, { tenant }),
        itemOf(BasicWebhookConfigEntity, { tenant }),
      ),
      this.#endpoints(tenant),
    ]);
    const isAvailable = key !== undefined && !key.withheld?.includes('advancedWebhooks');
    return { endpoints: isAvailable && advanced?.isEnabled ? endpoints : [], basic: key && basic };
  }

  async #endpoints(tenant: string): Promise<WebhookEndpoint[]> {
    const endpoints: WebhookEndpoint[] = [];
    const options = { prefix: ['ENDPOINT'], limit: MOST_ENDPOINTS };
    const read = (after?: string) => this.#table.query(WebhookEndpointEntity, { tenant }, { ...options, after });
    for await (const { values } of pages(read)) endpoints.push(...values);
    return endpoints;
  }
}

export const readSubscriptions = /* @__PURE__ */ storeCapability(SubscriptionReader, ['BatchGetItem', 'Query']);
