import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { Id, Name, optional } from '../../../lib/shared/schema.ts';
import { generateUserToken } from '../../../lib/userTokens/generateToken.ts';
import {
  exampleToken,
  IS_ADMIN,
  TOKEN_MESSAGE,
  TokenPermissions,
  TokenResponse,
} from '../../../lib/userTokens/tokenRequests.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/auth/generate_token',
    summary: 'Create a token with which the browser of one user calls the service for 48 hours',
    description:
      'Your server hands the token to the page, which sends it as `authorization: Bearer <token>`. The API key stays on the server. The call creates a missing user, replaces name and e-mail address of an existing profile, and makes the user a member of the organizations among the resources. An unknown organization is INVALID_ARGUMENT, an unknown folder or document is NOT_FOUND, and a disabled organization or document is FAILED_PRECONDITION. ABORTED means that access of the user was removed at the same time: send the call again. To end all user tokens, call `/v2/workspace/authtoken/reset` with `revokeUserTokens`.',
    auth: 'apiKey',
    kind: 'write',
    freshCredentials: true,
    input: z.object({
      userId: Id,
      userProperties: z
        .object({
          name: Name.describe('Replaces the name in the profile.'),
          email: Name.describe('Replaces the address in the profile. It must be able to receive mail.'),
          isAdmin: optional(z.boolean()).describe(IS_ADMIN),
        })
        .describe('The profile of the user. Name and e-mail address are both required.'),
      permissions: TokenPermissions.describe('What the token opens, beside the stored grants of the user.'),
    }),
    output: TokenResponse,
    message: TOKEN_MESSAGE,
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION', 'ABORTED'],
    uses: { generateUserToken },
    impact: 'users of customers cannot sign in',
    example: {
      data: {
        userId: 'ada',
        userProperties: { name: 'Ada Lovelace', email: 'ada@example.com' },
        permissions: { resources: [{ type: 'document', id: 'nda', organizationId: 'acme', accessRole: 'editor' }] },
      },
      result: exampleToken,
    },
  },
  async ({ input: { userId, userProperties, permissions }, caller, deps, now, newId }) => {
    const { isAdmin = false, ...profile } = userProperties;
    const request = { userId, profile, isAdmin, resources: permissions.resources };
    return { data: { token: await deps.generateUserToken(caller.tenant, request, { now, newId }) } };
  },
);

export const handler = toLambda(endpoint);
