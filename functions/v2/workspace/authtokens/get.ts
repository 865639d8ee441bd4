import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { ApiError } from '../../../../lib/shared/errors.ts';
import { Id } from '../../../../lib/shared/schema.ts';
import { AuthTokenResponse } from '../../../../lib/workspaces/rules/workspaces.ts';
import { readAuthTokens } from '../../../../lib/workspaces/workspaces.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/workspace/authtokens/get',
    summary: 'List the auth tokens of an API key',
    description:
      'Takes the credentials of the workspace. The tokens are in the answer as plain text: send one with the API key in the headers of each call. An API key of another workspace is NOT_FOUND. To replace a leaked token, call `/v2/workspace/authtoken/reset`.',
    auth: 'workspace',
    kind: 'read',
    freshCredentials: true,
    input: z.object({
      apiKey: Id.describe('The API key whose auth tokens are listed. It must belong to the workspace.'),
    }),
    output: z.object({
      data: z.object({
        apiKey: z.string().describe('The API key of the request, repeated.'),
        authTokens: z.array(AuthTokenResponse).describe('The tokens that are valid, oldest first.'),
      }),
    }),
    message: 'Auth tokens retrieved successfully.',
    errors: ['NOT_FOUND'],
    uses: { tokens: readAuthTokens },
    impact: 'customers cannot obtain the auth tokens of their API keys',
    example: {
      data: { apiKey: 'key_2xgC5RqLyN9oFzL3hM5vW7tB1cD' },
      result: {
        data: {
          apiKey: 'key_2xgC5RqLyN9oFzL3hM5vW7tB1cD',
          authTokens: [{ token: '<signed token>', name: 'Default Auth Token', domains: [] }],
        },
      },
    },
  },
  async ({ input, caller, deps }) => {
    const authTokens = await deps.tokens.list(caller.workspaceId, input.apiKey);
    // An API key of another workspace gets the same answer as an unknown one, so answers do not reveal which API keys
    // exist.
    if (!authTokens) throw new ApiError('NOT_FOUND', 'API key not found.');
    return { data: { apiKey: input.apiKey, authTokens } };
  },
);

export const handler = toLambda(endpoint);
