import { expect, test } from '@jest/globals';
import * as registry from '../../../functions/index.ts';
import { mergeGrants } from '../../../lib/app/capability.ts';
import type { Endpoint } from '../../../lib/app/endpoint.ts';
import { capabilitiesOf } from '../../../lib/http/capabilities.ts';

const endpoints = (Object.values(registry) as Endpoint[]).filter(
  ({ auth, path }) => auth === 'workspace' || path === '/v2/workspace/create',
);

/** Returns the actions that the function of an endpoint may make on a resource. */
function granted(endpoint: Endpoint, resource: string): string[] {
  return (
    mergeGrants(capabilitiesOf(endpoint).flatMap(({ grants }) => grants)).find((grant) => grant.resource === resource)
      ?.actions ?? []
  );
}
const pathsWith = (resource: string) =>
  endpoints.filter((endpoint) => granted(endpoint, resource).length > 0).map(({ path }) => path);

test('only functions that issue tokens may read the signing key', () => {
  expect(pathsWith('secret/signingKey')).toEqual([
    '/v2/workspace/apikey/create',
    '/v2/workspace/authtoken/reset',
    '/v2/workspace/create',
  ]);
});

test('only functions that encrypt or decrypt tokens may read the master key', () => {
  expect(pathsWith('secret/masterKey')).toEqual(
    [...pathsWith('secret/signingKey'), '/v2/workspace/authtokens/get'].sort(),
  );
});

test('functions that only read may not write, and only authtoken/reset may delete items', () => {
  const writing = ['PutItem', 'UpdateItem', 'DeleteItem'];
  for (const endpoint of endpoints.filter(({ kind }) => kind === 'read'))
    expect(granted(endpoint, 'table').filter((action) => writing.includes(action))).toEqual([]);
  expect(
    endpoints.filter((endpoint) => granted(endpoint, 'table').includes('DeleteItem')).map(({ path }) => path),
  ).toEqual(['/v2/workspace/authtoken/reset']);
});

test('functions that return or replace credentials check credentials against the table, not memory', () => {
  const fresh = endpoints.filter(({ freshCredentials }) => freshCredentials).map(({ path }) => path);
  expect(fresh.sort()).toEqual([
    '/v2/workspace/apikey/create',
    '/v2/workspace/authtoken/reset',
    '/v2/workspace/authtokens/get',
  ]);
});
