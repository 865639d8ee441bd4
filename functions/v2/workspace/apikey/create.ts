import * as z from 'zod';
import { newApiKeySettingsOps } from '../../../../lib/apiKeys/newApiKeySettings.ts';
import {
  newApiKeyFields,
  newApiKeySettings,
  operatorFields,
  Regions,
  requireOwnRegion,
  requireUrlsOfSettings,
} from '../../../../lib/apiKeys/rules.ts';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { secretBox } from '../../../../lib/crypto/secretBox.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { addressPolicy } from '../../../../lib/net/addressPolicy.ts';
import { ApiError, invalid } from '../../../../lib/shared/errors.ts';
import { Warnings, warningsOf } from '../../../../lib/workspaces/rules/storedOnly.ts';
import { defaultApiKeyName, emailKey } from '../../../../lib/workspaces/rules/workspaces.ts';
import { createApiKeys, ownRegion, unverifiedGraceDays } from '../../../../lib/workspaces/workspaces.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/workspace/apikey/create',
    summary: 'Create an API key, optionally with settings',
    description:
      'Takes the credentials of the workspace. The new API key has its own organizations, users, content and settings. FAILED_PRECONDITION means that the owner has not verified the e-mail address in time, and RESOURCE_EXHAUSTED that the workspace has 100 API keys. Without `createAuthToken: true`, the answer has no auth token: call `/v2/workspace/authtokens/get`.',
    auth: 'workspace',
    kind: 'write',
    freshCredentials: true,
    input: z.object({
      ...newApiKeyFields,
      ...Regions,
      ...newApiKeySettings,
      ...operatorFields,
    }),
    output: z.object({
      data: z.object({
        apiKey: z.string().describe('The new API key.'),
        authToken: z.string().optional().describe('Its auth token. Only with `createAuthToken: true`.'),
      }),
      warnings: Warnings,
    }),
    message: 'API key created successfully.',
    fixedMessages: { required: { ownerEmail: 'ownerEmail is required.' } },
    errors: ['FAILED_PRECONDITION', 'RESOURCE_EXHAUSTED', 'NOT_FOUND', 'ABORTED'],
    uses: {
      workspaces: createApiKeys,
      graceDays: unverifiedGraceDays,
      region: ownRegion,
      box: secretBox,
      addressPolicy,
    },
    impact: 'customers cannot create API keys',
    example: {
      data: {
        ownerEmail: 'ada@example.com',
        type: 'production',
        apiKeyName: 'Production',
        allowedDomains: ['app.example.com'],
        useEmailService: true,
        setDefaultEmailTriggers: true,
      },
      result: { data: { apiKey: 'key_2xgC5RqLyN9oFzL3hM5vW7tB1cD' } },
    },
  },
  async ({ input, caller, deps, now, repeatableId }) => {
    const {
      ownerEmail,
      type,
      apiKeyName = defaultApiKeyName(type),
      createAuthToken,
      persistenceDBRegion,
      realtimeDBRegion,
      ...settings
    } = input;
    if (emailKey(ownerEmail) !== emailKey(caller.ownerEmail)) {
      throw invalid({
        path: ['ownerEmail'],
        code: 'not_the_owner',
        message: "ownerEmail must be the e-mail address of the workspace's owner",
      });
    }
    requireOwnRegion({ persistenceDBRegion, realtimeDBRegion }, type, deps.region);
    requireUrlsOfSettings(settings, deps.addressPolicy);
    const fields = { apiKeyName, type, withToken: createAuthToken !== false };
    const apiKey = repeatableId('key', 0);
    const settingsOps = await newApiKeySettingsOps(deps.box, apiKey, settings);
    const options = { settings: settingsOps, graceDays: deps.graceDays, now };
    const created = await deps.workspaces.createApiKey(caller.workspaceId, apiKey, fields, options);
    if (created === 'unknown') throw new ApiError('NOT_FOUND', 'Workspace not found.');
    if (created === 'full')
      throw new ApiError('RESOURCE_EXHAUSTED', 'The workspace has as many API keys as it may have.');
    if (created === 'unverified')
      throw new ApiError('FAILED_PRECONDITION', "The e-mail address of the workspace's owner must be verified first.");
    return { data: { apiKey, ...(createAuthToken && { authToken: created.authToken }) }, ...warningsOf(settings) };
  },
);

export const handler = toLambda(endpoint);
