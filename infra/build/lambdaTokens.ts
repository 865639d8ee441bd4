/**
 * Replaces the AWS SDK's bearer token provider in the bundles (see build.ts). The SDK's provider contains clients for profiles
 * and single sign-on. A function has neither, because its calls are signed with the credentials of its role.
 */
export function fromEnvSigningName(): () => Promise<never> {
  return nodeProvider();
}

export function nodeProvider(): () => Promise<never> {
  return () => Promise.reject(new Error('A function has no bearer tokens'));
}
