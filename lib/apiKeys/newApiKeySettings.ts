import { ChatConfigEntity } from '../chat/chatConfig.ts';
import type { SecretBox } from '../crypto/secretBox.ts';
import { insert, type WriteOp } from '../table/table.ts';
import { BasicWebhookConfigEntity } from '../webhooks/webhookConfigs.ts';
import { AllowedDomainsEntity } from '../workspaces/allowedDomains.ts';
import { ApiKeyConfigEntity } from '../workspaces/configs/apiKeyConfig.ts';
import { mapSecrets } from '../workspaces/configs/configStore.ts';
import { EmailConfigEntity } from '../workspaces/configs/emailConfig.ts';
import { NotificationConfigEntity } from '../workspaces/configs/notificationConfig.ts';
import { initialConfigs, type NewApiKeySettings } from './rules.ts';

/** Returns the writes of the configurations that the request sets, and no others. */
export async function newApiKeySettingsOps(
  box: SecretBox,
  apiKey: string,
  sent: NewApiKeySettings,
): Promise<WriteOp[]> {
  const { useEmailService, emailServiceConfig, useWebhookService, webhookServiceConfig } = sent;
  const { useChatService, chatServiceConfig } = sent;
  const sealed = {
    email: await mapSecrets('seal', EmailConfigEntity, box, apiKey, { useEmailService, emailServiceConfig }),
    chat: await mapSecrets('seal', ChatConfigEntity, box, apiKey, { useChatService, chatServiceConfig }),
    webhooks: await mapSecrets('seal', BasicWebhookConfigEntity, box, apiKey, {
      useWebhookService,
      webhookServiceConfig,
    }),
  };
  const { domains, email, chat, webhooks, notifications, settings } = initialConfigs(sent, sealed);
  const tenant = apiKey;
  return [
    ...(domains ? [insert(AllowedDomainsEntity, { tenant, domains })] : []),
    ...(email ? [insert(EmailConfigEntity, { tenant, ...email })] : []),
    ...(chat ? [insert(ChatConfigEntity, { tenant, ...chat })] : []),
    ...(webhooks ? [insert(BasicWebhookConfigEntity, { tenant, ...webhooks })] : []),
    ...(notifications ? [insert(NotificationConfigEntity, { tenant, ...notifications })] : []),
    ...(settings ? [insert(ApiKeyConfigEntity, { tenant, ...settings })] : []),
  ];
}
