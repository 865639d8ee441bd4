import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { findResources } from '../../../../lib/directory/resources.ts';
import { NamedResource } from '../../../../lib/directory/rules/namedResource.ts';
import { revokeGrants } from '../../../../lib/directory/userWriter.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { Id, limits, list } from '../../../../lib/shared/schema.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/auth/permissions/remove',
    summary: 'Revoke the grants of a user on organizations, folders and documents',
    description:
      'Ends the grants of the user on exactly these resources, also those in user tokens, which stop working there within 10 seconds. Other grants and the content of the user stay, and so does access to `public` documents. A missing grant is no error. An unknown organization is INVALID_ARGUMENT, and an unknown folder or document is NOT_FOUND; nothing is revoked then. To remove content too, call `/v2/users/delete`.',
    auth: 'apiKey',
    kind: 'write',
    input: z.object({
      userId: Id,
      permissions: z
        .object({
          resources: list(NamedResource, limits.permissionIds).describe(
            'Where grants end. They can be in several organizations.',
          ),
        })
        .describe('The grants to revoke.'),
    }),
    output: z.object({}),
    message: 'Permissions removed successfully.',
    // Without an error, a call with a mistyped folder or document id would seem to have revoked the access.
    errors: ['FAILED_PRECONDITION', 'NOT_FOUND'],
    uses: { resources: findResources, users: revokeGrants },
    impact: 'customers cannot revoke access of their users',
    example: {
      data: { userId: 'ada', permissions: { resources: [{ type: 'document', id: 'nda', organizationId: 'acme' }] } },
      result: {},
    },
  },
  async ({ input, caller, deps }) => {
    const resources = await deps.resources.require(caller.tenant, input.permissions.resources);
    await deps.users.revoke(caller.tenant, input.userId, resources);
    return {};
  },
);

export const handler = toLambda(endpoint);
