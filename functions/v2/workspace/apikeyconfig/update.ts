import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { accessTypes } from '../../../../lib/app/rules/access.ts';
import { secretBox } from '../../../../lib/crypto/secretBox.ts';
import { toLambdaWithTwin } from '../../../../lib/http/lambda.ts';
import { defineTwin } from '../../../../lib/http/twin.ts';
import { requireChange } from '../../../../lib/shared/schema.ts';
import { ApiKeyConfigEntity, sealAiKeys } from '../../../../lib/workspaces/configs/apiKeyConfig.ts';
import { configEndpoints } from '../../../../lib/workspaces/configs/configEndpoints.ts';
import {
  AiModelsResponse,
  ApiKeyConfigChange,
  changeApiKeyConfig,
  EditorVersions,
  settingTexts,
  toAiKeysResponse,
} from '../../../../lib/workspaces/rules/apiKeyConfig.ts';
import { Warnings, warningsOf } from '../../../../lib/workspaces/rules/storedOnly.ts';

const { update } = configEndpoints(ApiKeyConfigEntity);

export const endpoint = defineEndpoint(
  {
    ...update,
    path: '/v2/workspace/apikeyconfig/update',
    summary: 'Change the settings of the API key',
    description:
      'Sent settings replace the stored ones, and others stay. The answer has the settings that were sent, with masked AI keys. `warnings` names the sent settings that are stored for clients and have no effect yet.',
    input: ApiKeyConfigChange.check(
      requireChange(Object.keys(ApiKeyConfigChange.shape), 'At least one field must be provided for update'),
    ),
    output: z.object({
      data: z.object({
        enablePrivateComments: z.boolean().optional().describe(settingTexts.enablePrivateComments),
        requireJwtToken: z.boolean().optional().describe(settingTexts.requireJwtToken),
        requireAutoOrgUser: z.boolean().optional().describe(settingTexts.requireAutoOrgUser),
        defaultDocumentAccessType: z.enum(accessTypes).optional().describe(settingTexts.defaultDocumentAccessType),
        editorVersions: EditorVersions.nullable().optional().describe(settingTexts.editorVersions),
        aiModelsConfig: AiModelsResponse.optional(),
      }),
      warnings: Warnings,
    }),
    message: 'API key configuration updated successfully.',
    uses: { ...update.uses, box: secretBox },
    impact: 'customers cannot change the settings of their API keys',
    example: {
      data: {
        defaultDocumentAccessType: 'restricted',
        editorVersions: { everyMinutes: 30, keepDays: 90, keepNamed: true },
        aiModelApiKey: [{ provider: 'anthropic', customerApiKey: 'a-key-of-the-customer-x7Qa' }],
      },
      result: {
        data: {
          defaultDocumentAccessType: 'restricted',
          editorVersions: { everyMinutes: 30, keepDays: 90, keepNamed: true },
          aiModelsConfig: { anthropic: { displayText: '****x7Qa' } },
        },
        warnings: [{ field: 'aiModelApiKey.customerApiKey', reason: 'The service calls only models of its operator.' }],
      },
    },
  },
  async ({ input, caller: { tenant }, deps }) => {
    const sealed = await sealAiKeys(deps.box, tenant, input.aiModelApiKey);
    const { aiKeys } = await deps.config.update(tenant, input, (stored) => changeApiKeyConfig(stored, input, sealed));
    const { aiModelApiKey, ...written } = input;
    const aiModelsConfig = aiModelApiKey && toAiKeysResponse(aiKeys, Object.keys(sealed));
    return { data: { ...written, aiModelsConfig }, ...warningsOf(input) };
  },
);

export const twin = defineTwin(endpoint, { path: '/v2/workspace/apikeymetadata/update' });

export const handler = toLambdaWithTwin(endpoint, twin);
