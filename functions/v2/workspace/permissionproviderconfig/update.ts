import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { secretBox } from '../../../../lib/crypto/secretBox.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { addressPolicy } from '../../../../lib/net/addressPolicy.ts';
import { requireChange } from '../../../../lib/shared/schema.ts';
import { configEndpoints } from '../../../../lib/workspaces/configs/configEndpoints.ts';
import { PermissionProviderConfigEntity } from '../../../../lib/workspaces/configs/permissionProviderConfig.ts';
import { merge } from '../../../../lib/workspaces/rules/mergeConfig.ts';
import {
  initialPermissionProviderConfig,
  PermissionProviderConfigChange,
  requireProviderUrl,
} from '../../../../lib/workspaces/rules/permissionProviderConfig.ts';
import { noProvider, Warnings, warningsOf } from '../../../../lib/workspaces/rules/storedOnly.ts';

const { update } = configEndpoints(PermissionProviderConfigEntity, secretBox);

export const endpoint = defineEndpoint(
  {
    ...update,
    path: '/v2/workspace/permissionproviderconfig/update',
    summary: 'Change the configuration of the permission provider',
    description:
      'Stored, no effect yet: the service does not call a permission provider. Sent fields replace the stored ones, and an empty text removes a value. Access is given by `/v2/auth/permissions/add`.',
    input: PermissionProviderConfigChange.check(
      requireChange(
        Object.keys(PermissionProviderConfigChange.shape),
        'At least one of usePermissionProvider or permissionProviderConfig must be provided.',
      ),
    ),
    output: z.object({ warnings: Warnings }),
    message: 'Permission provider configuration updated successfully.',
    uses: { ...update.uses, addressPolicy },
    impact: 'customers cannot configure their permission provider',
    example: {
      data: {
        usePermissionProvider: true,
        permissionProviderConfig: {
          permissionProviderUrl: 'https://example.com/permissions',
          authToken: 'a-token-of-the-customer',
        },
      },
      result: {
        warnings: [
          { field: 'usePermissionProvider', reason: noProvider },
          { field: 'permissionProviderConfig.permissionProviderUrl', reason: noProvider },
          { field: 'permissionProviderConfig.authToken', reason: noProvider },
        ],
      },
    },
  },
  async ({ input, caller, deps }) => {
    requireProviderUrl(input.permissionProviderConfig?.permissionProviderUrl, deps.addressPolicy);
    await deps.config.write(caller.tenant, input, (stored = initialPermissionProviderConfig, sent) =>
      merge(stored, sent),
    );
    return warningsOf(input);
  },
);

export const handler = toLambda(endpoint);
