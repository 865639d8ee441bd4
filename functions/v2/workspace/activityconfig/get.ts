import * as z from 'zod';
import { readActivityConfig } from '../../../../lib/workspaces/configs/activityConfig.ts';
import { ActivityConfig, toActivityConfigResponse } from '../../../../lib/workspaces/rules/activityConfig.ts';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/workspace/activityconfig/get',
    summary: 'Get the configuration of activity logs',
    auth: 'apiKey',
    kind: 'read',
    body: 'optional',
    input: z.object({}),
    output: z.object({ data: z.object({ activityServiceConfig: ActivityConfig }) }),
    message: 'Activity logs configuration retrieved successfully.',
    errors: [],
    uses: { configs: readActivityConfig },
    impact: 'customers cannot see whether activities are logged',
    example: {
      data: {},
      result: { data: { activityServiceConfig: { isEnabled: false } } },
    },
  },
  async ({ caller, deps }) => ({
    data: { activityServiceConfig: toActivityConfigResponse(await deps.configs.get(caller.tenant)) },
  }),
);

export const handler = toLambda(endpoint);
