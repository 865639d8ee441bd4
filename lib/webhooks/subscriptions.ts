import { combine } from '../app/capability.ts';
import { ApiKeyEntity } from '../http/entities.ts';
import { BoundedMap } from '../shared/boundedMap.ts';
import { BatchReader } from '../table/batchReader.ts';
import type { Stored } from '../table/entity.ts';
import { pages } from '../table/pages.ts';
import { tableWith } from '../table/storeCapability.ts';
import { itemOf, type ItemRead, type Table } from '../table/table.ts';
import { WebhookEndpointEntity } from './endpoints.ts';
import type { AdvancedWebhookConfig } from './rules/advancedConfig.ts';
import type { BasicWebhookConfig } from './rules/basicConfig.ts';
import { MAX_ENDPOINTS, type WebhookEndpoint } from './rules/endpoints.ts';
import { AdvancedWebhookConfigEntity, BasicWebhookConfigEntity } from './webhookConfigs.ts';
import { type WebhookSettings, WebhookSettingsEntity } from './webhookSettings.ts';

export type SubscribedEndpoint = Pick<
  Stored<WebhookEndpoint>,
  '_r' | 'endpointId' | 'url' | 'disabled' | 'filterTypes' | 'channels' | 'rateLimit' | 'secrets'
>;

export interface Subscriptions {
  readonly endpoints: ReadonlyMap<string, SubscribedEndpoint>;
  readonly advanced: AdvancedWebhookConfig | undefined;
  readonly basic: Stored<BasicWebhookConfig> | undefined;
}

interface CachedSubscriptions {
  readonly revision: number;
  readonly subscriptions: Promise<Subscriptions>;
}

const MAX_CACHED_TENANTS = 200;

const readers = new WeakMap<Table, SubscriptionReader>();

/**
 * Settings in memory are used only after a consistent read of the tenant's settings item has returned no newer
 * revision. Every change of a setting increases the revision.
 */
export class SubscriptionReader {
  readonly #table: Table;
  readonly #reader: BatchReader;
  readonly #cache = new BoundedMap<string, CachedSubscriptions>(MAX_CACHED_TENANTS);

  constructor(table: Table) {
    this.#table = table;
    this.#reader = BatchReader.of(table);
  }

  static of(table: Table): SubscriptionReader {
    const reader = readers.get(table) ?? new SubscriptionReader(table);
    readers.set(table, reader);
    return reader;
  }

  /** No receivers for a deleted API key, and no advanced endpoints if advanced webhooks are off or withheld. */
  async read(tenant: string): Promise<Subscriptions> {
    const [key, settings] = await this.#reader.batchGet(itemOf(ApiKeyEntity, { apiKey: tenant }), settingsItem(tenant));
    if (!key) return { endpoints: new Map(), advanced: undefined, basic: undefined };
    const current = await this.readAt(tenant, settings);
    const isAvailable = !key.withheld?.includes('advancedWebhooks') && current.advanced?.isEnabled;
    return isAvailable ? current : { ...current, endpoints: new Map() };
  }

  /** Costs one read if the process keeps the settings. */
  async current(tenant: string): Promise<Subscriptions> {
    const [settings] = await this.#reader.batchGet(settingsItem(tenant));
    return this.readAt(tenant, settings);
  }

  /** At the revision of `settings`, which the caller has just read, or newer. */
  async readAt(tenant: string, settings: Stored<WebhookSettings> | undefined): Promise<Subscriptions> {
    const revision = settings?._r ?? 0;
    const cached = this.#cache.get(tenant);
    const isCurrent = cached !== undefined && cached.revision >= revision;
    const current = isCurrent ? cached : { revision, subscriptions: this.#load(tenant) };
    this.#cache.set(tenant, current);
    try {
      return await current.subscriptions;
    } catch (error) {
      if (this.#cache.get(tenant) === current) this.#cache.delete(tenant);
      throw error;
    }
  }

  async #load(tenant: string): Promise<Subscriptions> {
    const [[advanced, basic], endpoints] = await Promise.all([
      this.#table.batchGet(
        itemOf(AdvancedWebhookConfigEntity, { tenant }),
        itemOf(BasicWebhookConfigEntity, { tenant }),
      ),
      this.#endpoints(tenant),
    ]);
    return { endpoints, advanced, basic };
  }

  async #endpoints(tenant: string): Promise<Map<string, SubscribedEndpoint>> {
    const endpoints = new Map<string, SubscribedEndpoint>();
    const options = { prefix: ['ENDPOINT'], limit: MAX_ENDPOINTS };
    const read = (after?: string) => this.#table.query(WebhookEndpointEntity, { tenant }, { ...options, after });
    for await (const { values } of pages(read))
      for (const { endpointId, url, disabled, filterTypes, channels, rateLimit, secrets, _r } of values)
        endpoints.set(endpointId, { endpointId, url, disabled, filterTypes, channels, rateLimit, secrets, _r });
    return endpoints;
  }
}

export function settingsItem(tenant: string): ItemRead<WebhookSettings> {
  return itemOf(WebhookSettingsEntity, { tenant });
}

export const readSubscriptions = /* @__PURE__ */ combine(
  { table: /* @__PURE__ */ tableWith(['BatchGetItem', 'Query']) },
  ({ table }) => SubscriptionReader.of(table),
);
