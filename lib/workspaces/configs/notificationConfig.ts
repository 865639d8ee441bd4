import { NotificationConfig } from '../rules/notificationConfig.ts';
import { changesConfig, defineConfig, readsConfig } from './configStore.ts';

export const NotificationConfigEntity = defineConfig(
  'NotificationConfig',
  'Which events make in-app notifications, and when they are shown',
  NotificationConfig,
);

export const readNotificationConfig = /* @__PURE__ */ readsConfig(NotificationConfigEntity);
export const writeNotificationConfig = /* @__PURE__ */ changesConfig(NotificationConfigEntity);
