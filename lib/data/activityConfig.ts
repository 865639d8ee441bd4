import { ActivityConfig } from '../domain/activityConfig.ts';
import { changesConfig, defineConfig, readsConfig } from './configs.ts';

export const ActivityConfigEntity = defineConfig('ActivityConfig', 'Whether and which activity logs are kept', ActivityConfig);

export const readActivityConfig = /* @__PURE__ */ readsConfig(ActivityConfigEntity);
export const writeActivityConfig = /* @__PURE__ */ changesConfig(ActivityConfigEntity);
