import * as z from 'zod';
import { readNotificationConfig } from '../../../../lib/workspaces/configs/notificationConfig.ts';
import {
  initialNotificationConfig,
  NotificationConfig,
  toNotificationConfigResponse,
} from '../../../../lib/workspaces/rules/notificationConfig.ts';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/workspace/notificationconfig/get',
    summary: 'Get the configuration of in-app notifications',
    auth: 'apiKey',
    kind: 'read',
    body: 'optional',
    input: z.object({}),
    output: z.object({ data: NotificationConfig }),
    message: 'Notification configuration retrieved successfully.',
    errors: [],
    uses: { configs: readNotificationConfig },
    impact: 'customers cannot see which events make notifications',
    example: {
      data: {},
      result: { data: initialNotificationConfig },
    },
  },
  async ({ caller, deps }) => ({ data: toNotificationConfigResponse(await deps.configs.get(caller.tenant)) }),
);

export const handler = toLambda(endpoint);
