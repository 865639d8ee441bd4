import type { Capability } from './capability.ts';

/** The operator chooses it. Names of headers and of some fields contain it. */
export const serviceName: Capability<string> = {
  grants: [],
  env: ['SERVICE_NAME'],
  open: (env) => env.SERVICE_NAME,
};
