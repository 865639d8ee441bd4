import { configStore, defineConfig } from '../workspaces/configs/configStore.ts';
import { restartParkingJob } from './parkingJob.ts';
import { AdvancedWebhookConfig, initialAdvancedConfig } from './rules/advancedConfig.ts';
import { BasicWebhookConfig, initialBasicConfig } from './rules/basicConfig.ts';
import { enabledBasicTargets } from './rules/matching.ts';
import { settingsRevision } from './webhookSettings.ts';

export const AdvancedWebhookConfigEntity = defineConfig(
  'AdvancedWebhookConfig',
  'Whether and how the advanced webhooks of an API key are delivered',
  {
    schema: AdvancedWebhookConfig,
    initial: initialAdvancedConfig,
    alsoWrite: async (table, tenant) => [await settingsRevision(table, tenant)],
  },
);
export const BasicWebhookConfigEntity = defineConfig(
  'BasicWebhookConfig',
  'The basic webhooks of an API key, with their encrypted auth token',
  {
    schema: BasicWebhookConfig,
    initial: initialBasicConfig,
    async alsoWrite(table, tenant, changed) {
      const [revision, ...releases] = await Promise.all([
        settingsRevision(table, tenant),
        ...enabledBasicTargets(changed).map((endpointId) => restartParkingJob(table, { tenant, endpointId })),
      ]);
      return [revision, ...releases.flat()];
    },
    secrets: [{ group: 'webhookServiceConfig', field: 'authToken', purpose: 'webhookAuthToken', id: 'webhookconfig' }],
  },
);

export const readAdvancedWebhooks = /* @__PURE__ */ configStore(AdvancedWebhookConfigEntity, ['GetItem']);
