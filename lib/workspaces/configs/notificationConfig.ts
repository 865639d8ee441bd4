import { initialNotificationConfig, NotificationConfig } from '../rules/notificationConfig.ts';
import { configStore, defineConfig } from './configStore.ts';

export const NotificationConfigEntity = defineConfig(
  'NotificationConfig',
  'Which events make in-app notifications, and when they are shown',
  { schema: NotificationConfig, initial: initialNotificationConfig },
);

export const readNotificationConfig = /* @__PURE__ */ configStore(NotificationConfigEntity, ['GetItem']);
