import { configStore, defineConfig } from '../workspaces/configs/configStore.ts';
import { AdvancedWebhookConfig, initialAdvancedConfig } from './rules/advancedConfig.ts';
import { BasicWebhookConfig, initialBasicConfig } from './rules/basicConfig.ts';
import { settingsRevision } from './webhookSettings.ts';

export const AdvancedWebhookConfigEntity = defineConfig(
  'AdvancedWebhookConfig',
  'Whether and how the advanced webhooks of an API key are delivered',
  { schema: AdvancedWebhookConfig, initial: initialAdvancedConfig, alsoWrite: settingsRevision },
);
export const BasicWebhookConfigEntity = defineConfig(
  'BasicWebhookConfig',
  'The basic webhooks of an API key, with their encrypted auth token',
  {
    schema: BasicWebhookConfig,
    initial: initialBasicConfig,
    alsoWrite: settingsRevision,
    secret: { group: 'webhookServiceConfig', field: 'authToken', purpose: 'webhookAuthToken', id: 'webhookconfig' },
  },
);

export const readAdvancedWebhooks = /* @__PURE__ */ configStore(AdvancedWebhookConfigEntity, ['GetItem']);
