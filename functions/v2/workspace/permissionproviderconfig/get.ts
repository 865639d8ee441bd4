import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { secretBox } from '../../../../lib/crypto/secretBox.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { configEndpoints } from '../../../../lib/workspaces/configs/configEndpoints.ts';
import { PermissionProviderConfigEntity } from '../../../../lib/workspaces/configs/permissionProviderConfig.ts';

export const endpoint = defineEndpoint(
  {
    ...configEndpoints(PermissionProviderConfigEntity, secretBox).get,
    path: '/v2/workspace/permissionproviderconfig/get',
    summary: 'Get the configuration of the permission provider',
    description:
      'Stored, no effect yet: the service does not call a permission provider. The answer has its auth token as plain text. Access is given by `/v2/auth/permissions/add`.',
    // A revoked auth token must not get the provider's token.
    freshCredentials: true,
    message: 'Permission provider configuration retrieved successfully.',
    impact: 'customers cannot see how their permission provider is configured',
  },
  async ({ caller, deps }) => ({ data: await deps.config.getOrInitial(caller.tenant) }),
);

export const handler = toLambda(endpoint);
