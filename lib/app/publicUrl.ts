import type { Capability } from './capability.ts';

/** Without a final slash. Links in mails begin with it. */
export const publicUrl: Capability<string> = {
  grants: [],
  env: ['PUBLIC_URL'],
  open: (env) => env.PUBLIC_URL,
};
