import * as z from 'zod';
import { copySettings } from '../../../../lib/apiKeys/copySettings.ts';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { Id, ignoredField } from '../../../../lib/shared/schema.ts';

const required = 'API key ID is required';

export const endpoint = defineEndpoint(
  {
    path: '/v2/workspace/apikey/copy',
    summary: 'Give an API key the settings of another one of the workspace',
    description:
      'Copies all configurations and the allowed domains. They replace those of the target. Secrets are not copied, and those of the target stay: the key of the mail provider, the bot token and webhook URL of chat, the auth token of basic webhooks, the token of the permission provider, AI keys, and `user:password@` of URLs. A token of the target is removed if a URL beside it changes, so that no other receiver gets it. A service that has such a secret in the source, and none in the target, is off in the target. To turn it on, send the secret and `useEmailService`, `useChatService`, `useWebhookService` or `usePermissionProvider`: true to its configuration. Webhook endpoints, agents and content are not copied. A call that failed can be repeated. An API key of another workspace is NOT_FOUND.',
    auth: 'workspace',
    kind: 'write',
    input: z
      .object({
        sourceApiKey: Id.describe('The API key whose settings are copied.'),
        targetApiKey: Id.describe('The API key that gets them.'),
        created: ignoredField('only older clients send it'),
      })
      .refine(({ sourceApiKey, targetApiKey }) => sourceApiKey !== targetApiKey, {
        path: ['targetApiKey'],
        message: 'sourceApiKey and targetApiKey must be different',
      }),
    output: z.object({ data: z.object({}) }),
    message: 'API key configuration copied successfully.',
    fixedMessages: { required: { sourceApiKey: required, targetApiKey: required } },
    errors: ['NOT_FOUND', 'ABORTED'],
    uses: { copySettings },
    impact: 'customers cannot copy the settings of their API keys',
    example: {
      data: { sourceApiKey: 'key_2xgC5RqLyN9oFzL3hM5vW7tB1cD', targetApiKey: 'key_2xgC5RlCXJXwq4Y6hPcWsCPTAEJ' },
      result: { data: {} },
    },
    cost: { calls: 30, roundTrips: 9, readUnits: 31, writeUnits: 15 },
  },
  async ({ input, caller, deps }) => {
    await deps.copySettings(caller.workspaceId, input);
    return { data: {} };
  },
);

export const handler = toLambda(endpoint);
