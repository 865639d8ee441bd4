import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { accessRoles, resourceTypes } from '../../../lib/app/rules/access.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { Id, limits, list, optional } from '../../../lib/shared/schema.ts';
import { requireFuture } from '../../../lib/shared/times.ts';
import { signPermissions } from '../../../lib/userTokens/permissionSignature.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/auth/generate_signature',
    summary: 'Sign the answers of a permission provider',
    description:
      'Returns the HMAC-SHA-256 of the permissions in hexadecimal, with a key of the API key. The order of the permissions changes the signature. Nothing is stored or checked against stored access. The service does not call permission providers yet: `/v2/workspace/permissionproviderconfig/update`.',
    auth: 'apiKey',
    kind: 'read',
    freshCredentials: true,
    input: z.object({
      permissions: list(
        z.object({
          userId: Id,
          resourceId: Id.describe('The organization, folder or document, by the id that you chose.'),
          type: z.enum(resourceTypes).describe('What `resourceId` names.'),
          hasAccess: z.boolean().describe('Whether the user can open the resource.'),
          accessRole: optional(z.enum(accessRoles)).describe('What the user may do there.'),
          expiresAt: optional(z.int().min(0)).describe(
            'When the access ends, in epoch milliseconds (not seconds). With `hasAccess: true` it must be in the future.',
          ),
        }),
        limits.permissionIds,
      ).describe('The answer of the provider. The signature depends on the order.'),
    }),
    output: z.object({ data: z.object({ signature: z.string().describe('HMAC-SHA-256 in hexadecimal.') }) }),
    message: 'Signature generated successfully.',
    errors: [],
    uses: { signer: signPermissions },
    impact: 'permission providers of customers cannot sign their answers',
    example: {
      data: { permissions: [{ userId: 'ada', resourceId: 'nda', type: 'document', hasAccess: true }] },
      result: { data: { signature: '3f0c2a3f9a1f4f6a8a6f0d5b1f1c8e5d9b7a6c4e2d1f0a9b8c7d6e5f4a3b2c1d' } },
    },
  },
  async ({ input, caller, deps, now }) => {
    const given = input.permissions.map(({ hasAccess, expiresAt }) => (hasAccess ? { expiresAt } : {}));
    requireFuture(['permissions'], given, now);
    return { data: { signature: await deps.signer.sign(caller.tenant, input.permissions) } };
  },
);

export const handler = toLambda(endpoint);
