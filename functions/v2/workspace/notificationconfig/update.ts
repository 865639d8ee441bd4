import * as z from 'zod';
import { writeNotificationConfig } from '../../../../lib/workspaces/configs/notificationConfig.ts';
import { requireChange } from '../../../../lib/workspaces/rules/mergeConfig.ts';
import {
  changeNotificationConfig,
  NotificationConfig,
  NotificationConfigChange,
  toNotificationConfigResponse,
} from '../../../../lib/workspaces/rules/notificationConfig.ts';
import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';

export const endpoint = defineEndpoint(
  {
    path: '/v2/workspace/notificationconfig/update',
    summary: 'Change the configuration of in-app notifications; the first enabling seeds the triggers',
    auth: 'apiKey',
    kind: 'write',
    input: NotificationConfigChange,
    output: z.object({ data: NotificationConfig }),
    message: 'Notification configuration updated successfully.',
    errors: ['ABORTED'],
    uses: { configs: writeNotificationConfig },
    impact: 'customers cannot change which events make notifications, and when',
    example: {
      data: {
        notificationServiceConfig: {
          triggers: { huddle: { join: false } },
          delayConfig: { isEnabled: true, delaySeconds: 60 },
        },
      },
      result: {
        data: {
          useNotificationService: false,
          notificationServiceConfig: {
            triggers: { huddle: { join: false } },
            delayConfig: { isEnabled: true, delaySeconds: 60 },
          },
        },
      },
    },
  },
  async ({ input, caller, deps }) => {
    requireChange(
      input,
      Object.keys(NotificationConfigChange.shape),
      'At least one of useNotificationService or notificationServiceConfig must be provided.',
    );
    const config = await deps.configs.update(caller.tenant, (stored) => changeNotificationConfig(stored, input));
    return { data: toNotificationConfigResponse(config) };
  },
);

export const handler = toLambda(endpoint);
