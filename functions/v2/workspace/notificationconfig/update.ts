import { defineEndpoint } from '../../../../lib/app/endpoint.ts';
import { toLambda } from '../../../../lib/http/lambda.ts';
import { requireChange } from '../../../../lib/shared/schema.ts';
import { configEndpoints } from '../../../../lib/workspaces/configs/configEndpoints.ts';
import { NotificationConfigEntity } from '../../../../lib/workspaces/configs/notificationConfig.ts';
import {
  changeNotificationConfig,
  NotificationConfigChange,
} from '../../../../lib/workspaces/rules/notificationConfig.ts';

export const endpoint = defineEndpoint(
  {
    ...configEndpoints(NotificationConfigEntity).update,
    path: '/v2/workspace/notificationconfig/update',
    summary:
      'Change the configuration of in-app notifications. Enabling them for the first time sets the default triggers',
    description:
      'Sent fields replace the stored ones at every depth, and others stay. While the service is enabled, events whose trigger is on create entries in the inboxes of the users concerned: `/v2/notifications/get`. `delayConfig` and `batchConfig` say when mails and direct messages about events leave. Users choose their own levels with `/v2/notifications/config/set`.',
    input: NotificationConfigChange.check(
      requireChange(
        Object.keys(NotificationConfigChange.shape),
        'At least one of useNotificationService or notificationServiceConfig must be provided.',
      ),
    ),
    message: 'Notification configuration updated successfully.',
    impact: 'customers cannot change which events create notifications',
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
    return { data: await deps.config.update(caller.tenant, input, changeNotificationConfig) };
  },
);

export const handler = toLambda(endpoint);
