import * as z from 'zod';
import { defaultWebhookTriggers } from '../../events/rules/catalogue.ts';
import { TriggerMap } from '../../events/rules/triggers.ts';
import { defineNamedSchema, defineSchema, optional } from '../../shared/schema.ts';
import { type Change, HeaderSecret, merge } from '../../workspaces/rules/mergeConfig.ts';
import { bodyTexts, PublicKey, requireKeyToEncrypt } from './encryption.ts';
import { WebhookUrlOrNone } from './urlField.ts';

const texts = {
  useWebhookService:
    'Whether events are sent. By default false. The first `true` sets the default triggers: comments and huddles, except suggestions.',
  webhookServiceConfig: 'Where events are sent, which ones, and how.',
  authToken:
    'The secret of the receiver, stored encrypted. It is sent as `Authorization: Basic <authToken>`, and its bytes are the key of the signature. Empty means neither.',
  rawNotificationUrl:
    'The http(s) URL that gets events as they are stored. Loopback, private and reserved addresses are refused. Empty means none.',
  processedNotificationUrl:
    'The http(s) URL that gets events with filled-in templates, names and recipients. Loopback, private and reserved addresses are refused. Empty means none.',
} as const;

/** The auth token is encrypted in the table. Responses contain it as plain text. */
export const BasicWebhookConfig = /* @__PURE__ */ defineNamedSchema('WebhookConfig', () =>
  z
    .object({
      useWebhookService: z.boolean().describe(texts.useWebhookService),
      webhookServiceConfig: z
        .object({
          authToken: z.string().describe(texts.authToken),
          rawNotificationUrl: z.string().describe(texts.rawNotificationUrl),
          processedNotificationUrl: z.string().describe(texts.processedNotificationUrl),
          encodeData: z.boolean().optional().describe(bodyTexts.encodeData),
          encryptData: z.boolean().optional().describe(bodyTexts.encryptData),
          publicKey: z.string().optional().describe(bodyTexts.publicKey),
          enableDataProtection: z.boolean().optional().describe(bodyTexts.enableDataProtection),
          triggers: z
            .record(z.string(), z.boolean())
            .optional()
            .describe(
              'Whether events are sent, by type. Absent until an update enables the service or sends triggers.',
            ),
        })
        .describe(texts.webhookServiceConfig),
    })
    .describe(
      'Whether and how basic webhooks of the API key are delivered. Fields that were never set are empty or absent.',
    ),
);
export type BasicWebhookConfig = z.output<typeof BasicWebhookConfig>;

const WebhookServiceConfigInput = /* @__PURE__ */ defineNamedSchema('WebhookServiceConfigInput', () =>
  z
    .object({
      authToken: optional(HeaderSecret).describe(texts.authToken),
      rawNotificationUrl: optional(WebhookUrlOrNone).describe(texts.rawNotificationUrl),
      processedNotificationUrl: optional(WebhookUrlOrNone).describe(texts.processedNotificationUrl),
      encodeData: optional(z.boolean()).describe(bodyTexts.encodeData),
      encryptData: optional(z.boolean()).describe(bodyTexts.encryptData),
      publicKey: optional(PublicKey).describe(bodyTexts.publicKey),
      enableDataProtection: optional(z.boolean()).describe(bodyTexts.enableDataProtection),
      triggers: optional(TriggerMap).describe('Which events are sent. A trigger that was never set is off.'),
    })
    .describe('The fields of the configuration of basic webhooks to change. An empty text removes a value.'),
);

export const BasicConfigChange = /* @__PURE__ */ defineSchema(() =>
  z.object({
    useWebhookService: optional(z.boolean()).describe(texts.useWebhookService),
    webhookServiceConfig: optional(WebhookServiceConfigInput).describe(texts.webhookServiceConfig),
  }),
);

export const initialBasicConfig: BasicWebhookConfig = {
  useWebhookService: false,
  webhookServiceConfig: { authToken: '', rawNotificationUrl: '', processedNotificationUrl: '' },
};

const defaultConfig = merge(initialBasicConfig, {
  webhookServiceConfig: { enableDataProtection: false, triggers: defaultWebhookTriggers },
});

/**
 * If the service is turned on while no triggers are stored, triggers that are not sent get their defaults. Throws
 * INVALID_ARGUMENT if the new config encrypts without a public key.
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
