import * as z from 'zod';
import { optional } from '../../shared/schema.ts';
import { type Change, HeaderSecret, merge } from '../../workspaces/rules/mergeConfig.ts';
import { defaultWebhookTriggers } from '../../events/rules/catalogue.ts';
import { TriggerMap } from '../../events/rules/triggers.ts';
import { PublicKey, requireKeyToEncrypt } from './encryption.ts';
import { WebhookUrlOrNone } from './urlField.ts';

/** The basic webhook config. Its auth token is stored encrypted, and shown as it was sent. */
export const BasicWebhookConfig = z.object({
  useWebhookService: z.boolean(),
  /** The first three fields are empty until they are sent; the others are absent. */
  webhookServiceConfig: z.object({
    authToken: z.string(),
    rawNotificationUrl: z.string(),
    processedNotificationUrl: z.string(),
    encodeData: z.boolean().optional(),
    encryptData: z.boolean().optional(),
    publicKey: z.string().optional(),
    enableDataProtection: z.boolean().optional(),
    /** By event type: on or off. Absent until the service is enabled or triggers are sent. */
    triggers: z.record(z.string(), z.boolean()).optional(),
  }),
});
export type BasicWebhookConfig = z.output<typeof BasicWebhookConfig>;

/** The fields of an update. An empty string clears the stored value. */
export const BasicConfigChange = z.object({
  useWebhookService: optional(z.boolean()),
  webhookServiceConfig: optional(
    z.object({
      authToken: optional(HeaderSecret),
      rawNotificationUrl: optional(WebhookUrlOrNone),
      processedNotificationUrl: optional(WebhookUrlOrNone),
      encodeData: optional(z.boolean()),
      encryptData: optional(z.boolean()),
      publicKey: optional(PublicKey),
      enableDataProtection: optional(z.boolean()),
      triggers: optional(TriggerMap),
    }),
  ),
});

/** The config of a tenant that never configured basic webhooks. */
export const initialBasicConfig: BasicWebhookConfig = {
  useWebhookService: false,
  webhookServiceConfig: { authToken: '', rawNotificationUrl: '', processedNotificationUrl: '' },
};

const defaultConfig = merge(initialBasicConfig, {
  webhookServiceConfig: { enableDataProtection: false, triggers: defaultWebhookTriggers },
});

/**
 * Returns the config after an update. Sent fields win over stored ones, triggers key by key. An update that turns the service on while no
 * triggers are stored also writes the defaults, below both. Throws INVALID_ARGUMENT if the result would encrypt without a key.
 */
export function changeBasicConfig(
  stored: BasicWebhookConfig = initialBasicConfig,
  sent: Change<BasicWebhookConfig>,
): BasicWebhookConfig {
  const addsDefaults =
    sent.useWebhookService === true && Object.keys(stored.webhookServiceConfig.triggers ?? {}).length === 0;
  const config = merge(addsDefaults ? merge(defaultConfig, stored) : stored, sent);
  requireKeyToEncrypt(config.webhookServiceConfig, ['webhookServiceConfig', 'publicKey']);
  return config;
}
