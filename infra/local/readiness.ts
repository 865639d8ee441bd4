import type { DemoCredentials } from './demoWorkspace.ts';
import { StartError } from './startError.ts';

const DEMO_ORGANIZATION = 'demo-organization';

/**
 * Writes an organization and reads it back. Throws a `StartError` if an answer is an error or lacks the organization.
 */
export async function checkReadiness(credentials: DemoCredentials): Promise<void> {
  await call(credentials, '/v2/organizations/add', {
    organizations: [{ organizationId: DEMO_ORGANIZATION, organizationName: 'Demo organization' }],
  });
  const { result } = await call(credentials, '/v2/organizations/get', { organizationIds: [DEMO_ORGANIZATION] });
  if (!result?.data?.some(({ id }) => id === DEMO_ORGANIZATION))
    throw new StartError(`The readiness check wrote ${DEMO_ORGANIZATION} and did not read it back.`);
}

export function firstRequest({ baseUrl, headerPrefix, apiKey, authToken }: DemoCredentials): string {
  return [
    `curl ${baseUrl}/v2/organizations/get`,
    "-H 'content-type: application/json'",
    `-H '${headerPrefix}api-key: ${apiKey}'`,
    `-H '${headerPrefix}auth-token: ${authToken}'`,
    `-d '${JSON.stringify({ data: { organizationIds: [DEMO_ORGANIZATION] } })}'`,
  ].join(' \\\n    ');
}

async function call(
  { baseUrl, headerPrefix, apiKey, authToken }: DemoCredentials,
  path: string,
  data: object,
): Promise<{ result?: { data?: { id: string }[] } }> {
  const response = await fetch(baseUrl + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      [`${headerPrefix}api-key`]: apiKey,
      [`${headerPrefix}auth-token`]: authToken,
    },
    body: JSON.stringify({ data }),
  });
  const text = await response.text();
  if (!response.ok)
    throw new StartError(
      `The readiness check failed: ${path} answered ${response.status} ${text}\nSee functions.log in the data directory. If the auth token of the demo workspace was reset, write the new one into credentials.json there.`,
    );
  return JSON.parse(text) as { result?: { data?: { id: string }[] } };
}
