import * as z from 'zod';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { requireChange } from '../../../../lib/shared/schema.ts';
import { ActivityConfigEntity } from '../../../../lib/workspaces/configs/activityConfig.ts';
import { configEndpoints } from '../../../../lib/workspaces/configs/configEndpoints.ts';
import {
  ActivityConfig,
  ActivityConfigChange,
  changeActivityConfig,
} from '../../../../lib/workspaces/rules/activityConfig.ts';

export const endpoint = defineEndpoint(
  {
    ...configEndpoints(ActivityConfigEntity).update,
    path: '/v2/workspace/activityconfig/update',
    summary: 'Change the configuration of activity logs. Enabling them for the first time sets the default triggers',
    description:
      'Sent fields replace the stored ones at every depth, and others stay. While activity logs are enabled, calls about comments with `triggerActivities: true` write activities of the kinds whose trigger is on: `/v2/activities/get`.',
    input: z.object({
      activityServiceConfig: ActivityConfigChange.check(
        requireChange(Object.keys(ActivityConfigChange.shape), 'At least one field must be provided for update'),
      ),
    }),
    output: z.object({ data: z.object({ activityServiceConfig: ActivityConfig }) }),
    message: 'Activity logs configuration updated successfully.',
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
    const config = await deps.config.update(caller.tenant, sent, (stored) => changeActivityConfig(stored, sent, now));
    return { data: { activityServiceConfig: config } };
  },
);

export const handler = toLambda(endpoint);
