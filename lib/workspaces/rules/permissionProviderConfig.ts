import * as z from 'zod';
import { invalid } from '../../shared/errors.ts';
import type { AddressPolicy } from '../../net/addressPolicy.ts';
import { hasBlockedPort, LONGEST_URL, parseHttpUrl } from '../../net/httpUrl.ts';
import { optional } from '../../shared/schema.ts';
import { HeaderSecret } from './mergeConfig.ts';
import { requireAllowedUrls } from '../../net/allowedUrls.ts';

/** The configuration of the customer's own permission provider (facts C1): as it is stored, its token sealed, and as answers show it. */
export const PermissionProviderConfig = z.object({
  usePermissionProvider: z.boolean(),
  permissionProviderConfig: z.object({ permissionProviderUrl: z.string(), authToken: z.string() }),
});
export type PermissionProviderConfig = z.output<typeof PermissionProviderConfig>;

/** What may be sent to change it. The empty text removes what is stored. */
export const PermissionProviderConfigChange = z.object({
  usePermissionProvider: optional(z.boolean()),
  permissionProviderConfig: optional(
    z.object({
      permissionProviderUrl: optional(z.string().max(LONGEST_URL)),
      authToken: optional(HeaderSecret),
    }),
  ),
});

/** What a configuration that was never made reads as. */
export const initialPermissionProviderConfig: PermissionProviderConfig = {
  usePermissionProvider: false,
  permissionProviderConfig: { permissionProviderUrl: '', authToken: '' },
};

/**
 * INVALID_ARGUMENT unless the URL is empty or one that this service may call: http(s), without a name or password, which
 * would be a secret in clear, and not to an address that is not public.
 */
export function requireProviderUrl(permissionProviderUrl: string | undefined, policy: AddressPolicy): void {
  if (!permissionProviderUrl) return;
  const url = parseHttpUrl(permissionProviderUrl);
  if (!url || url.username || url.password || hasBlockedPort(url)) {
    throw invalid({
      path: ['permissionProviderConfig', 'permissionProviderUrl'],
      code: 'invalid_url',
      message: 'Please enter a valid URL',
    });
  }
  requireAllowedUrls({ permissionProviderUrl }, policy, ['permissionProviderConfig']);
}
