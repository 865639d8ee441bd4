import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { ApiError } from '../../../../lib/shared/errors.ts';
import { Id, optional } from '../../../../lib/shared/schema.ts';
import { AuthTokenResponse } from '../../../../lib/workspaces/rules/workspaces.ts';
import { resetAuthTokens } from '../../../../lib/workspaces/workspaces.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/workspace/authtoken/reset',
    summary: 'Replace the auth tokens of an API key by a new one. On request, revokes all user tokens too',
    description:
      'Takes the credentials of the workspace. The new token works at once. The old ones can still work for 10 seconds. An API key of another workspace is NOT_FOUND.',
    auth: 'workspace',
    kind: 'write',
    freshCredentials: true,
    input: z.object({
      apiKey: Id.describe('The API key whose auth tokens are replaced. It must belong to the workspace.'),
      revokeUserTokens: optional(
        z.boolean().meta({
          description:
            'If true, all user tokens of the API key end too. Calls with these tokens fail within 10 seconds. Live connections of users end within a minute. By default false.',
        }),
      ),
    }),
    output: z.object({
      data: z.object({
        apiKey: z.string().describe('The API key of the request, repeated.'),
        newAuthToken: AuthTokenResponse,
      }),
    }),
    message: 'Auth token reset successfully.',
    errors: ['NOT_FOUND', 'ABORTED'],
    uses: { workspaces: resetAuthTokens },
    impact: 'customers cannot revoke a leaked auth token',
    example: {
      data: { apiKey: 'key_2xgC5RqLyN9oFzL3hM5vW7tB1cD' },
      result: {
        data: {
          apiKey: 'key_2xgC5RqLyN9oFzL3hM5vW7tB1cD',
          newAuthToken: { token: '<signed token>', name: 'Default Auth Token', domains: [] },
        },
      },
    },
  },
  async ({ input, caller, deps, now }) => {
    const newAuthToken = await deps.workspaces.resetAuthTokens(caller.workspaceId, input.apiKey, {
      revokeUserTokens: input.revokeUserTokens ?? false,
      now,
    });
    if (!newAuthToken) throw new ApiError('NOT_FOUND', 'API key not found.');
    return { data: { apiKey: input.apiKey, newAuthToken } };
  },
);

export const handler = toLambda(endpoint);
