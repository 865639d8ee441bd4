import type { Capability } from './capability.ts';

/** Where this service is reached from outside, without a slash at the end: what links that it sends begin with. */
export const publicUrl: Capability<string> = {
  grants: [],
  env: ['PUBLIC_URL'],
  open: (env) => env.PUBLIC_URL,
};
