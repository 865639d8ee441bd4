import type { Capability } from '../../capability.ts';
import type { SecretBox, SecretOwner } from '../../crypto/secretBox.ts';
import { type Change, merge } from '../../domain/configs.ts';
import { AdvancedWebhookConfig, type AdvancedWebhooks } from '../../domain/webhooks/advanced.ts';
import { BasicWebhookConfig, initialBasicConfig } from '../../domain/webhooks/basic.ts';
import { ConfigStore, defineConfig } from '../configs.ts';
import { openTable, type Table } from '../table.ts';
import { FeaturesEntity } from './features.ts';

export const AdvancedWebhookConfigEntity = defineConfig('AdvancedWebhookConfig', 'Whether and how an API key\'s advanced webhooks are delivered', AdvancedWebhookConfig);
export const BasicWebhookConfigEntity = defineConfig('BasicWebhookConfig', 'The basic webhooks of an API key, their auth token encrypted', BasicWebhookConfig);

/** The advanced webhook config of an API key, and whether the operator offers advanced webhooks to it. */
export class AdvancedWebhookStore {
  readonly #table: Table;
  readonly #configs: ConfigStore<AdvancedWebhookConfig>;

  constructor(table: Table) {
    this.#table = table;
    this.#configs = new ConfigStore(table, AdvancedWebhookConfigEntity);
  }

  async available(tenant: string): Promise<boolean> {
    const features = await this.#table.get(FeaturesEntity, { tenant });
    return features?.advancedWebhooks ?? true;
  }

  /** Both, read at the same time. */
  async get(tenant: string): Promise<AdvancedWebhooks> {
    const [available, config] = await Promise.all([this.available(tenant), this.#configs.get(tenant)]);
    return { available, config };
  }

  /** As `ConfigStore.update`. */
  async update(tenant: string, change: (stored: AdvancedWebhookConfig | undefined) => AdvancedWebhookConfig): Promise<AdvancedWebhookConfig> {
    return this.#configs.update(tenant, change);
  }
}

export const readAdvancedWebhooks: Capability<Pick<AdvancedWebhookStore, 'get'>> = {
  grants: [{ resource: 'table', actions: ['GetItem'] }],
  env: ['TABLE_NAME'],
  open: (env) => new AdvancedWebhookStore(openTable(env)),
};

export const writeAdvancedWebhooks: Capability<Pick<AdvancedWebhookStore, 'available' | 'update'>> = {
  grants: [{ resource: 'table', actions: ['GetItem', 'PutItem'] }],
  env: ['TABLE_NAME'],
  open: (env) => new AdvancedWebhookStore(openTable(env)),
};

const authTokenOf = (tenant: string): SecretOwner => ({ tenant, purpose: 'webhookAuthToken', id: 'webhookconfig' });

/** What was sent with the auth token as it is stored: sealed, or empty when it is removed. */
export async function sealAuthToken(box: SecretBox, tenant: string, sent: Change<BasicWebhookConfig>): Promise<Change<BasicWebhookConfig>> {
  const authToken = sent.webhookServiceConfig?.authToken;
  return authToken ? merge(sent, { webhookServiceConfig: { authToken: await box.seal(authToken, authTokenOf(tenant)) } }) : sent;
}

/** The basic webhook config with its auth token in clear; what one that was never made reads as when there is none. */
export async function openBasicConfig(box: SecretBox, tenant: string, stored: BasicWebhookConfig = initialBasicConfig): Promise<BasicWebhookConfig> {
  const { useWebhookService, webhookServiceConfig } = stored;
  const authToken = webhookServiceConfig.authToken && (await box.open(webhookServiceConfig.authToken, authTokenOf(tenant)));
  return { useWebhookService, webhookServiceConfig: { ...webhookServiceConfig, authToken } };
}

export const readBasicWebhooks: Capability<Pick<ConfigStore<BasicWebhookConfig>, 'get'>> = {
  grants: [{ resource: 'table', actions: ['GetItem'] }],
  env: ['TABLE_NAME'],
  open: (env) => new ConfigStore(openTable(env), BasicWebhookConfigEntity),
};

export const writeBasicWebhooks: Capability<Pick<ConfigStore<BasicWebhookConfig>, 'update'>> = {
  grants: [{ resource: 'table', actions: ['GetItem', 'PutItem'] }],
  env: ['TABLE_NAME'],
  open: (env) => new ConfigStore(openTable(env), BasicWebhookConfigEntity),
};
