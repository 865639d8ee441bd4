import * as z from 'zod';
import { secretBox } from '../../../../lib/crypto/secretBox.ts';
import {
  sealProviderToken,
  writePermissionProviderConfig,
} from '../../../../lib/workspaces/configs/permissionProviderConfig.ts';
import { merge, requireChange } from '../../../../lib/workspaces/rules/mergeConfig.ts';
import {
  initialPermissionProviderConfig,
  PermissionProviderConfigChange,
  requireProviderUrl,
} from '../../../../lib/workspaces/rules/permissionProviderConfig.ts';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { addressPolicy } from '../../../../lib/net/addressPolicy.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/workspace/permissionproviderconfig/update',
    summary: 'Change the configuration of the permission provider',
    auth: 'apiKey',
    kind: 'write',
    input: PermissionProviderConfigChange,
    output: z.object({}),
    message: 'Permission provider configuration updated successfully.',
    errors: ['ABORTED'],
    uses: { configs: writePermissionProviderConfig, box: secretBox, addressPolicy },
    impact: 'customers cannot configure their permission provider',
    example: {
      data: {
        usePermissionProvider: true,
        permissionProviderConfig: {
          permissionProviderUrl: 'https://example.com/permissions',
          authToken: 'a-token-of-the-customer',
        },
      },
      result: {},
    },
  },
  async ({ input, caller: { tenant }, deps }) => {
    requireChange(
      input,
      Object.keys(PermissionProviderConfigChange.shape),
      'At least one of usePermissionProvider or permissionProviderConfig must be provided.',
    );
    requireProviderUrl(input.permissionProviderConfig?.permissionProviderUrl, deps.addressPolicy);
    const sent = await sealProviderToken(deps.box, tenant, input);
    await deps.configs.update(tenant, (stored = initialPermissionProviderConfig) => merge(stored, sent));
    return {};
  },
);

export const handler = toLambda(endpoint);
