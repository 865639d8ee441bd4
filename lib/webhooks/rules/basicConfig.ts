import * as z from 'zod';
import { defaultWebhookTriggers } from '../../events/rules/catalogue.ts';
import { TriggerMap } from '../../events/rules/triggers.ts';
import { defineNamedSchema, defineSchema, optional } from '../../shared/schema.ts';
import { type Change, HeaderSecret, merge } from '../../workspaces/rules/mergeConfig.ts';
import { PublicKey, requireKeyToEncrypt } from './encryption.ts';
import { WebhookUrlOrNone } from './urlField.ts';

/** The basic webhook config. The auth token is encrypted in the table. Responses contain it as plain text. */
export const BasicWebhookConfig = /* @__PURE__ */ defineNamedSchema('WebhookConfig', () =>
  z.object({
    useWebhookService: z.boolean(),
    /** Until an update sends values, the token and the URLs are empty strings, and the other fields are absent. */
    webhookServiceConfig: z.object({
      authToken: z.string(),
      rawNotificationUrl: z.string(),
      processedNotificationUrl: z.string(),
      encodeData: z.boolean().optional(),
      encryptData: z.boolean().optional(),
      publicKey: z.string().optional(),
      enableDataProtection: z.boolean().optional(),
      /** Whether events of a type are delivered, by event type. Absent until an update turns the service on or sends triggers. */
      triggers: z.record(z.string(), z.boolean()).optional(),
    }),
  }),
);
export type BasicWebhookConfig = z.output<typeof BasicWebhookConfig>;

const WebhookServiceConfigInput = /* @__PURE__ */ defineNamedSchema('WebhookServiceConfigInput', () =>
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
);

/** The fields that an update can set. An empty string clears the stored value. */
export const BasicConfigChange = /* @__PURE__ */ defineSchema(() =>
  z.object({ useWebhookService: optional(z.boolean()), webhookServiceConfig: optional(WebhookServiceConfigInput) }),
);

/** The config of a tenant that never configured basic webhooks. */
export const initialBasicConfig: BasicWebhookConfig = {
  useWebhookService: false,
  webhookServiceConfig: { authToken: '', rawNotificationUrl: '', processedNotificationUrl: '' },
};

const defaultConfig = merge(initialBasicConfig, {
  webhookServiceConfig: { enableDataProtection: false, triggers: defaultWebhookTriggers },
});

/**
 * Returns the stored config with the sent fields. Triggers are merged by event type. If the update turns the service on and no
 * triggers are stored, missing triggers get their defaults. Throws INVALID_ARGUMENT if the new config encrypts without a public
 * key.
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
