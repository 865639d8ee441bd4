import type { Capability } from './capability.ts';

/** The name of the service, a setting: headers and some fields begin with it. */
export const serviceName: Capability<string> = {
  grants: [],
  env: ['SERVICE_NAME'],
  open: (env) => env.SERVICE_NAME,
};
