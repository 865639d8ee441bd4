import * as z from 'zod';
import type { AddressPolicy } from '../../net/addressPolicy.ts';
import { requireAllowedUrls } from '../../net/allowedUrls.ts';
import { hasBlockedPort, MAX_URL_CHARACTERS, parseHttpUrl } from '../../net/httpUrl.ts';
import { invalid } from '../../shared/errors.ts';
import { optional } from '../../shared/schema.ts';
import { HeaderSecret } from './mergeConfig.ts';
import { storedOnly } from './storedOnly.ts';

const texts = {
  usePermissionProvider: /* @__PURE__ */ storedOnly(
    'usePermissionProvider',
    'Whether a provider of yours answers who has access. By default false.',
  ),
  permissionProviderConfig: 'How the provider is called.',
  permissionProviderUrl: /* @__PURE__ */ storedOnly(
    'permissionProviderConfig.permissionProviderUrl',
    'The http(s) URL of the provider, without credentials and with a public host. Empty means none.',
  ),
  authToken: /* @__PURE__ */ storedOnly(
    'permissionProviderConfig.authToken',
    'The secret of the provider, encrypted. Empty means none.',
  ),
} as const;

export const PermissionProviderConfig = z.object({
  usePermissionProvider: z.boolean().describe(texts.usePermissionProvider),
  permissionProviderConfig: z
    .object({
      permissionProviderUrl: z.string().describe(texts.permissionProviderUrl),
      authToken: z.string().describe(texts.authToken),
    })
    .describe(texts.permissionProviderConfig),
});
export type PermissionProviderConfig = z.output<typeof PermissionProviderConfig>;

export const PermissionProviderConfigChange = z.object({
  usePermissionProvider: optional(z.boolean()).describe(texts.usePermissionProvider),
  permissionProviderConfig: optional(
    z.object({
      permissionProviderUrl: optional(z.string().max(MAX_URL_CHARACTERS)).describe(texts.permissionProviderUrl),
      authToken: optional(HeaderSecret).describe(texts.authToken),
    }),
  ).describe(texts.permissionProviderConfig),
});

export const initialPermissionProviderConfig: PermissionProviderConfig = {
  usePermissionProvider: false,
  permissionProviderConfig: { permissionProviderUrl: '', authToken: '' },
};

/** The URL must not contain credentials, because the table stores it unencrypted. */
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
