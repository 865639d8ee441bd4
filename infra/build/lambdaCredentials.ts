/**
 * The AWS SDK's default credentials, as the bundles get them (see build.ts): those that Lambda puts into the environment,
 * which the SDK's own chain asks first as well. The rest of that chain (profiles, SSO, instance metadata, web identity,
 * each with a client of its own) can never be reached in a function, yet makes up a quarter of a bundle and a third of
 * its load time.
 */
export function defaultProvider(): () => Promise<{
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}> {
  return async () => {
    const {
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      AWS_SESSION_TOKEN: sessionToken,
    } = process.env;
    if (!accessKeyId || !secretAccessKey) throw new Error('AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set');
    return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
  };
}
