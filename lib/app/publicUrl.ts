import type { Capability } from './capability.ts';

/** The public URL has no final slash. */
export const publicUrl: Capability<string> = {
  grants: [],
  env: ['PUBLIC_URL'],
  open: (env) => env.PUBLIC_URL,
};
