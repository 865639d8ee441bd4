/**
 * The AWS SDK's bearer tokens, as the bundles get them (see build.ts): none. Its own look into profiles and single sign-on, with clients
 * for both, which a function can never reach: its calls are signed with the credentials of its role.
 */
export function fromEnvSigningName(): () => Promise<never> {
  return nodeProvider();
}

export function nodeProvider(): () => Promise<never> {
  return async () => {
    throw new Error('There are no bearer tokens here');
  };
}
