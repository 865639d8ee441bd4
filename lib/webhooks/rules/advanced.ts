import * as z from 'zod';
import { ApiError } from '../../shared/errors.ts';
import type { Feature } from '../../shared/features.ts';
import { optional } from '../../shared/schema.ts';
import { type Change, merge } from '../../workspaces/rules/mergeConfig.ts';
import { PublicKey, requireKeyToEncrypt } from './encryption.ts';

/** The advanced webhook config (spec 2), as it is stored and shown. */
export const AdvancedWebhookConfig = z.object({
  isEnabled: z.boolean(),
  encryptData: z.boolean(),
  encodeData: z.boolean(),
  publicKey: z.string(),
  enableDataProtection: z.boolean(),
});
export type AdvancedWebhookConfig = z.output<typeof AdvancedWebhookConfig>;

/** What a config that was never made reads as (spec 2). */
export const initialAdvancedConfig: AdvancedWebhookConfig = {
  isEnabled: false,
  encryptData: false,
  encodeData: false,
  publicKey: '',
  enableDataProtection: false,
};

/** What may be sent to change it. */
export const AdvancedConfigChange = z.object({
  isEnabled: optional(z.boolean()),
  encryptData: optional(z.boolean()),
  encodeData: optional(z.boolean()),
  publicKey: optional(PublicKey),
  enableDataProtection: optional(z.boolean()),
});

const ENABLE = 'POST /v2/workspace/advancedwebhookconfig/update with { "isEnabled": true }';

/**
 * The config with the sent fields over it (spec 4.5): the others keep their values, and the first config of all must
 * enable (spec 3), else FAILED_PRECONDITION. INVALID_ARGUMENT when the result would encrypt without a key.
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


/** The features that the operator withholds from the caller. */
interface Offered {
  readonly withheld: readonly Feature[];
}

/** FAILED_PRECONDITION where the operator does not offer advanced webhooks (spec 4.6). */
export function requireAvailable({ withheld }: Offered): void {
  if (withheld.includes('advancedWebhooks'))
    throw new ApiError('FAILED_PRECONDITION', 'Advanced webhooks are not available for this workspace.');
}

/** FAILED_PRECONDITION unless advanced webhooks are available and enabled: what every call about endpoints needs (spec 3, 4.3, 4.4). */
export function requireEnabled(caller: Offered, config: AdvancedWebhookConfig | undefined): void {
  requireAvailable(caller);
  if (!config?.isEnabled)
    throw new ApiError(
      'FAILED_PRECONDITION',
      `Advanced webhooks are disabled for this workspace. Enable them via ${ENABLE}.`,
    );
}

/** The same for the list of endpoints, which tells what was never configured from what was disabled (facts B3). */
export function requireEnabledToList(caller: Offered, config: AdvancedWebhookConfig | undefined): void {
  requireAvailable(caller);
  if (!config)
    throw new ApiError(
      'FAILED_PRECONDITION',
      `Advanced webhooks are not configured for this workspace. Enable them first via ${ENABLE}.`,
    );
  requireEnabled(caller, config);
}
