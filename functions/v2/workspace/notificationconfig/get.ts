import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { configEndpoints } from '../../../../lib/workspaces/configs/configEndpoints.ts';
import { NotificationConfigEntity } from '../../../../lib/workspaces/configs/notificationConfig.ts';

export const endpoint = defineEndpoint(
  {
    ...configEndpoints(NotificationConfigEntity).get,
    path: '/v2/workspace/notificationconfig/get',
    summary: 'Get the configuration of in-app notifications',
    description:
      'Settings that were never sent are absent. To change them, call `/v2/workspace/notificationconfig/update`. Each user has levels of their own: `/v2/notifications/config/get`.',
    message: 'Notification configuration retrieved successfully.',
    impact: 'customers cannot see which events create notifications',
  },
  async ({ caller, deps }) => ({ data: await deps.config.getOrInitial(caller.tenant) }),
);

export const handler = toLambda(endpoint);
