import { initialNotificationConfig, NotificationConfig } from '../rules/notificationConfig.ts';
import { defineConfig } from './configStore.ts';

export const NotificationConfigEntity = defineConfig(
  'NotificationConfig',
  'The settings of in-app notifications: triggers and delays',
  { schema: NotificationConfig, initial: initialNotificationConfig },
);
