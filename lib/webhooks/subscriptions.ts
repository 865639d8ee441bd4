import type { BasicWebhookConfig } from './rules/basic.ts';
import { MOST_ENDPOINTS, type WebhookEndpoint } from './rules/endpoints.ts';
import { ApiKeyEntity } from '../workspaces/entities.ts';
import { type Table, itemOf } from '../table/table.ts';
import { AdvancedWebhookConfigEntity, BasicWebhookConfigEntity } from './configs.ts';
import { WebhookEndpointEntity } from './endpoints.ts';
import { storeCapability } from '../table/storeCapability.ts';

/** What a tenant has that events can be delivered to. */
export interface Subscriptions {
  /** None while advanced webhooks are disabled, or withheld by the operator. */
  readonly endpoints: readonly WebhookEndpoint[];
  readonly basic: BasicWebhookConfig | undefined;
}

export class SubscriptionReader {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** The subscriptions of a tenant as they are now: one BatchGet, and beside it a Query, of which a page holds about 4 MB. */
  async of(tenant: string): Promise<Subscriptions> {
    const [[key, advanced, basic], endpoints] = await Promise.all([
      this.#table.batchGet(
        itemOf(ApiKeyEntity, { apiKey: tenant }),
        itemOf(AdvancedWebhookConfigEntity, { tenant }),
        itemOf(BasicWebhookConfigEntity, { tenant }),
      ),
      this.#endpoints(tenant),
    ]);
    const offered = key !== undefined && !key.withheld?.includes('advancedWebhooks');
    return { endpoints: offered && advanced?.isEnabled ? endpoints : [], basic: key && basic };
  }

  async #endpoints(tenant: string): Promise<WebhookEndpoint[]> {
    const endpoints: WebhookEndpoint[] = [];
    let after: string | undefined;
    do {
      const { values, next } = await this.#table.query(
        WebhookEndpointEntity,
        { tenant },
        { prefix: ['ENDPOINT'], limit: MOST_ENDPOINTS, after },
      );
      endpoints.push(...values);
      after = next;
    } while (after !== undefined);
    return endpoints;
  }
}

export const readSubscriptions = /* @__PURE__ */ storeCapability(SubscriptionReader, ['BatchGetItem', 'Query']);
