import type { Capability } from './capability.ts';

/** The operator chooses the name. Headers and some fields contain it. */
export const serviceName: Capability<string> = {
  grants: [],
  env: ['SERVICE_NAME'],
  open: (env) => env.SERVICE_NAME,
};
