import * as z from 'zod';
import { secretBox } from '../../../../lib/crypto/secretBox.ts';
import {
  openPermissionProviderConfig,
  readPermissionProviderConfig,
} from '../../../../lib/workspaces/configs/permissionProviderConfig.ts';
import {
  initialPermissionProviderConfig,
  PermissionProviderConfig,
} from '../../../../lib/workspaces/rules/permissionProviderConfig.ts';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/workspace/permissionproviderconfig/get',
    summary: 'Get the configuration of the permission provider',
    auth: 'apiKey',
    kind: 'read',
    // It hands out the provider's token.
    freshCredentials: true,
    body: 'optional',
    input: z.object({}),
    output: z.object({ data: PermissionProviderConfig }),
    message: 'Permission provider configuration retrieved successfully.',
    errors: [],
    uses: { configs: readPermissionProviderConfig, box: secretBox },
    impact: 'customers cannot see how their permission provider is configured',
    example: {
      data: {},
      result: { data: initialPermissionProviderConfig },
    },
  },
  async ({ caller, deps }) => ({
    data: await openPermissionProviderConfig(deps.box, caller.tenant, await deps.configs.get(caller.tenant)),
  }),
);

export const handler = toLambda(endpoint);
