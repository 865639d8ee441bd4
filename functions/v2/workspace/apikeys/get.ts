import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { paging } from '../../../../lib/http/paging.ts';
import { distinct } from '../../../../lib/shared/collections.ts';
import { Id, list, notTogether, optional, PageToken } from '../../../../lib/shared/schema.ts';
import { ApiKeyResponse, MAX_API_KEYS, toApiKeyResponse } from '../../../../lib/workspaces/rules/workspaces.ts';
import { readApiKeys } from '../../../../lib/workspaces/workspaces.ts';

const path = '/v2/workspace/apikeys/get';

export const endpoint = defineEndpoint(
  {
    path,
    summary: 'Get API keys by id, or all API keys in pages',
    description:
      'Takes the credentials of the workspace. Listed API keys are ordered by age, oldest first. Unknown ones, and those of other workspaces, are left out. For their auth tokens, call `/v2/workspace/authtokens/get`.',
    auth: 'workspace',
    kind: 'read',
    input: z
      .object({
        apiKeys: optional(list(Id, MAX_API_KEYS)).describe('Selects these API keys. By default all are listed.'),
        pageSize: optional(z.int().min(1).max(MAX_API_KEYS)),
        pageToken: optional(PageToken),
      })
      .check(notTogether('pageToken', 'apiKeys')),
    output: z.object({ data: z.array(ApiKeyResponse), nextPageToken: z.string().nullable() }),
    message: 'API keys retrieved successfully.',
    errors: [],
    uses: { apiKeys: readApiKeys },
    narrowBy: 'pageSize',
    impact: 'customers cannot list their API keys',
    example: {
      data: { pageSize: 1 },
      result: {
        data: [{ id: 'key_2xgC5RqLyN9oFzL3hM5vW7tB1cD', apiKeyName: 'Ada Test API Key', type: 'testing' }],
        nextPageToken: null,
      },
    },
  },
  async ({ input, caller, deps, now }) => {
    if (input.apiKeys) {
      const apiKeys = await deps.apiKeys.listByIds(caller.workspaceId, distinct(input.apiKeys));
      return { data: apiKeys.map(toApiKeyResponse), nextPageToken: null };
    }
    const pages = paging(caller, [path], input, now);
    const page = await deps.apiKeys.list(caller.workspaceId, {
      limit: input.pageSize ?? MAX_API_KEYS,
      after: pages.after,
    });
    return { data: page.values.map(toApiKeyResponse), nextPageToken: pages.next(page.next) };
  },
);

export const handler = toLambda(endpoint);
