import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { verifyBodyCredentials } from '../../../../lib/http/bodyCredentials.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { ApiError } from '../../../../lib/shared/errors.ts';
import { Name } from '../../../../lib/shared/schema.ts';
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
    path: '/v1/auth/token/get',
    summary: 'Create a user token, with the credentials of the API key in the body',
    description:
      'Call it from your server only, because the body has the credentials of the API key. Otherwise it is like `/v2/auth/token/get`. Wrong credentials are INVALID_ARGUMENT. RESOURCE_EXHAUSTED means too many calls, or that your source address sent too many wrong credentials within a minute. New servers call `/v2/auth/generate_token`.',
    auth: 'none',
    kind: 'write',
    limitsSources: true,
    input: OlderTokenRequest.extend({
      apiKey: Name.describe('The API key in which the user signs in.'),
      authToken: Name.describe('An auth token of this API key. Keep it on your server.'),
    }),
    output: TokenResponse,
    message: TOKEN_MESSAGE,
    errors: ['NOT_FOUND', 'FAILED_PRECONDITION', 'RESOURCE_EXHAUSTED', 'ABORTED'],
    uses: { verifyBodyCredentials, generateUserToken },
    impact: 'users of customers whose libraries call /v1/auth/token/get cannot sign in',
    example: {
      data: {
        apiKey: 'key_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ',
        authToken: '<signed token>',
        userId: 'ada',
        userProperties: { organizationId: 'acme', email: 'ada@example.com' },
      },
      result: exampleToken,
    },
  },
  async ({ input: { apiKey, authToken, ...input }, deps, now, newId, sourceIp, log }) => {
    const { tenant } = await deps
      .verifyBodyCredentials({ apiKey, authToken, sourceIp, now, log })
      .catch((error: unknown) => {
        if (!(error instanceof ApiError) || error.status !== 'PERMISSION_DENIED') throw error;
        throw new ApiError('INVALID_ARGUMENT', 'Auth token not found.');
      });
    return { data: { token: await deps.generateUserToken(tenant, toTokenRequest(input), { now, newId }) } };
  },
);

export const handler = toLambda(endpoint);
