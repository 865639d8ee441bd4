import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { ActivityConfigEntity } from '../../../../lib/workspaces/configs/activityConfig.ts';
import { configEndpoints } from '../../../../lib/workspaces/configs/configEndpoints.ts';
import { ActivityConfig, initialActivityConfig } from '../../../../lib/workspaces/rules/activityConfig.ts';

export const endpoint = defineEndpoint(
  {
    ...configEndpoints(ActivityConfigEntity).get,
    path: '/v2/workspace/activityconfig/get',
    summary: 'Get the configuration of activity logs',
    description:
      'Settings that were never sent are absent. To change them, call `/v2/workspace/activityconfig/update`.',
    output: z.object({ data: z.object({ activityServiceConfig: ActivityConfig }) }),
    message: 'Activity logs configuration retrieved successfully.',
    impact: 'customers cannot see whether activities are logged',
    example: { data: {}, result: { data: { activityServiceConfig: initialActivityConfig } } },
  },
  async ({ caller, deps }) => ({
    data: { activityServiceConfig: await deps.config.getOrInitial(caller.tenant) },
  }),
);

export const handler = toLambda(endpoint);
