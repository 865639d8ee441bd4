import * as z from 'zod';
import { defineEndpoint } from '../../../lib/app/endpoint.ts';
import { toLambda } from '../../../lib/http/lambda.ts';
import { withInternalMessage } from '../../../lib/http/withInternalMessage.ts';
import { ApiError, invalid } from '../../../lib/shared/errors.ts';
import { MailAddress } from '../../../lib/shared/mailAddress.ts';
import { optional } from '../../../lib/shared/schema.ts';
import { rateLimits } from '../../../lib/table/rateLimits.ts';
import { exampleWorkspace } from '../../../lib/workspaces/example.ts';
import {
  AvatarUrl,
  isDisposable,
  keysExpireAt,
  ShortName,
  toWorkspaceResponse,
  VerifyWithinMs,
  WorkspaceResponse,
} from '../../../lib/workspaces/rules/workspaces.ts';
import { createWorkspaces, unverifiedGraceDays, workspaceCreation } from '../../../lib/workspaces/workspaces.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/workspace/create',
    summary: 'Create a workspace with its first API key',
    description:
      'Needs no credentials. The answer has the id and the auth token of the workspace, of which the service stores only a hash. FAILED_PRECONDITION means that only the operator creates workspaces. RESOURCE_EXHAUSTED means that the e-mail address has five, or that your source address sent too many calls. A verified address is verified for all its workspaces. Disposable e-mail addresses are INVALID_ARGUMENT. Next, read the auth token of the API key (`/v2/workspace/authtokens/get`) and verify the e-mail address (`/v2/workspace/email/send-login-link`), otherwise the API keys stop working.',
    auth: 'none',
    kind: 'write',
    limitsSources: true,
    input: z.object({
      ownerEmail: MailAddress.describe('The address of the owner, who must verify it. It can have five workspaces.'),
      name: optional(ShortName).describe('The full name of the owner. By default the e-mail address.'),
      workspaceName: optional(ShortName).describe(
        'A title for people. By default the name of the owner and `workspace`.',
      ),
      avatar: optional(AvatarUrl).describe('The http(s) URL of a picture of the owner.'),
      expiresInMs: optional(VerifyWithinMs).describe(
        'How long the owner has to verify the address, in milliseconds. It only shortens the time that the operator allows.',
      ),
    }),
    output: z.object({ data: WorkspaceResponse }),
    message: 'Workspace created successfully',
    errors: ['FAILED_PRECONDITION', 'RESOURCE_EXHAUSTED', 'ABORTED'],
    uses: { creation: workspaceCreation, rateLimits, graceDays: unverifiedGraceDays, workspaces: createWorkspaces },
    impact: 'nobody can sign up for a workspace',
    example: {
      data: { ownerEmail: 'ada@example.com', name: 'Ada Lovelace' },
      result: {
        data: exampleWorkspace,
      },
    },
  },
  async ({ input, deps, now, sourceIp }) => {
    if (!deps.creation.open)
      throw new ApiError('FAILED_PRECONDITION', 'Workspaces are created by the operator of this service.');
    const allowed = await deps.rateLimits.allow('workspace/create', sourceIp, {
      limit: deps.creation.perMinute,
      windowSeconds: 60,
      now,
    });
    if (!allowed) throw new ApiError('RESOURCE_EXHAUSTED', 'Rate limit exceeded for this endpoint. Try again later.');
    if (isDisposable(input.ownerEmail))
      throw invalid({
        path: ['ownerEmail'],
        code: 'unsupported_domain',
        message: 'This email domain is not supported.',
      });
    const verifyWithinMs = input.expiresInMs;
    const standing = { verifyWithinMs, keysExpireAt: keysExpireAt({ createdAt: now, verifyWithinMs }, deps.graceDays) };
    const created = await withInternalMessage('Failed to create workspace', () =>
      deps.workspaces.create(input, standing, now),
    );
    if (created === 'full')
      throw new ApiError(
        'RESOURCE_EXHAUSTED',
        'You have reached the maximum number of workspaces allowed for this email address.',
      );
    return { data: toWorkspaceResponse(created.workspace, [created.apiKey], created.workspaceAuthToken) };
  },
);

export const handler = toLambda(endpoint);
