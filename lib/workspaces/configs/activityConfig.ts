import { ActivityConfig, initialActivityConfig } from '../rules/activityConfig.ts';
import { configStore, defineConfig } from './configStore.ts';

export const ActivityConfigEntity = defineConfig('ActivityConfig', 'The settings of activity logs', {
  schema: ActivityConfig,
  initial: initialActivityConfig,
});

export const readActivityConfig = /* @__PURE__ */ configStore(ActivityConfigEntity, ['GetItem']);
