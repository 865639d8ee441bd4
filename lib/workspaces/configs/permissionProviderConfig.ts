import type { SecretBox, SecretOwner } from '../../crypto/secretBox.ts';
import { type Change, merge } from '../rules/mergeConfig.ts';
import { initialPermissionProviderConfig, PermissionProviderConfig } from '../rules/permissionProviderConfig.ts';
import { changesConfig, defineConfig, readsConfig } from './configStore.ts';

export const PermissionProviderConfigEntity = defineConfig(
  'PermissionProviderConfig',
  "The customer's own permission provider; its token encrypted",
  PermissionProviderConfig,
);

const providerTokenOf = (tenant: string): SecretOwner => ({
  tenant,
  purpose: 'permissionProviderToken',
  id: 'permissionproviderconfig',
});

/** What was sent with the provider's token as it is stored: sealed, or empty when it is removed. */
export async function sealProviderToken(
  box: SecretBox,
  tenant: string,
  sent: Change<PermissionProviderConfig>,
): Promise<Change<PermissionProviderConfig>> {
  const authToken = sent.permissionProviderConfig?.authToken;
  return authToken
    ? merge(sent, { permissionProviderConfig: { authToken: await box.seal(authToken, providerTokenOf(tenant)) } })
    : sent;
}

/** The configuration with the provider's token in clear; what one that was never made reads as when there is none. */
export async function openPermissionProviderConfig(
  box: SecretBox,
  tenant: string,
  stored: PermissionProviderConfig = initialPermissionProviderConfig,
): Promise<PermissionProviderConfig> {
  const { usePermissionProvider, permissionProviderConfig } = stored;
  const authToken =
    permissionProviderConfig.authToken && (await box.open(permissionProviderConfig.authToken, providerTokenOf(tenant)));
  return { usePermissionProvider, permissionProviderConfig: { ...permissionProviderConfig, authToken } };
}

export const readPermissionProviderConfig = /* @__PURE__ */ readsConfig(PermissionProviderConfigEntity);
export const writePermissionProviderConfig = /* @__PURE__ */ changesConfig(PermissionProviderConfigEntity);
