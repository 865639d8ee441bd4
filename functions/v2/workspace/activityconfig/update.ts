import * as z from 'zod';
import { writeActivityConfig } from '../../../../lib/workspaces/configs/activityConfig.ts';
import {
  ActivityConfig,
  ActivityConfigChange,
  changeActivityConfig,
  toActivityConfigResponse,
} from '../../../../lib/workspaces/rules/activityConfig.ts';
import { requireChange } from '../../../../lib/workspaces/rules/mergeConfig.ts';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/workspace/activityconfig/update',
    summary: 'Change the configuration of activity logs; the first enabling seeds the triggers',
    auth: 'apiKey',
    kind: 'write',
    input: z.object({ activityServiceConfig: ActivityConfigChange }),
    output: z.object({ data: z.object({ activityServiceConfig: ActivityConfig }) }),
    message: 'Activity logs configuration updated successfully.',
    errors: ['ABORTED'],
    uses: { configs: writeActivityConfig },
    impact: 'customers cannot change whether and which activities are logged',
    example: {
      data: { activityServiceConfig: { immutable: true, triggers: { comment: { added: true, deleted: true } } } },
      result: {
        data: {
          activityServiceConfig: {
            isEnabled: false,
            immutable: true,
            triggers: { comment: { added: true, deleted: true } },
          },
        },
      },
    },
  },
  async ({ input: { activityServiceConfig: sent }, caller, deps, now }) => {
    requireChange(sent, Object.keys(ActivityConfigChange.shape), 'At least one field must be provided for update', [
      'activityServiceConfig',
    ]);
    const config = await deps.configs.update(caller.tenant, (stored) => changeActivityConfig(stored, sent, now));
    return { data: { activityServiceConfig: toActivityConfigResponse(config) } };
  },
);

export const handler = toLambda(endpoint);
