import * as z from 'zod';
import { createApiKeys, unverifiedGraceDays } from '../../../../lib/data/workspaces.ts';
import { ApiKeyType, defaultApiKeyName, emailKey, OwnerEmail } from '../../../../lib/domain/workspaces.ts';
import { defineEndpoint } from '../../../../lib/endpoint.ts';
import { ApiError, invalid } from '../../../../lib/errors.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { Name, optional } from '../../../../lib/schema.ts';

export const endpoint = defineEndpoint({
  path: '/v2/workspace/apikey/create',
  summary: 'Create an API key',
  auth: 'workspace',
  kind: 'write',
  freshCredentials: true,
  input: z.object({
    ownerEmail: OwnerEmail,
    type: ApiKeyType,
    apiKeyName: optional(Name),
    createAuthToken: optional(z.boolean()),
  }),
  output: z.object({ data: z.object({ apiKey: z.string(), authToken: z.string().optional() }) }),
  message: 'API key created successfully.',
  errors: ['FAILED_PRECONDITION', 'RESOURCE_EXHAUSTED', 'NOT_FOUND', 'ABORTED'],
  uses: { apiKeys: createApiKeys, graceDays: unverifiedGraceDays },
  impact: 'customers cannot create API keys',
  example: {
    data: { ownerEmail: 'ada@example.com', type: 'production', apiKeyName: 'Production' },
    result: { data: { apiKey: 'key_2xgC5RqLyN9oFzL3hM5vW7tB1cD' } },
  },
}, async ({ input, caller, deps, now }) => {
  const { type, apiKeyName = defaultApiKeyName(type), createAuthToken } = input;
  if (emailKey(input.ownerEmail) !== emailKey(caller.ownerEmail)) {
    throw invalid({ path: ['ownerEmail'], code: 'not_the_owner', message: 'ownerEmail must be the e-mail address of the workspace\'s owner' });
  }
  const created = await deps.apiKeys.create(caller.workspaceId, { apiKeyName, type, withToken: createAuthToken !== false }, deps.graceDays, now);
  if (created === 'unknown') throw new ApiError('NOT_FOUND', 'Workspace not found.');
  if (created === 'full') throw new ApiError('RESOURCE_EXHAUSTED', 'The workspace has as many API keys as it may have.');
  if (created === 'unverified') throw new ApiError('FAILED_PRECONDITION', 'The e-mail address of the workspace\'s owner must be verified first.');
  return { data: { apiKey: created.apiKey, ...(createAuthToken && { authToken: created.authToken }) } };
});

export const handler = toLambda(endpoint);
