import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { accessTypes } from '../../../../lib/app/rules/access.ts';
import { toLambdaWithTwin } from '../../../../lib/http/lambda.ts';
import { defineTwin } from '../../../../lib/http/twin.ts';
import { ApiKeyConfigEntity, workspaceOwner } from '../../../../lib/workspaces/configs/apiKeyConfig.ts';
import { configEndpoints } from '../../../../lib/workspaces/configs/configEndpoints.ts';
import {
  AiModelsResponse,
  EditorVersions,
  planInfo,
  settingTexts,
  toAiKeysResponse,
} from '../../../../lib/workspaces/rules/apiKeyConfig.ts';

const { get } = configEndpoints(ApiKeyConfigEntity);

export const endpoint = defineEndpoint(
  {
    ...get,
    path: '/v2/workspace/apikeyconfig/get',
    summary: 'Get the settings of the API key',
    description:
      'A setting that was never sent has its default. AI keys are masked. To change settings, call `/v2/workspace/apikeyconfig/update`.',
    output: z.object({
      data: z.object({
        ownerEmail: z.string().describe('The e-mail address of the owner of the workspace.'),
        planInfo: z
          .object({ type: z.literal(planInfo.type).describe('The same for all, because this service has no plans.') })
          .describe('For clients that expect a plan.'),
        defaultDocumentAccessType: z.enum(accessTypes).describe(settingTexts.defaultDocumentAccessType),
        isPrivateCommentsEnabled: z.boolean().describe(settingTexts.enablePrivateComments),
        requireJwtToken: z.boolean().describe(settingTexts.requireJwtToken),
        requireAutoOrgUser: z.boolean().describe(settingTexts.requireAutoOrgUser),
        editorVersions: EditorVersions.nullable().describe(settingTexts.editorVersions),
        aiModelsConfig: AiModelsResponse.optional(),
      }),
    }),
    message: 'API key metadata retrieved successfully.',
    uses: { ...get.uses, ownerOf: workspaceOwner },
    impact: 'customers cannot see the settings of their API keys',
    example: {
      data: {},
      result: {
        data: {
          ownerEmail: 'ada@example.com',
          planInfo,
          defaultDocumentAccessType: 'public',
          isPrivateCommentsEnabled: false,
          requireJwtToken: false,
          requireAutoOrgUser: false,
          editorVersions: { everyMinutes: 30, keepDays: 90, keepNamed: true },
          aiModelsConfig: { anthropic: { displayText: '****x7Qa' } },
        },
      },
    },
  },
  async ({ caller, deps }) => {
    const [ownerEmail, config] = await Promise.all([
      deps.ownerOf(caller.workspaceId),
      deps.config.getOrInitial(caller.tenant),
    ]);
    const { defaultDocumentAccessType, isPrivateCommentsEnabled, requireJwtToken, requireAutoOrgUser, aiKeys } = config;
    const { editorVersions = null } = config;
    const aiModelsConfig = Object.keys(aiKeys).length > 0 ? toAiKeysResponse(aiKeys) : undefined;
    return {
      data: {
        ownerEmail,
        planInfo,
        defaultDocumentAccessType,
        isPrivateCommentsEnabled,
        requireJwtToken,
        requireAutoOrgUser,
        editorVersions,
        aiModelsConfig,
      },
    };
  },
);

export const twin = defineTwin(endpoint, { path: '/v2/workspace/apikeymetadata/get' });

export const handler = toLambdaWithTwin(endpoint, twin);
