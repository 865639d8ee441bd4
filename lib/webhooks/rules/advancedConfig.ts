import * as z from 'zod';
import { ApiError } from '../../shared/errors.ts';
import type { Feature } from '../../shared/features.ts';
import { defineNamedSchema, defineSchema, optional } from '../../shared/schema.ts';
import { type Change, merge } from '../../workspaces/rules/mergeConfig.ts';
import { bodyTexts, PublicKey, requireKeyToEncrypt } from './encryption.ts';

const texts = { isEnabled: 'Whether events are sent to the endpoints. By default false.' } as const;

export const AdvancedWebhookConfig = /* @__PURE__ */ defineNamedSchema('AdvancedWebhookConfig', () =>
  z
    .object({
      isEnabled: z.boolean().describe(texts.isEnabled),
      encryptData: z.boolean().describe(bodyTexts.encryptData),
      encodeData: z.boolean().describe(bodyTexts.encodeData),
      publicKey: z.string().describe(bodyTexts.publicKey),
      enableDataProtection: z.boolean().describe(bodyTexts.enableDataProtection),
    })
    .describe('Whether and how advanced webhooks of the API key are delivered.'),
);
export type AdvancedWebhookConfig = z.output<typeof AdvancedWebhookConfig>;

export const initialAdvancedConfig: AdvancedWebhookConfig = {
  isEnabled: false,
  encryptData: false,
  encodeData: false,
  publicKey: '',
  enableDataProtection: false,
};

export const AdvancedConfigChange = /* @__PURE__ */ defineSchema(() =>
  z.object({
    isEnabled: optional(z.boolean()).describe(texts.isEnabled),
    encryptData: optional(z.boolean()).describe(bodyTexts.encryptData),
    encodeData: optional(z.boolean()).describe(bodyTexts.encodeData),
    publicKey: optional(PublicKey).describe(bodyTexts.publicKey),
    enableDataProtection: optional(z.boolean()).describe(bodyTexts.enableDataProtection),
  }),
);

const ENABLE = 'POST /v2/workspace/advancedwebhookconfig/update with { "isEnabled": true }';

/**
 * Throws FAILED_PRECONDITION if no config is stored and the update does not enable advanced webhooks, and
 * INVALID_ARGUMENT if the new config encrypts without a public key.
 */
export function changeAdvancedConfig(
  stored: AdvancedWebhookConfig | undefined,
  sent: Change<AdvancedWebhookConfig>,
): AdvancedWebhookConfig {
  if (!stored && sent.isEnabled !== true) {
    throw new ApiError(
      'FAILED_PRECONDITION',
      'Advanced webhooks are not configured for this workspace. The first configuration must have isEnabled: true.',
    );
  }
  const config = merge(stored ?? initialAdvancedConfig, sent);
  requireKeyToEncrypt(config, ['publicKey']);
  return config;
}

interface FeatureAccess {
  readonly withheld: readonly Feature[];
}

export function requireAvailable({ withheld }: FeatureAccess): void {
  if (withheld.includes('advancedWebhooks'))
    throw new ApiError('FAILED_PRECONDITION', 'Advanced webhooks are not available for this workspace.');
}

export function requireEnabled(caller: FeatureAccess, config: AdvancedWebhookConfig | undefined): void {
  requireAvailable(caller);
  if (!config?.isEnabled)
    throw new ApiError(
      'FAILED_PRECONDITION',
      `Advanced webhooks are disabled for this workspace. Enable them via ${ENABLE}.`,
    );
}

export function requireEnabledToList(caller: FeatureAccess, config: AdvancedWebhookConfig | undefined): void {
  requireAvailable(caller);
  if (!config)
    throw new ApiError(
      'FAILED_PRECONDITION',
      `Advanced webhooks are not configured for this workspace. Enable them first via ${ENABLE}.`,
    );
  requireEnabled(caller, config);
}
