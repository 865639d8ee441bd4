import { ActivityConfig } from '../rules/activityConfig.ts';
import { changesConfig, defineConfig, readsConfig } from './configStore.ts';

export const ActivityConfigEntity = defineConfig(
  'ActivityConfig',
  'Whether and which activity logs are kept',
  ActivityConfig,
);

export const readActivityConfig = /* @__PURE__ */ readsConfig(ActivityConfigEntity);
export const writeActivityConfig = /* @__PURE__ */ changesConfig(ActivityConfigEntity);
