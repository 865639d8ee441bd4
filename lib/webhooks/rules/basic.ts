import * as z from 'zod';
import { optional } from '../../shared/schema.ts';
import { type Change, HeaderSecret, merge } from '../../workspaces/rules/mergeConfig.ts';
import { defaultWebhookTriggers } from '../../events/rules/catalogue.ts';
import { TriggerMap } from '../../events/rules/triggers.ts';
import { PublicKey, requireKeyToEncrypt } from './encryption.ts';
import { WebhookUrlOrNone } from './urlField.ts';

/** The basic webhook config (spec 2): as it is stored, its auth token sealed, and as answers show it, the token in clear. */
export const BasicWebhookConfig = z.object({
  useWebhookService: z.boolean(),
  /** What was never sent is absent; these three texts are empty then. */
  webhookServiceConfig: z.object({
    authToken: z.string(),
    rawNotificationUrl: z.string(),
    processedNotificationUrl: z.string(),
    encodeData: z.boolean().optional(),
    encryptData: z.boolean().optional(),
    publicKey: z.string().optional(),
    enableDataProtection: z.boolean().optional(),
    /** Event type -> on or off; absent until the first enable or until some are sent. */
    triggers: z.record(z.string(), z.boolean()).optional(),
  }),
});
export type BasicWebhookConfig = z.output<typeof BasicWebhookConfig>;

/** What may be sent to change it (spec 4.7). An empty text clears what is stored. */
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

/** What a config that was never made reads as (facts A7). */
export const initialBasicConfig: BasicWebhookConfig = {
  useWebhookService: false,
  webhookServiceConfig: { authToken: '', rawNotificationUrl: '', processedNotificationUrl: '' },
};

const seeded = merge(initialBasicConfig, {
  webhookServiceConfig: { enableDataProtection: false, triggers: defaultWebhookTriggers },
});

/**
 * The config after an update. The first one that turns the service on while no triggers are stored puts the defaults under
 * what is stored (spec 4.7 rule 1, spec 3); what is sent always comes over that (rule 2), triggers key by key.
 * INVALID_ARGUMENT when the result would encrypt without a key.
 */
export function changeBasicConfig(
  stored: BasicWebhookConfig = initialBasicConfig,
  sent: Change<BasicWebhookConfig>,
): BasicWebhookConfig {
  const seeds = sent.useWebhookService === true && Object.keys(stored.webhookServiceConfig.triggers ?? {}).length === 0;
  const config = merge(seeds ? merge(seeded, stored) : stored, sent);
  requireKeyToEncrypt(config.webhookServiceConfig, ['webhookServiceConfig', 'publicKey']);
  return config;
}
