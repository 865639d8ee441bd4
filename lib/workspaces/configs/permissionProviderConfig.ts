import { initialPermissionProviderConfig, PermissionProviderConfig } from '../rules/permissionProviderConfig.ts';
import { defineConfig } from './configStore.ts';

export const PermissionProviderConfigEntity = defineConfig(
  'PermissionProviderConfig',
  "The customer's own permission provider, with its encrypted token",
  {
    schema: PermissionProviderConfig,
    initial: initialPermissionProviderConfig,
    secrets: [
      {
        group: 'permissionProviderConfig',
        field: 'authToken',
        purpose: 'permissionProviderToken',
        id: 'permissionproviderconfig',
      },
    ],
  },
);
