import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { generateUserToken } from '../../../../lib/userTokens/generateToken.ts';
import {
  exampleToken,
  OlderTokenRequest,
  TOKEN_MESSAGE,
  TokenResponse,
  toTokenRequest,
} from '../../../../lib/userTokens/tokenRequests.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/auth/token/get',
    summary: 'Create a user token. In this older form of generate_token, the organization is a property of the user',
    description:
      'Makes the user a member of the organization. The role in the token is editor, unless `permissions` names the organization with another one. An unknown organization is INVALID_ARGUMENT, an unknown folder or document is NOT_FOUND, and a disabled organization or document is FAILED_PRECONDITION. New servers call `/v2/auth/generate_token`, which describes the token.',
    auth: 'apiKey',
    kind: 'write',
    freshCredentials: true,
    input: OlderTokenRequest,
    output: TokenResponse,
    message: TOKEN_MESSAGE,
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION', 'ABORTED'],
    uses: { generateUserToken },
    impact: 'users of customers whose libraries call /v2/auth/token/get cannot sign in',
    example: {
      data: { userId: 'ada', userProperties: { organizationId: 'acme', name: 'Ada', email: 'ada@example.com' } },
      result: exampleToken,
    },
  },
  async ({ input, caller, deps, now, newId }) => ({
    data: { token: await deps.generateUserToken(caller.tenant, toTokenRequest(input), { now, newId }) },
  }),
);

export const handler = toLambda(endpoint);
