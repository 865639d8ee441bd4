import type { Capability } from './capability.ts';

/** The public address of the service, without a final slash: the beginning of the links that it sends. */
export const publicUrl: Capability<string> = {
  grants: [],
  env: ['PUBLIC_URL'],
  open: (env) => env.PUBLIC_URL,
};
