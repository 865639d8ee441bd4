import { initialNotificationConfig, NotificationConfig } from '../rules/notificationConfig.ts';
import { configStore, defineConfig } from './configStore.ts';

export const NotificationConfigEntity = defineConfig(
  'NotificationConfig',
  'The settings of in-app notifications: triggers and delays',
  { schema: NotificationConfig, initial: initialNotificationConfig },
);

export const readNotificationConfig = /* @__PURE__ */ configStore(NotificationConfigEntity, ['GetItem']);
