import type { SecretBox, SecretOwner } from '../crypto/secretBox.ts';
import { type Change, merge } from '../workspaces/rules/mergeConfig.ts';
import { AdvancedWebhookConfig } from './rules/advanced.ts';
import { BasicWebhookConfig, initialBasicConfig } from './rules/basic.ts';
import { changesConfig, defineConfig, readsConfig } from '../workspaces/configs/configStore.ts';

export const AdvancedWebhookConfigEntity = defineConfig(
  'AdvancedWebhookConfig',
  "Whether and how an API key's advanced webhooks are delivered",
  AdvancedWebhookConfig,
);
export const BasicWebhookConfigEntity = defineConfig(
  'BasicWebhookConfig',
  'The basic webhooks of an API key, their auth token encrypted',
  BasicWebhookConfig,
);

export const readAdvancedWebhooks = /* @__PURE__ */ readsConfig(AdvancedWebhookConfigEntity);
export const writeAdvancedWebhooks = /* @__PURE__ */ changesConfig(AdvancedWebhookConfigEntity);

const authTokenOf = (tenant: string): SecretOwner => ({ tenant, purpose: 'webhookAuthToken', id: 'webhookconfig' });

/** What was sent with the auth token as it is stored: sealed, or empty when it is removed. */
export async function sealAuthToken(
  box: SecretBox,
  tenant: string,
  sent: Change<BasicWebhookConfig>,
): Promise<Change<BasicWebhookConfig>> {
  const authToken = sent.webhookServiceConfig?.authToken;
  return authToken
    ? merge(sent, { webhookServiceConfig: { authToken: await box.seal(authToken, authTokenOf(tenant)) } })
    : sent;
}

/** The basic webhook config with its auth token in clear; what one that was never made reads as when there is none. */
export async function openBasicConfig(
  box: SecretBox,
  tenant: string,
  stored: BasicWebhookConfig = initialBasicConfig,
): Promise<BasicWebhookConfig> {
  const { useWebhookService, webhookServiceConfig } = stored;
  const authToken =
    webhookServiceConfig.authToken && (await box.open(webhookServiceConfig.authToken, authTokenOf(tenant)));
  return { useWebhookService, webhookServiceConfig: { ...webhookServiceConfig, authToken } };
}

export const readBasicWebhooks = /* @__PURE__ */ readsConfig(BasicWebhookConfigEntity);
export const writeBasicWebhooks = /* @__PURE__ */ changesConfig(BasicWebhookConfigEntity);
