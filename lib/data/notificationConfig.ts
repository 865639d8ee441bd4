import type { Capability } from '../capability.ts';
import { NotificationConfig } from '../domain/notificationConfig.ts';
import { ConfigStore, defineConfig } from './configs.ts';
import { openTable } from './table.ts';

export const NotificationConfigEntity = defineConfig('NotificationConfig', 'Which events make in-app notifications, and when they are shown', NotificationConfig);

export const readNotificationConfig: Capability<Pick<ConfigStore<NotificationConfig>, 'get'>> = {
  grants: [{ resource: 'table', actions: ['GetItem'] }],
  env: ['TABLE_NAME'],
  open: (env) => new ConfigStore(openTable(env), NotificationConfigEntity),
};

export const writeNotificationConfig: Capability<Pick<ConfigStore<NotificationConfig>, 'update'>> = {
  grants: [{ resource: 'table', actions: ['GetItem', 'PutItem'] }],
  env: ['TABLE_NAME'],
  open: (env) => new ConfigStore(openTable(env), NotificationConfigEntity),
};
