import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { ApiError } from '../../../lib/shared/errors.ts';
import { exampleWorkspace } from '../../../lib/workspaces/example.ts';
import { toWorkspaceResponse, WorkspaceResponse } from '../../../lib/workspaces/rules/workspaces.ts';
import { readWorkspace } from '../../../lib/workspaces/workspaces.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/workspace/get',
    summary: 'Get a workspace and its API keys',
    description:
      'Takes the credentials of the workspace, and repeats the auth token that you sent. For the auth tokens of an API key, call `/v2/workspace/authtokens/get`.',
    auth: 'workspace',
    kind: 'read',
    input: z.object({}),
    output: z.object({ data: WorkspaceResponse }),
    message: 'Workspace retrieved successfully',
    fixedMessages: { denied: 'Invalid auth token for workspace.' },
    errors: ['NOT_FOUND'],
    uses: { workspaces: readWorkspace },
    impact: 'customers cannot see their workspace',
    example: {
      data: {},
      result: {
        data: exampleWorkspace,
      },
    },
  },
  async ({ caller, deps }) => {
    const stored = await deps.workspaces.get(caller.workspaceId);
    if (!stored) throw new ApiError('NOT_FOUND', 'Workspace not found.');
    return { data: toWorkspaceResponse(stored.workspace, stored.apiKeys, caller.authToken) };
  },
);

export const handler = toLambda(endpoint);
