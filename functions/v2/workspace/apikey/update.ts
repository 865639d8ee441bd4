import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { ApiError } from '../../../../lib/shared/errors.ts';
import { Id, Name } from '../../../../lib/shared/schema.ts';
import { renameApiKeys } from '../../../../lib/workspaces/workspaces.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/workspace/apikey/update',
    summary: 'Rename an API key',
    description:
      'Takes the credentials of the workspace. Only the name changes; the key itself and its auth tokens stay. An API key of another workspace is NOT_FOUND.',
    auth: 'workspace',
    kind: 'write',
    input: z.object({
      apiKey: Id.describe('The API key to rename. It must belong to the workspace.'),
      apiKeyName: Name.describe('The new title for people.'),
    }),
    output: z.object({ data: z.null() }),
    message: 'API key updated successfully.',
    errors: ['NOT_FOUND', 'ABORTED'],
    uses: { apiKeys: renameApiKeys },
    impact: 'customers cannot rename API keys',
    example: {
      data: { apiKey: 'key_2xgC5RqLyN9oFzL3hM5vW7tB1cD', apiKeyName: 'Staging' },
      result: { data: null },
    },
  },
  async ({ input, caller, deps }) => {
    const renamed = await deps.apiKeys.rename(caller.workspaceId, input.apiKey, input.apiKeyName);
    if (renamed === 'unknown') throw new ApiError('NOT_FOUND', 'API key not found.');
    return { data: null };
  },
);

export const handler = toLambda(endpoint);
