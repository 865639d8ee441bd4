import type { Capability } from '../capability.ts';
import { ActivityConfig } from '../domain/activityConfig.ts';
import { ConfigStore, defineConfig } from './configs.ts';
import { openTable } from './table.ts';

export const ActivityConfigEntity = defineConfig('ActivityConfig', 'Whether and which activity logs are kept', ActivityConfig);

export const readActivityConfig: Capability<Pick<ConfigStore<ActivityConfig>, 'get'>> = {
  grants: [{ resource: 'table', actions: ['GetItem'] }],
  env: ['TABLE_NAME'],
  open: (env) => new ConfigStore(openTable(env), ActivityConfigEntity),
};

export const writeActivityConfig: Capability<Pick<ConfigStore<ActivityConfig>, 'update'>> = {
  grants: [{ resource: 'table', actions: ['GetItem', 'PutItem'] }],
  env: ['TABLE_NAME'],
  open: (env) => new ConfigStore(openTable(env), ActivityConfigEntity),
};
