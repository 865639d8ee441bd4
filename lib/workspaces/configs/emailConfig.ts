import type { SecretBox, SecretOwner } from '../../crypto/secretBox.ts';
import { type Change, merge } from '../rules/mergeConfig.ts';
import { EmailConfig, initialEmailConfig } from '../rules/emailConfig.ts';
import { changesConfig, defineConfig, readsConfig } from './configStore.ts';

export const EmailConfigEntity = defineConfig(
  'EmailConfig',
  "Which events are mailed, and how; the provider's key encrypted",
  EmailConfig,
);

const providerKeyOf = (tenant: string): SecretOwner => ({ tenant, purpose: 'emailProviderKey', id: 'emailconfig' });

/** What was sent with the provider's key as it is stored: sealed, or empty when it is removed. */
export async function sealProviderKey(
  box: SecretBox,
  tenant: string,
  sent: Change<EmailConfig>,
): Promise<Change<EmailConfig>> {
  const apiKey = sent.emailServiceConfig?.apiKey;
  return apiKey ? merge(sent, { emailServiceConfig: { apiKey: await box.seal(apiKey, providerKeyOf(tenant)) } }) : sent;
}

/** The configuration with the provider's key in clear; what one that was never made reads as when there is none. */
export async function openEmailConfig(
  box: SecretBox,
  tenant: string,
  stored: EmailConfig = initialEmailConfig,
): Promise<EmailConfig> {
  const { useEmailService, emailServiceConfig } = stored;
  const apiKey = emailServiceConfig.apiKey && (await box.open(emailServiceConfig.apiKey, providerKeyOf(tenant)));
  return { useEmailService, emailServiceConfig: { ...emailServiceConfig, apiKey } };
}

export const readEmailConfig = /* @__PURE__ */ readsConfig(EmailConfigEntity);
export const writeEmailConfig = /* @__PURE__ */ changesConfig(EmailConfigEntity);
